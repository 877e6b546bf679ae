import { mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { withFileLock } from './file-lock.mjs';
import { checkout, isProgram, onPath, programName, toolsCache } from './places.mjs';
import { PlainError, say, withProgress } from './progress.mjs';
import { run } from './run.mjs';
import { downloadRelease, temporalRelease } from './temporal-release.mjs';
import { removeUnusedDrivers } from './unused-drivers.mjs';

/** What Go builds, and the module whose drivers are left out of it. */
const SOURCES = {
  temporal: { package: 'github.com/temporalio/cli/cmd/temporal', module: 'go.temporal.io/server' },
  versitygw: {
    package: 'github.com/versity/versitygw/cmd/versitygw',
    module: 'github.com/versity/versitygw',
  },
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

/** The paths of `temporal` and `versitygw`, of those that are named: on PATH, or in the cache, once it has them. */
export async function serverPrograms(names) {
  await obtainServers(names);
  return Object.fromEntries(names.map((name) => [name, found(name) ?? missing(name)]));
}

function found(name) {
  const file = join(toolsCache(), programName(name));
  return onPath(name) ?? (isProgram(file) ? file : undefined);
}

function missing(name) {
  const [what, setting] = {
    temporal: ['The Temporal server', 'TEMPORAL_ADDRESS to your own server'],
    versitygw: ['The object store (versitygw)', 'S3_ENDPOINT to your own object store'],
  }[name];
  throw new PlainError(
    `${what} is neither on PATH nor in the cache, and there is no Go to build it with. ` +
      `Install Go 1.26 or newer, set ${setting}, or use docker compose.`,
  );
}

/**
 * Brings those that are nowhere into the cache: Temporal as its release, the others built, and Temporal too where its release
 * cannot be had. Nothing of the checkout's packages is needed for it.
 */
export async function obtainServers(names) {
  const isAbsent = (name) => found(name) === undefined;
  if (!names.some(isAbsent)) return;
  const folder = toolsCache();
  await withFileLock(
    join(folder, 'build.lock'),
    async () => {
      const isTemporalAbsent = names.includes('temporal') && isAbsent('temporal');
      const isDownloaded = isTemporalAbsent ? downloadTemporal(folder) : true;
      // Go builds meanwhile what has no release.
      if (names.includes('versitygw') && isAbsent('versitygw'))
        await build(folder, 'versitygw', 'about a minute');
      if (!(await isDownloaded)) await build(folder, 'temporal', 'some minutes');
    },
    (pid) => say(`Another start (process ${pid}) is preparing the servers; waiting for it ...`),
  );
}

/** @returns whether it is there */
async function downloadTemporal(folder) {
  if (temporalRelease === undefined) return false;
  const file = join(folder, programName('temporal'));
  try {
    await withProgress('Downloading the Temporal server (50 MB, once for this machine)', () =>
      downloadRelease(temporalRelease, file),
    );
    return true;
  } catch (error) {
    say(`  The Temporal server could not be downloaded. ${error.message}`);
    return false;
  }
}

/** Does nothing without Go. */
async function build(folder, name, time) {
  if (onPath('go') === undefined) return;
  const source = SOURCES[name];
  await withProgress(`Building ${name} (once for this machine, ${time})`, async () => {
    // A build that was killed continues with what it has compiled; what has been built needs none of it.
    const work = join(folder, 'build');
    const program = join(work, programName(name));
    mkdirSync(work, { recursive: true });
    await leaveOutDrivers(work, source.module);
    await go(work, ['build', ...BUILD_FLAGS, '-o', program, source.package]);
    renameSync(program, join(folder, programName(name)));
    rmSync(work, { recursive: true, force: true });
  });
}

/** Takes what never runs here out of the sources: the modules of a build are its own copies, which are removed after it. */
async function leaveOutDrivers(work, module) {
  const { Dir } = JSON.parse(await go(work, ['mod', 'download', '-json', module]));
  // A build that was killed before the change has kept what it knew of the sources.
  if (removeUnusedDrivers(module, Dir)) rmSync(join(work, 'cache'), { recursive: true, force: true });
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
