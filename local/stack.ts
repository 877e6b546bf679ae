import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type Keys, lockDataFolder, makeDataFolder, readOrMakeKeys } from './data-folder.ts';
import {
  DEFAULT_BUCKET,
  DEFAULT_REGION,
  ensureBucket,
  type ObjectStoreAccess,
  startObjectStore,
} from './object-store.ts';
import { PlainError } from './plain-error.ts';
import { freePort, isPortFree, type PortName, rememberedPorts, rememberPorts } from './ports.ts';
import { answers, postgresUrl, removeOutsideDatabase, startPostgres } from './postgres.ts';
import { endOrphan } from './process-identity.ts';
import { findPrograms, type Programs } from './programs.ts';
import { ChildStartError, type Supervised } from './supervised.ts';
import { startTemporal, TEMPORAL_NAMESPACE, temporalUiUrl, wipeTemporalStore } from './temporal.ts';

/** Servers of the caller's own, each in place of an embedded one. */
export interface ExternalServers {
  databaseUrl?: string;
  /** `host:port` of a Temporal frontend, and the address of its web page when there is one. */
  temporalAddress?: string;
  temporalUiUrl?: string;
  objectStore?: ObjectStoreAccess;
}

/** What a stack is started with. */
export interface StackOptions {
  /** Everything the stack keeps lies here: database, objects, Temporal's store, logs, keys. */
  dataDir: string;
  /** Takes sentences for the person who started it. */
  log: (line: string) => void;
  /** Ports that must be these; the others are chosen free. */
  ports?: Partial<Record<PortName, number>>;
  external?: ExternalServers;
  /** True for data that need not survive a power cut (tests): no fsync. */
  temporary?: boolean;
}

/** One embedded server: it is started again when it dies, until `stop`. It keeps its ports. */
export interface Part {
  /** The pid while it runs. */
  readonly pid: number | undefined;
  /** Sends a signal; a part that ends by it is started again after 0.2 s or more. */
  kill(signal: NodeJS.Signals): void;
  /** Stops it cleanly; it stays stopped until `start`. */
  stop(): Promise<void>;
  /** Starts it and resolves when it serves. Nothing happens when it runs. */
  start(): Promise<void>;
  /** Resolves when it serves, for example after `kill`. */
  untilReady(): Promise<void>;
}

/** Temporal, whose memory can be wiped: it must be possible without losing work. */
export interface TemporalPart extends Part {
  /** Stops Temporal, deletes all that it knows, and starts it again. */
  wipe(): Promise<void>;
}

/** The running servers. A part is undefined when the caller's own server stands in its place. */
export interface Stack {
  readonly dataDir: string;
  /** What the platform's processes need: addresses, credentials and secrets, by the names of the variables. */
  readonly environment: Record<string, string>;
  readonly postgres: Part | undefined;
  readonly temporal: TemporalPart | undefined;
  readonly objectStore: Part | undefined;
  /** Stops all servers and gives the data folder free. */
  stop(): Promise<void>;
}

const PORT_ATTEMPTS = 3;
const PORT_NAMES: Record<PortName, string> = {
  postgres: 'POSTGRES_PORT',
  temporal: 'TEMPORAL_PORT',
  temporalUi: 'TEMPORAL_UI_PORT',
  s3: 'S3_PORT',
};

/**
 * Starts PostgreSQL, Temporal and an object store, or uses the caller's own, and makes the platform's bucket.
 * Throws PlainError when the data folder is in use, a named port is taken, or a caller's server does not answer.
 */
export async function startStack(options: StackOptions): Promise<Stack> {
  const dataDir = resolve(options.dataDir);
  makeDataFolder(dataDir);
  const release = lockDataFolder(dataDir);
  const started: Supervised[] = [];
  try {
    return await startParts({ ...options, dataDir }, started, release);
  } catch (error) {
    await stopAll(started);
    release();
    throw error;
  }
}

/**
 * Deletes a data folder for good, with servers that a killed process left running on it. Throws PlainError while
 * a live process holds it.
 */
export async function removeData(dataDir: string): Promise<void> {
  if (!existsSync(dataDir)) return;
  makeDataFolder(dataDir);
  lockDataFolder(dataDir);
  const notes = join(dataDir, 'run');
  await Promise.all(readdirSync(notes).map((name) => endOrphan(join(notes, name))));
  removeOutsideDatabase(dataDir);
  rmSync(dataDir, { recursive: true, force: true });
}

async function startParts(options: StackOptions, started: Supervised[], release: () => void): Promise<Stack> {
  const { dataDir, external = {} } = options;
  const keys = readOrMakeKeys(dataDir);
  const programs = await findPrograms({
    postgres: external.databaseUrl !== undefined,
    temporal: external.temporalAddress !== undefined,
    objectStore: external.objectStore !== undefined,
  });
  const keep = <T>(part: { server: Supervised; value: T }) => {
    started.push(part.server);
    return part;
  };
  // All at once: each spends most of its start waiting. All must have ended one way or the other before an error
  // is passed on, or a late one would be left running.
  const [postgres, temporal, objectStore] = await allEnded([
    external.databaseUrl === undefined
      ? postgresPart(options, programs, keys).then(keep)
      : externalDatabase(external.databaseUrl),
    external.temporalAddress === undefined ? temporalPart(options, programs).then(keep) : undefined,
    external.objectStore === undefined ? objectStorePart(options, programs, keys).then(keep) : undefined,
  ]);
  const access = objectStore?.value ?? (external.objectStore as ObjectStoreAccess);
  await ensureBucket(access);
  return {
    dataDir,
    environment: {
      DATABASE_URL: typeof postgres === 'string' ? postgres : postgres.value,
      TEMPORAL_ADDRESS: temporal?.value.address ?? (external.temporalAddress as string),
      TEMPORAL_NAMESPACE,
      ...uiVariable(temporal?.value.uiUrl ?? external.temporalUiUrl),
      ...objectStoreVariables(access),
      ...secretVariables(keys),
    },
    postgres: typeof postgres === 'string' ? undefined : postgres.server,
    temporal: temporal === undefined ? undefined : withWipe(temporal.server, dataDir),
    objectStore: objectStore?.server,
    stop: async () => {
      await stopAll(started);
      release();
    },
  };
}

interface Started<T> {
  server: Supervised;
  value: T;
}

/** As Promise.all, but an error is passed on only when all have ended. */
async function allEnded<T extends readonly unknown[]>(
  work: T,
): Promise<{ -readonly [Index in keyof T]: Awaited<T[Index]> }> {
  const results = await Promise.allSettled(work);
  for (const result of results) if (result.status === 'rejected') throw result.reason;
  return await Promise.all(work);
}

/** None of the three needs another, so they stop at once. */
async function stopAll(started: Supervised[]): Promise<void> {
  await Promise.all(started.map((server) => server.stop()));
}

async function postgresPart(options: StackOptions, programs: Programs, keys: Keys): Promise<Started<string>> {
  return await withPorts(options, ['postgres'], async ([port]) => {
    const settings = {
      dataDir: options.dataDir,
      programs: programs.postgres as NonNullable<Programs['postgres']>,
      port,
      password: keys.postgresPassword,
      temporary: options.temporary ?? false,
      log: options.log,
    };
    return { server: await startPostgres(settings), value: postgresUrl(settings) };
  });
}

async function temporalPart(
  options: StackOptions,
  programs: Programs,
): Promise<Started<{ address: string; uiUrl: string }>> {
  return await withPorts(options, ['temporal', 'temporalUi'], async ([port, uiPort]) => {
    const program = programs.temporal as string;
    const settings = { dataDir: options.dataDir, program, port, uiPort, log: options.log };
    const server = await startTemporal(settings);
    return { server, value: { address: `127.0.0.1:${port}`, uiUrl: temporalUiUrl(settings) } };
  });
}

async function objectStorePart(
  options: StackOptions,
  programs: Programs,
  keys: Keys,
): Promise<Started<ObjectStoreAccess>> {
  return await withPorts(options, ['s3'], async ([port]) => {
    const credentials = { accessKeyId: keys.s3AccessKeyId, secretAccessKey: keys.s3SecretAccessKey };
    const program = programs.versitygw as string;
    const server = await startObjectStore({
      dataDir: options.dataDir,
      program,
      port,
      ...credentials,
      log: options.log,
    });
    const endpoint = `http://127.0.0.1:${port}`;
    return { server, value: { endpoint, region: DEFAULT_REGION, bucket: DEFAULT_BUCKET, ...credentials } };
  });
}

type PortsOf<Names extends readonly PortName[]> = { -readonly [Index in keyof Names]: number };

/** Chooses ports and starts; a port lost to another process in between is chosen anew unless it was named. */
async function withPorts<T, const Names extends readonly PortName[]>(
  options: StackOptions,
  names: Names,
  start: (ports: PortsOf<Names>) => Promise<T>,
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    const chosen = await Promise.all(names.map((name) => choosePort(options, name, attempt)));
    try {
      const result = await start(chosen as PortsOf<Names>);
      rememberPorts(options.dataDir, Object.fromEntries(names.map((name, index) => [name, chosen[index]])));
      return result;
    } catch (error) {
      const isTaken =
        error instanceof ChildStartError && /address already in use|could not bind/i.test(error.logTail);
      if (!isTaken || attempt === PORT_ATTEMPTS) throw error;
    }
  }
}

async function choosePort(options: StackOptions, name: PortName, attempt: number): Promise<number> {
  const named = options.ports?.[name];
  if (named !== undefined) return await namedPort(name, named);
  const last = attempt === 1 ? rememberedPorts(options.dataDir)[name] : undefined;
  return last !== undefined && (await isPortFree(last)) ? last : await freePort();
}

async function namedPort(name: PortName, port: number): Promise<number> {
  if (await isPortFree(port)) return port;
  throw new PlainError(
    `${PORT_NAMES[name]}: port ${port} is in use by another program. Choose another, or leave it out.`,
  );
}

async function externalDatabase(url: string): Promise<string> {
  const failure = await answers(url).then(
    () => undefined,
    (error: Error) => error.message || String(error),
  );
  if (failure !== undefined) throw new PlainError(`DATABASE_URL: the database does not answer: ${failure}`);
  return url;
}

function withWipe(server: Supervised, dataDir: string): TemporalPart {
  return {
    get pid() {
      return server.pid;
    },
    kill: (signal) => server.kill(signal),
    stop: () => server.stop(),
    start: () => server.start(),
    untilReady: () => server.untilReady(),
    wipe: async () => {
      await server.stop();
      wipeTemporalStore(dataDir);
      await server.start();
    },
  };
}

function uiVariable(url: string | undefined): Record<string, string> {
  return url === undefined ? {} : { TEMPORAL_UI_URL: url };
}

function objectStoreVariables(access: ObjectStoreAccess): Record<string, string> {
  return {
    S3_ENDPOINT: access.endpoint,
    S3_REGION: access.region,
    S3_BUCKET: access.bucket,
    S3_ACCESS_KEY_ID: access.accessKeyId,
    S3_SECRET_ACCESS_KEY: access.secretAccessKey,
  };
}

function secretVariables(keys: Keys): Record<string, string> {
  return {
    TOKEN_KEY: keys.tokenKey,
    SECRETS_KEY: keys.secretsKey,
    PARTICIPANT_KEY: keys.participantKey,
    AUTH_SERVICE_KEY: keys.authServiceKey,
  };
}
