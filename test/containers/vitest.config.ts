import { defineConfig } from 'vitest/config';

/** Apart from the suite, because the first run builds programs for minutes. */
export default defineConfig({
  test: {
    include: ['test/containers/*.check.ts'],
    pool: 'forks',
    testTimeout: 300_000,
    hookTimeout: 120_000,
    teardownTimeout: 60_000,
  },
});
