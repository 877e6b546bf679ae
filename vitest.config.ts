import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['test/bench/**', '**/node_modules/**'],
    globalSetup: ['test/support/global-setup.ts'],
    // Each file in a process of its own: Temporal's worker is native code, and a crash must not take others along.
    pool: 'forks',
    // More than there are processors: most tests wait for servers most of the time.
    maxWorkers: 3,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    teardownTimeout: 30_000,
  },
});
