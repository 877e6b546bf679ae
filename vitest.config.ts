import { defineConfig } from 'vitest/config';

/**
 * These share processes, and so the modules that each would otherwise load anew, which takes a third of the suite's time.
 * Everything else has a process for each file: native code that crashes must not take others along, and what measures
 * the memory of its process wants it to itself. What these import must register no hooks: it is loaded once for many.
 */
const together = ['api', 'auth', 'client', 'conformance', 'domain', 'http', 'store', 'web'].map(
  (folder) => `test/${folder}/**/*.test.ts`,
);
const measured = ['test/**/*memory.test.ts'];
const never = ['test/bench/**', '**/node_modules/**'];

export default defineConfig({
  test: {
    globalSetup: ['test/support/global-setup.ts'],
    pool: 'forks',
    // More than there are processors: most tests wait for servers most of the time.
    maxWorkers: 3,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    teardownTimeout: 30_000,
    projects: [
      {
        extends: true,
        test: { name: 'together', isolate: false, include: together, exclude: [...measured, ...never] },
      },
      {
        extends: true,
        test: {
          name: 'apart',
          include: ['test/**/*.test.ts'],
          exclude: [...together.map((files) => files.replace('*.test', '!(*memory).test')), ...never],
        },
      },
    ],
  },
});
