import { defineConfig } from 'vitest/config';
import { compileCache } from './test/support/caches.ts';
import { leftOut } from './test/support/vitest/left-out.ts';
import { LongestFirst } from './test/support/vitest/longest-first.ts';

/**
 * Files share processes, and so the modules that each would otherwise load anew, which took a third of the suite's time.
 * They must register no hooks at import, nor leave anything behind in the process. What measures memory has a process for
 * each file.
 */
const all = ['test/**/*.test.ts'];
const measured = ['test/**/*memory.test.ts'];
const never = ['test/bench/**', '**/node_modules/**', ...leftOut()];

// The processes of the tests get it with the environment.
process.env.NODE_COMPILE_CACHE ??= compileCache;

export default defineConfig({
  test: {
    globalSetup: ['test/support/global-setup.ts'],
    // Node itself loads the sources, as it does in an installation, and keeps what it has compiled of them.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    setupFiles: ['test/support/vitest/each-file.ts'],
    pool: 'forks',
    sequence: { sequencer: LongestFirst },
    // More than there are processors: most tests wait for servers most of the time.
    maxWorkers: 5,
    // Limits only find tests that hang. Several times what the slowest needs: the machine may be busy.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    teardownTimeout: 60_000,
    expect: { poll: { timeout: 60_000 } },
    projects: [
      {
        extends: true,
        test: { name: 'together', isolate: false, include: all, exclude: [...measured, ...never] },
      },
      { extends: true, test: { name: 'apart', include: measured, exclude: never } },
    ],
  },
});
