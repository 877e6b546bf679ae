import { defineConfig } from 'vitest/config';

/** Apart from the suite: what these run is built for minutes on a machine that has it not yet. */
export default defineConfig({
  test: {
    include: ['test/containers/*.check.ts'],
    pool: 'forks',
    testTimeout: 300_000,
    hookTimeout: 120_000,
    teardownTimeout: 60_000,
  },
});
