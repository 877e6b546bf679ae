import { mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { isSameProcess, withFileLock } from './file-lock.mjs';
import { checkout, isProgram, onPath, programName, toolsCache } from './places.mjs';
import { PlainError, say, withProgress } from './progress.mjs';
import { run } from './run.mjs';

const PACKAGES = {
  temporal: 'github.com/temporalio/cli/cmd/temporal',
  versitygw: 'github.com/versity/versitygw/cmd/versitygw',
};

/** The same as in local/tools/go.mod. */
const TEMPORAL_VERSION = 'v1.5.1';

/**
 * The path of `temporal` or `versitygw`: on PATH, in the cache, else built by Go into the cache,
 * else (Temporal only, on a machine without Go) downloaded by the TypeScript SDK.
 */
export async function serverProgram(name) {
  const found = onPath(name) ?? cached(name);
  if (found !== undefined) return found;
  if (onPath('go') !== undefined) return build(name);
  if (name === 'temporal') return downloadTemporal();
  throw new PlainError(
    `The object store (${name}) is neither on PATH nor in the cache, and there is no Go to build it with. ` +
      'Install Go 1.26 or newer, set S3_ENDPOINT to your own object store, or use docker compose.',
  );
}

function cached(name) {
  const file = join(toolsCache(), programName(name));
  return isProgram(file) ? file : undefined;
}

async function build(name) {
  const folder = toolsCache();
  const target = join(folder, programName(name));
  mkdirSync(folder, { recursive: true });
  return withFileLock(
    join(folder, 'build.lock'),
    async () => {
      if (isProgram(target)) return target;
      removeAbandoned(folder);
      const temporary = join(folder, `${programName(name)}.${process.pid}.partial`);
      try {
        await withProgress(`Building ${name} (once for this machine, about two minutes)`, () =>
          run('go', ['build', '-trimpath', '-ldflags=-s -w', '-o', temporary, PACKAGES[name]], {
            cwd: join(checkout, 'local/tools'),
            // Neither server needs C; without it no compiler has to be there. A vendored or read-only
            // module setting of the person's own environment must not change what is built.
            env: { ...process.env, CGO_ENABLED: '0', GOFLAGS: '-buildvcs=false', GOWORK: 'off' },
          }),
        );
        renameSync(temporary, target);
      } finally {
        rmSync(temporary, { force: true });
      }
      return target;
    },
    (pid) => say(`Another start (process ${pid}) is building ${name}; waiting for it ...`),
  );
}

/** Half-built files of builds that were killed. */
function removeAbandoned(folder) {
  for (const file of readdirSync(folder)) {
    const pid = /\.(\d+)\.partial$/.exec(file)?.[1];
    if (pid !== undefined && !isSameProcess({ pid: Number(pid) }))
      rmSync(join(folder, file), { force: true });
  }
}

/** The SDK downloads the CLI when it starts its own dev server; we take the file and start it ourselves. */
async function downloadTemporal() {
  const require = createRequire(join(checkout, 'package.json'));
  const { TestWorkflowEnvironment } = require('@temporalio/testing');
  const folder = toolsCache();
  mkdirSync(folder, { recursive: true });
  return withFileLock(join(folder, 'build.lock'), async () => {
    const before = cached('temporal');
    if (before !== undefined) return before;
    const downloads = join(folder, 'download');
    mkdirSync(downloads, { recursive: true });
    await withProgress('Downloading the Temporal server (there is no Go here to build it)', async () => {
      const executable = { type: 'cached-download', version: TEMPORAL_VERSION, downloadDir: downloads };
      const environment = await TestWorkflowEnvironment.createLocal({ server: { executable } }).catch(
        (error) => {
          throw new PlainError(
            `The Temporal server is neither on PATH nor in the cache, and its download failed (${error.message}). ` +
              'Install Go 1.26 or newer to build it, set TEMPORAL_ADDRESS to your own server, or use docker compose.',
          );
        },
      );
      await environment.teardown();
    });
    const file = readdirSync(downloads)
      .map((name) => join(downloads, name))
      .find(isProgram);
    if (file === undefined) throw new PlainError('The download of the Temporal server has no program.');
    renameSync(file, join(folder, programName('temporal')));
    return join(folder, programName('temporal'));
  });
}
