import { defineConfig } from 'vitest/config';
import { compileCache } from './test/support/caches.ts';

/**
 * These share processes, and so the modules that each would otherwise load anew, which takes a third of the suite's time.
 * Everything else has a process for each file: native code that crashes must not take others along, and what measures
 * the memory of its process wants it to itself. What these import must register no hooks: it is loaded once for many.
 */
const folders = [
  ...['activities', 'api', 'auth', 'cli', 'client', 'conformance', 'docs', 'domain', 'helm', 'http', 'privacy', 'python'],
  ...['runner-host', 'scale', 'sdk', 'separate-auth', 'settings', 'store', 'telemetry', 'web', 'workflows'],
];
const together = folders.map((folder) => `test/${folder}/**/*.test.ts`);
const measured = ['test/**/*memory.test.ts'];
const never = ['test/bench/**', '**/node_modules/**'];

// The processes of the tests get it with the environment.
process.env.NODE_COMPILE_CACHE ??= compileCache;

export default defineConfig({
  test: {
    globalSetup: ['test/support/global-setup.ts'],
    // Node itself loads the sources, as it does in an installation, and keeps what it has compiled of them.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    setupFiles: ['test/support/keep-compiled.ts'],
    pool: 'forks',
    // More than there are processors: most tests wait for servers most of the time.
    maxWorkers: 3,
    // Limits only tell when a test hangs. Several times what the slowest needs: the machine may be busy.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    teardownTimeout: 60_000,
    expect: { poll: { timeout: 60_000 } },
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
