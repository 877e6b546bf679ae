import { mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { withFileLock } from './file-lock.mjs';
import { checkout, isProgram, onPath, programName, toolsCache } from './places.mjs';
import { PlainError, say, withProgress } from './progress.mjs';
import { run } from './run.mjs';
import { modulesWithDrivers, removeUnusedDrivers } from './unused-drivers.mjs';

const PACKAGES = {
  temporal: 'github.com/temporalio/cli/cmd/temporal',
  versitygw: 'github.com/versity/versitygw/cmd/versitygw',
};

/**
 * Linked into the servers, but never run here: clients of other databases, stores and queues that cannot be left out as
 * those of unused-drivers.mjs are. They are compiled without optimizations, which is a third quicker.
 */
const NEVER_RUN = [
  'github.com/apache/thrift',
  'github.com/aws/aws-sdk-go',
  'github.com/aws/aws-sdk-go-v2',
  'github.com/gocql/gocql',
  'github.com/nats-io/nats.go',
  'github.com/olivere/elastic',
  'github.com/segmentio/kafka-go',
  'github.com/temporalio/sqlparser',
];

const BUILD_FLAGS = [
  '-trimpath',
  '-ldflags=-s -w',
  // What is stripped from the programs is not made in the first place.
  '-gcflags=all=-dwarf=false',
  ...NEVER_RUN.map((path) => `-gcflags=${path}/...=-dwarf=false -N -l`),
];

/** The same as in local/tools/go.mod. */
const TEMPORAL_VERSION = 'v1.5.1';

/**
 * The paths of `temporal` and `versitygw`, of those that are named: on PATH, in the cache, else built by Go into the cache,
 * else (Temporal only, on a machine without Go) downloaded by the TypeScript SDK, whose packages are then installed.
 */
export async function serverPrograms(names) {
  await buildServers(names);
  const programs = {};
  for (const name of names) programs[name] = found(name) ?? (await withoutGo(name));
  return programs;
}

function found(name) {
  return onPath(name) ?? cached(name);
}

function cached(name) {
  const file = join(toolsCache(), programName(name));
  return isProgram(file) ? file : undefined;
}

function withoutGo(name) {
  if (name === 'temporal') return downloadTemporal();
  throw new PlainError(
    `The object store (${name}) is neither on PATH nor in the cache, and there is no Go to build it with. ` +
      'Install Go 1.26 or newer, set S3_ENDPOINT to your own object store, or use docker compose.',
  );
}

/**
 * Builds those that are nowhere, where there is Go: by one command, which compiles one while it links the other. Nothing of
 * the checkout's packages is needed for it.
 */
export async function buildServers(names) {
  const isAbsent = (name) => found(name) === undefined;
  if (!names.some(isAbsent) || onPath('go') === undefined) return;
  const folder = toolsCache();
  await withFileLock(
    join(folder, 'build.lock'),
    async () => {
      const absent = names.filter(isAbsent);
      if (absent.length === 0) return;
      const what = `Building ${absent.join(' and ')} (once for this machine, about two minutes)`;
      await withProgress(what, () => build(folder, absent));
    },
    (pid) => say(`Another start (process ${pid}) is building the servers; waiting for it ...`),
  );
}

async function build(folder, names) {
  // A build that was killed continues with what it has compiled; what has been built needs none of it.
  const work = join(folder, 'build');
  const programs = join(work, 'programs');
  mkdirSync(programs, { recursive: true });
  await leaveOutDrivers(work);
  const packages = names.map((name) => PACKAGES[name]);
  await go(work, ['build', ...BUILD_FLAGS, '-o', `${programs}/`, ...packages]);
  for (const name of names) renameSync(join(programs, programName(name)), join(folder, programName(name)));
  rmSync(work, { recursive: true, force: true });
}

/** Takes what never runs here out of the sources: the modules of a build are its own copies, which are removed after it. */
async function leaveOutDrivers(work) {
  const downloaded = await go(work, ['mod', 'download', '-json', ...modulesWithDrivers]);
  // One object after the other.
  const modules = JSON.parse(`[${downloaded.trim().replaceAll('}\n{', '},{')}]`);
  const isChanged = removeUnusedDrivers((name) => modules.find(({ Path }) => Path === name).Dir);
  // A build that was killed before the change has kept what it knew of the sources.
  if (isChanged) rmSync(join(work, 'cache'), { recursive: true, force: true });
}

function go(work, args) {
  return run('go', args, {
    cwd: join(checkout, 'local/tools'),
    env: {
      ...process.env,
      // Neither server needs C; without it no compiler has to be there.
      CGO_ENABLED: '0',
      // A vendored or read-only module setting of the person's own environment must not change what is built.
      GOFLAGS: '-buildvcs=false -modcacherw',
      GOWORK: 'off',
      // The compilers live for a second each: they need not collect so much garbage.
      GOGC: '400',
      // Some gigabytes, which would stay in the person's own caches for good.
      GOCACHE: join(work, 'cache'),
      GOMODCACHE: join(work, 'modules'),
    },
  });
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
