/**
 * Containers as plain processes: each service's own command, user and environment, on this machine. One table replaces
 * what only a container has (paths, addresses, the programs and variables of its image).
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { findPrograms } from '../../local/programs.ts';
import { checkout } from '../../local/settings.ts';
import { findPorts, type Ports, portOf } from './ports.ts';
import { type Project, programs, type Service } from './project.ts';

export interface Place {
  readonly folder: string;
  readonly ports: Ports;
  readonly bin: string;
  readonly postgresFolder: string;
  /** The replacement of a path or an address of a container. */
  readonly table: ReadonlyArray<readonly [string, string]>;
}

const isRoot = process.getuid?.() === 0;
/** Whether processes may be those of other users: started by root, from a checkout that they may read. */
const hasUsers = isRoot && mayBePassed(checkout);
/** Users that images name or contain. */
const imageUsers: Readonly<Record<string, number>> = {
  postgres: 65_534,
  'temporalio/server': 1000,
  'temporalio/admin-tools': 1000,
};

/** Folders, ports and programs for one run of the project; `folder` is empty and anybody may pass it. */
export async function preparePlace(folder: string, project: Project): Promise<Place> {
  const ports = await findPorts();
  const bin = join(folder, 'bin');
  mkdirSync(bin);
  const own = await findPrograms({ postgres: false, temporal: true, objectStore: false });
  const links = {
    ...programs,
    versitygw: own.versitygw!,
    node: process.execPath,
    postgres: join(own.postgres!.folder, 'postgres'),
  };
  for (const [name, path] of Object.entries(links)) {
    // The cache may be in a private home. PostgreSQL finds its other files from where its program really is.
    if (name === 'postgres' || !isRoot) symlinkSync(path, join(bin, name));
    else copyFileSync(path, join(bin, name));
  }
  const table = [
    ['postgres:5432', `127.0.0.1:${ports.postgres}`] as const,
    ['temporal:7233', `127.0.0.1:${ports.temporal}`] as const,
    ['s3:7070', `127.0.0.1:${ports.s3}`] as const,
    ['proxy:8081', `127.0.0.1:${ports.proxyInside}`] as const,
    [`${project.name}-api-1:8080`, `127.0.0.1:${ports['api-1']}`] as const,
    [`${project.name}-api-2:8080`, `127.0.0.1:${ports['api-2']}`] as const,
    // Containers that this run does not start.
    [`${project.name}-api-3:8080`, '127.0.0.1:1'] as const,
    [`${project.name}-api-4:8080`, '127.0.0.1:1'] as const,
    ['/run/secrets/', join(folder, 'secrets/')] as const,
    ['/ops/', join(checkout, 'ops/compose/')] as const,
    ['/objects', join(folder, 'objects')] as const,
    ['/metadata', join(folder, 'metadata')] as const,
    ['/runners', join(folder, 'runners')] as const,
    ['/app/workflow-bundle', join(folder, 'workflow-bundle')] as const,
    ['/app/compiled', join(folder, 'compiled')] as const,
  ];
  return { folder, ports, bin, postgresFolder: own.postgres!.folder, table };
}

/** The secrets of the first run, with the addresses in them put in place, for the users of all containers. */
export function putSecretsInPlace(place: Place): void {
  const secrets = join(place.folder, 'secrets');
  chmodSync(secrets, 0o755);
  for (const file of readdirSync(secrets)) {
    const path = join(secrets, file);
    chmodSync(path, 0o644);
    writeFileSync(path, inPlace(place, readFileSync(path, 'utf8')));
  }
}

/**
 * Replaces names in a text in one pass: replacements are not replaced again.
 * @param own folder of one container, for its volume and its temporary files
 */
function inPlace(place: Place, text: string, own?: string): string {
  const table = new Map([
    ...place.table,
    ...(own === undefined
      ? []
      : ([
          ['/var/lib/sdp', join(own, 'data')],
          ['/tmp/', `${join(own, 'tmp')}/`],
        ] as const)),
  ]);
  const words = [...table.keys()].sort((one, other) => other.length - one.length);
  const pattern = words.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('|');
  return text.replace(new RegExp(pattern, 'g'), (word) => table.get(word)!);
}

/** Variables of the platform's image, from its Dockerfile. */
function imageVariables(): Record<string, string> {
  const text = readFileSync(join(checkout, 'Dockerfile'), 'utf8');
  const [, block = ''] = /\nENV ((?:.*\\\n)*.*)\n/.exec(text.slice(text.lastIndexOf('\nFROM ')))!;
  return Object.fromEntries(
    block
      .split(/\\?\n/)
      .map((line) => line.trim().split('='))
      .filter(([name]) => name !== ''),
  );
}

/** What one container of a service is started with. */
export function planOf(project: Project, place: Place, name: string, replica: number) {
  const service = project.services[name]!;
  const { ports, folder } = place;
  const own = join(folder, `${name}-${replica}`);
  const uid = userOf(service);
  for (const path of [own, join(own, 'tmp'), join(own, 'data')]) {
    mkdirSync(path, { recursive: true });
    if (isRoot) chownSync(path, uid, uid);
  }
  const listening: Record<string, Record<string, string>> = {
    api: { PORT: String(ports[`api-${replica}` as 'api-1']), HOST: '127.0.0.1' },
    proxy: {
      PROXY_HTTP_PORT: String(ports.proxy),
      PROXY_HTTPS_PORT: String(ports.proxyTls),
      PROXY_INSIDE_PORT: String(ports.proxyInside),
      XDG_DATA_HOME: join(own, 'data'),
    },
    'temporal-schema': { POSTGRES_SEEDS: '127.0.0.1', DB_PORT: String(ports.postgres) },
    temporal: {
      POSTGRES_SEEDS: '127.0.0.1',
      DB_PORT: String(ports.postgres),
      BIND_ON_IP: '127.0.0.1',
      FRONTEND_GRPC_PORT: String(ports.temporal),
      FRONTEND_HTTP_PORT: String(ports.http),
      HISTORY_GRPC_PORT: String(ports.history),
      MATCHING_GRPC_PORT: String(ports.matching),
      WORKER_GRPC_PORT: String(ports.worker),
      FRONTEND_MEMBERSHIP_PORT: String(ports.member1),
      HISTORY_MEMBERSHIP_PORT: String(ports.member2),
      MATCHING_MEMBERSHIP_PORT: String(ports.member3),
      WORKER_MEMBERSHIP_PORT: String(ports.member4),
    },
  };
  const given = Object.entries({
    ...(service.build === undefined ? {} : imageVariables()),
    ...service.environment,
  }).map(([variable, value]) => [variable, inPlace(place, value ?? '', own)]);
  const command = [...(service.entrypoint ?? []), ...(service.command ?? [])].map((word) =>
    inPlace(place, word === ':7070' ? `127.0.0.1:${ports.s3}` : word, own),
  );
  return {
    command: [
      ...command,
      ...(name === 'postgres'
        ? ['-D', join(own, 'data'), '-p', String(ports.postgres), '-c', 'unix_socket_directories=']
        : []),
    ],
    environment: {
      PATH: `${place.bin}:/usr/local/bin:/usr/bin:/bin`,
      HOME: own,
      ...Object.fromEntries(given),
      ...listening[name],
      ...(service.environment?.METRICS_PORT
        ? { METRICS_PORT: String(portOf(ports, name, replica)), METRICS_HOST: '127.0.0.1' }
        : {}),
    } as Record<string, string>,
    uid,
    own,
    // Only those that can be started here: programs of other images (pg_isready, nc, wget) may be missing.
    healthcheck:
      service.build !== undefined && service.healthcheck !== undefined
        ? service.healthcheck.test
            .slice(1)
            .map((word) =>
              inPlace(place, word, own).replace('127.0.0.1:8080', `127.0.0.1:${listening.api!.PORT}`),
            )
        : undefined,
  };
}
export type Plan = ReturnType<typeof planOf>;

function userOf({ user, image }: Service): number {
  // PostgreSQL refuses to run as root.
  if (!hasUsers && user !== 'postgres') return 0;
  const number = Number.parseInt(user ?? '', 10);
  return Number.isNaN(number) ? (imageUsers[user ?? image.split(':')[0]!] ?? 0) : number;
}

function mayBePassed(folder: string): boolean {
  const isOpen = (statSync(folder).mode & 0o005) === 0o005;
  return isOpen && (folder === dirname(folder) || mayBePassed(dirname(folder)));
}

/** As the image of PostgreSQL does at its first start. */
export function initDatabase(place: Place, { environment, uid, own }: Plan): void {
  const options = environment.POSTGRES_INITDB_ARGS!.split(' ');
  execFileSync(
    join(place.postgresFolder, 'initdb'),
    [
      '-D',
      join(own, 'data'),
      '-U',
      'postgres',
      '--auth=scram-sha-256',
      `--pwfile=${environment.POSTGRES_PASSWORD_FILE}`,
      ...options,
    ],
    {
      env: { LC_ALL: 'C', PATH: environment.PATH },
      stdio: 'pipe',
      cwd: own,
      ...(isRoot ? { uid, gid: uid } : {}),
    },
  );
}

/** A container that runs, or ran once. */
export class Running {
  readonly #child: ChildProcess;
  readonly ended: Promise<number | NodeJS.Signals>;
  #log = '';
  #isOver = false;

  constructor({ command: [program, ...args], environment, uid }: Plan) {
    const child = spawn(program!, args, {
      cwd: checkout,
      env: environment,
      stdio: ['ignore', 'pipe', 'pipe'],
      ...(isRoot ? { uid, gid: uid } : {}),
    });
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        this.#log = (this.#log + text).slice(-20_000);
      });
    this.#child = child;
    this.ended = new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('exit', (code, signal) => {
        this.#isOver = true;
        resolve(signal ?? code ?? 0);
      });
    });
    this.ended.catch(() => {});
  }

  get log(): string {
    return this.#log;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  kill(signal: NodeJS.Signals): void {
    if (!this.#isOver) this.#child.kill(signal);
  }
}
