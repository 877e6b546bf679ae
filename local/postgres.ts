import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  existsSync,
  lchownSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { writeDurably } from './data-folder.ts';
import { prepareRoles } from './database-roles.ts';
import { PlainError } from './plain-error.ts';
import { endProcess, identityOf, isAlive, readIdentity, runsProgram } from './process-identity.ts';
import { Supervised } from './supervised.ts';

/** What the PostgreSQL of a stack is started with. */
export interface PostgresOptions {
  dataDir: string;
  /** The folder with `initdb` and `postgres`. */
  programs: { folder: string; runAs?: { uid: number; gid: number } };
  port: number;
  password: string;
  /**
   * True for data that need not survive a power cut (tests): no fsync, and passwords hashed fast. A killed process
   * loses nothing either way.
   */
  temporary: boolean;
  log: (line: string) => void;
}

export const POSTGRES_USER = 'platform';
export const POSTGRES_DATABASE = 'platform';

const OUTSIDE_ROOT = '/var/lib/simulation-data-platform';
const CONNECT_MILLISECONDS = 2_000;
const ANYONE_MAY_PASS = 0o001;
const OWNER_ONLY = 0o700;

/** The address of the database as the server's superuser. */
export function postgresUrl(options: PostgresOptions, database = POSTGRES_DATABASE): string {
  return `postgresql://${POSTGRES_USER}:${options.password}@127.0.0.1:${options.port}/${database}`;
}

/** Makes the database folder when there is none, and starts PostgreSQL under supervision. */
export async function startPostgres(options: PostgresOptions): Promise<Supervised> {
  const folder = databaseFolder(options);
  if (dirname(folder) !== realpathSync(options.dataDir)) holdOutside(folder, options.dataDir);
  if (!existsSync(join(folder, 'data', 'PG_VERSION'))) await makeDatabaseFolder(options, folder);
  const data = join(folder, 'data');
  chownForServer(folder, options.programs.runAs);
  await endEarlierServer(data, options.log);
  const server = new Supervised({
    name: 'PostgreSQL',
    command: join(options.programs.folder, 'postgres'),
    args: ['-D', data, ...settings(options)],
    env: { LC_ALL: 'C', TZ: 'UTC', PATH: process.env.PATH ?? '' },
    cwd: data,
    ...(options.programs.runAs === undefined ? {} : { user: options.programs.runAs }),
    programName: 'postgres',
    mark: data,
    logFile: join(options.dataDir, 'logs', 'postgres.log'),
    pidFile: join(options.dataDir, 'run', 'postgres.pid'),
    // "Fast" shutdown: open transactions are rolled back, the data are left clean.
    stopSignal: 'SIGINT',
    stopSeconds: 20,
    readySeconds: 120,
    isReady: () => acceptsConnections(postgresUrl(options, 'postgres')),
    log: options.log,
  });
  await server.start();
  try {
    await makeDatabase(options);
    await prepareRoles(postgresUrl(options));
  } catch (error) {
    await server.stop();
    throw error;
  }
  return server;
}

function settings(options: PostgresOptions): string[] {
  const values: Record<string, string> = {
    listen_addresses: '127.0.0.1',
    port: String(options.port),
    // The path of a socket has a length limit that deep folders exceed, and the socket is not needed.
    unix_socket_directories: '',
    // The platforms of several test files share one server.
    max_connections: options.temporary ? '500' : '200',
    shared_buffers: '256MB',
    max_wal_size: '2GB',
    // A statement whose client was killed ends within a second and releases its locks.
    client_connection_check_interval: '1s',
    // Short transactional statements: compiling them costs more than it saves.
    jit: 'off',
    random_page_cost: '1.1',
    log_line_prefix: '%m [%p] %d ',
    // The log shows the error, but neither the row nor the statement: they may contain addresses of people.
    log_error_verbosity: 'terse',
    log_min_error_statement: 'panic',
    log_timezone: 'UTC',
    timezone: 'UTC',
    // A client computes this often at each connection; it makes guessing from a stolen database expensive.
    ...(options.temporary ? { fsync: 'off', full_page_writes: 'off', scram_iterations: '1' } : {}),
  };
  return Object.entries(values).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
}

/**
 * The folder of `data`. It is in the data folder unless PostgreSQL's user cannot reach that (started as root, data
 * below a private home): then it is outside, and `postgres.json` in the data folder has its path.
 */
function databaseFolder(options: PostgresOptions): string {
  const dataDir = realpathSync(options.dataDir);
  const note = join(dataDir, 'postgres.json');
  // `resolve` leaves an outside (absolute) folder as it is; an inside one moves with the data folder.
  if (existsSync(note))
    return resolve(dataDir, String((JSON.parse(readFileSync(note, 'utf8')) as { folder: unknown }).folder));
  const user = options.programs.runAs;
  const isOutside = user !== undefined && !mayBePassed(dataDir);
  const named = isOutside ? join(OUTSIDE_ROOT, randomBytes(8).toString('hex')) : 'postgres';
  const folder = resolve(dataDir, named);
  mkdirSync(folder, { recursive: true });
  if (user !== undefined) chownSync(folder, user.uid, user.gid);
  chmodSync(folder, OWNER_ONLY);
  writeDurably(note, `${JSON.stringify({ folder: named })}\n`);
  return folder;
}

/**
 * Two data folders name the same database folder when one is a copy of the other; the lock of the data folder does not
 * show that. The note of a start that has ended is replaced.
 */
function holdOutside(folder: string, dataDir: string): void {
  const file = join(folder, 'lock');
  const holder = readIdentity(file);
  if (holder !== undefined && holder.pid !== process.pid && isAlive(holder))
    throw new PlainError(
      `${join(dataDir, 'postgres.json')} names the database folder ${folder}, which another start uses (process ` +
        `${holder.pid}). Copy that folder too, and name its copy in this file.`,
    );
  writeDurably(file, `${JSON.stringify(identityOf(process.pid))}\n`);
}

/** A copy that root made of the data folder may be root's and open to others: PostgreSQL takes neither. */
function chownForServer(folder: string, user: PostgresOptions['programs']['runAs']): void {
  const data = join(folder, 'data');
  if (user === undefined || statSync(data).uid !== 0) return;
  chmodSync(data, OWNER_ONLY);
  const below = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  // `data` comes after what it holds, so that an interrupted pass is made again.
  for (const path of ['', ...below].reverse()) lchownSync(join(folder, path), user.uid, user.gid);
}

/** Removes a database folder outside the data folder; for permanent deletion. */
export function removeOutsideDatabase(dataDir: string): void {
  const note = join(dataDir, 'postgres.json');
  if (!existsSync(note)) return;
  const folder = String((JSON.parse(readFileSync(note, 'utf8')) as { folder: unknown }).folder);
  if (dirname(folder) === OUTSIDE_ROOT) rmSync(folder, { recursive: true, force: true });
}

function mayBePassed(folder: string): boolean {
  for (let path = folder; ; path = dirname(path)) {
    if ((statSync(path).mode & ANYONE_MAY_PASS) === 0) return false;
    if (path === dirname(path)) return true;
  }
}

async function makeDatabaseFolder(options: PostgresOptions, folder: string): Promise<void> {
  const { folder: programs, runAs } = options.programs;
  const partial = join(folder, 'data.partial');
  const passwordFile = join(folder, 'password.partial');
  rmSync(partial, { recursive: true, force: true });
  rmSync(join(folder, 'data'), { recursive: true, force: true });
  writeFileSync(passwordFile, options.password, { mode: 0o600 });
  if (runAs !== undefined) chownSync(passwordFile, runAs.uid, runAs.gid);
  try {
    await promisify(execFile)(
      join(programs, 'initdb'),
      [
        ...[
          '-D',
          partial,
          '-U',
          POSTGRES_USER,
          '-A',
          'scram-sha-256',
          '--pwfile',
          passwordFile,
          '-E',
          'UTF8',
        ],
        // The operating system's locales differ between machines; with "C" non-ASCII letters are not lower-cased.
        ...['--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--locale=C', '--no-instructions'],
        ...(options.temporary ? ['--no-sync'] : []),
      ],
      { cwd: folder, env: { LC_ALL: 'C', TZ: 'UTC', PATH: process.env.PATH ?? '' }, ...runAs },
    );
  } catch (error) {
    const text = (error as { stderr?: string }).stderr?.trim() ?? String(error);
    throw new PlainError(`PostgreSQL could not create its database folder ${partial}:\n${text}`);
  } finally {
    rmSync(passwordFile, { force: true });
  }
  renameSync(partial, join(folder, 'data'));
}

/**
 * Our own note identifies an orphan in most cases; PostgreSQL's pid file does even when ours was lost. If its pid now
 * belongs to another program, or to a zombie, PostgreSQL would refuse to start, so the file is removed; since that
 * disables its own check for processes that still use these data, we check ourselves.
 */
async function endEarlierServer(data: string, log: (line: string) => void): Promise<void> {
  const file = join(data, 'postmaster.pid');
  if (!existsSync(file)) return;
  const pid = Number(readFileSync(file, 'utf8').split('\n')[0]);
  if (!Number.isInteger(pid) || pid <= 0 || !existsSync(`/proc/${pid}`)) return;
  if (runsProgram(pid, 'postgres', data)) {
    await endProcess(identityOf(pid), 'SIGINT', 20);
    log(`PostgreSQL of an earlier start was still running (process ${pid}) and has been stopped.`);
    return;
  }
  await Promise.all(backendsOn(data).map((backend) => endProcess(identityOf(backend), 'SIGQUIT', 5)));
  rmSync(file, { force: true });
}

/** Server processes that outlived their postmaster: their working folder is the data folder. */
function backendsOn(data: string): number[] {
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => Number.isInteger(pid) && worksIn(pid, data));
}

function worksIn(pid: number, data: string): boolean {
  try {
    const isPostgres = basename(readlinkSync(`/proc/${pid}/exe`)).startsWith('postgres');
    return isPostgres && readlinkSync(`/proc/${pid}/cwd`) === data;
  } catch {
    return false;
  }
}

/** True when the database server accepts a connection. */
export async function acceptsConnections(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: CONNECT_MILLISECONDS });
  // A connection that breaks while it is idle must not end this process.
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query('SELECT 1');
    return true;
  } finally {
    await client.end().catch(() => undefined);
  }
}

async function makeDatabase(options: PostgresOptions): Promise<void> {
  const client = new pg.Client({ connectionString: postgresUrl(options, 'postgres') });
  client.on('error', () => undefined);
  await client.connect();
  try {
    const found = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [POSTGRES_DATABASE]);
    if (found.rowCount === 0) await client.query(`CREATE DATABASE "${POSTGRES_DATABASE}"`);
  } finally {
    await client.end();
  }
}
