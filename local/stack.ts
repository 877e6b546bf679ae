import { existsSync, rmSync } from 'node:fs';
import { resolve } from 'node:path';
import { endOrphans, type Keys, lockDataFolder, makeDataFolder, readOrMakeKeys } from './data-folder.ts';
import { type RoleAddresses, roleAddresses } from './database-roles.ts';
import { hasBucketFolder, type ObjectStoreAccess } from './object-store.ts';
import {
  type ComingTemporal,
  comingTemporal,
  objectStorePart,
  postgresPart,
  type Started,
  type TemporalAddress,
  temporalPart,
} from './parts.ts';
import { PlainError } from './plain-error.ts';
import type { PortName } from './ports.ts';
import { acceptsConnections, removeOutsideDatabase } from './postgres.ts';
import { findPrograms, type Programs } from './programs.ts';
import type { Supervised } from './supervised.ts';
import { TEMPORAL_NAMESPACE, wipeTemporalStore } from './temporal.ts';

/** The caller's own servers, each in place of an embedded one. */
export interface ExternalServers {
  databaseUrl?: string;
  /** `host:port` of a Temporal frontend, and the address of its web page when there is one. */
  temporalAddress?: string;
  temporalUiUrl?: string;
  objectStore?: ObjectStoreAccess;
}

/** What a stack is started with. */
export interface StackOptions {
  /** All stored data of the stack: database, objects, Temporal's store, logs, keys. */
  dataDir: string;
  /** Receives messages for the person who started it. */
  log: (line: string) => void;
  /** Fixed ports; free ones are chosen for the others. */
  ports?: Partial<Record<PortName, number>>;
  external?: ExternalServers;
  /** True for data that need not survive a power cut (tests): no fsync. */
  temporary?: boolean;
  /** Called when the data folder is locked and no process of an earlier start runs, before any server starts. */
  beforeServers?: () => Promise<void>;
  /**
   * Called when the database serves, while the other servers still start; the environment names the database and the
   * secrets alone. Its failure ends the start.
   */
  onDatabase?: (database: StackFacts) => Promise<void>;
  /**
   * Called when database and object store serve, while Temporal, the slowest, still starts. Its failure ends the start.
   * Called again when another program took Temporal's port: how the call before ends does not count then.
   */
  onStorage?: (stack: StackFacts) => Promise<void>;
}

/** How the servers are reached. */
export type StackFacts = Pick<Stack, 'environment' | 'roles'>;

/** One embedded server: it is started again when it dies, until `stop`. It keeps its ports. */
export interface Part {
  /** The pid while it runs. */
  readonly pid: number | undefined;
  /** Sends a signal; a part that it ends is started again after 0.2 s or more. */
  kill(signal: NodeJS.Signals): void;
  /** Stops it cleanly; it stays stopped until `start`. */
  stop(): Promise<void>;
  /** Starts it and resolves when it serves. Nothing happens when it runs. */
  start(): Promise<void>;
  /** Resolves when it serves, for example after `kill`. */
  untilReady(): Promise<void>;
}

/** Temporal, whose store can be wiped; this must not lose work. */
export interface TemporalPart extends Part {
  /** Stops Temporal, deletes its store, and starts it again. */
  wipe(): Promise<void>;
}

/** The running servers. A part is undefined when the caller's own server replaces it. */
export interface Stack {
  readonly dataDir: string;
  /**
   * The variables of the platform's processes: addresses, credentials and secrets. An embedded PostgreSQL is named as
   * its superuser, who may make further databases; see `roles`.
   */
  readonly environment: Record<string, string>;
  /** The embedded database as the roles that work on it. */
  readonly roles: RoleAddresses | undefined;
  readonly postgres: Part | undefined;
  readonly temporal: TemporalPart | undefined;
  readonly objectStore: Part | undefined;
  /** Stops all servers and releases the data folder. */
  stop(): Promise<void>;
}

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
    await endOrphans(dataDir, options.log);
    await options.beforeServers?.();
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
  await endOrphans(dataDir, () => undefined);
  removeOutsideDatabase(dataDir);
  rmSync(dataDir, { recursive: true, force: true });
}

/** What a start works with. */
interface Start {
  readonly options: StackOptions;
  readonly keys: Keys;
  readonly programs: Programs;
  /** Remembers a server that runs, so that a failed start stops it. */
  readonly keep: <Part extends { server: Supervised }>(part: Part) => Part;
}

async function startParts(options: StackOptions, started: Supervised[], release: () => void): Promise<Stack> {
  const { dataDir, external = {} } = options;
  const keys = readOrMakeKeys(dataDir);
  const programs = await findPrograms({
    postgres: external.databaseUrl !== undefined,
    temporal: external.temporalAddress !== undefined,
    objectStore: external.objectStore !== undefined,
  });
  const keep: Start['keep'] = (part) => {
    started.push(part.server);
    return part;
  };
  const start = { options, keys, programs, keep };
  const coming =
    external.temporalAddress === undefined
      ? comingTemporal((choose) => temporalPart(options, programs, choose).then(keep))
      : undefined;
  // All at once: each spends most of its start waiting. All must have settled before an error is passed on, or a late
  // one would be left running.
  const [storage, temporal] = await allEnded([startStorage(start, coming), coming?.server]);
  return {
    dataDir,
    environment: environmentOf(start, storage, temporal?.value),
    roles: storage.roles,
    postgres: storage.postgres,
    temporal: temporal === undefined ? undefined : withWipe(temporal.server, dataDir),
    objectStore: storage.objectStore,
    stop: async () => {
      await stopAll(started);
      release();
    },
  };
}

/** Database and object store, the servers where they are embedded. */
interface Storage extends Pick<Stack, 'roles' | 'postgres' | 'objectStore'> {
  readonly databaseUrl: string;
  readonly access: ObjectStoreAccess;
}

/** @param temporal the embedded server */
async function startStorage(start: Start, temporal?: ComingTemporal): Promise<Storage> {
  const { options, keys, programs, keep } = start;
  const { dataDir, external = {}, onStorage } = options;
  const [postgres, objectStore] = await allEnded([
    databasePart(options, keys, () => postgresPart(options, programs, keys).then(keep)),
    external.objectStore === undefined ? objectStorePart(options, programs, keys).then(keep) : undefined,
  ]);
  const access = objectStore?.value ?? (external.objectStore as ObjectStoreAccess);
  if (objectStore === undefined || !hasBucketFolder(dataDir, access.bucket))
    await (await import('./bucket.ts')).ensureBucket(access);
  const isEmbedded = typeof postgres !== 'string';
  const storage = {
    databaseUrl: isEmbedded ? postgres.value : postgres,
    roles: isEmbedded ? roleAddresses(postgres.value) : undefined,
    postgres: isEmbedded ? postgres.server : undefined,
    objectStore: objectStore?.server,
    access,
  };
  if (onStorage !== undefined) {
    const { roles } = storage;
    const begin = (address?: TemporalAddress) =>
      onStorage({ environment: environmentOf(start, storage, address), roles });
    await (temporal === undefined ? begin() : temporal.withAddress(begin));
  }
  return storage;
}

/** @param temporal of the embedded server */
function environmentOf(
  { options: { external = {} }, keys }: Start,
  { databaseUrl, access }: Storage,
  temporal: TemporalAddress | undefined,
): Record<string, string> {
  return {
    DATABASE_URL: databaseUrl,
    TEMPORAL_ADDRESS: temporal?.address ?? (external.temporalAddress as string),
    TEMPORAL_NAMESPACE,
    ...uiVariable(temporal?.uiUrl ?? external.temporalUiUrl),
    ...objectStoreVariables(access),
    ...secretVariables(keys),
  };
}

/** As Promise.all, but an error is passed on only when all have settled. */
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

async function databasePart(
  { external, onDatabase }: StackOptions,
  keys: Keys,
  startEmbedded: () => Promise<Started<string>>,
): Promise<string | Started<string>> {
  const address = external?.databaseUrl;
  const database = address === undefined ? await startEmbedded() : await externalDatabase(address);
  const isEmbedded = typeof database !== 'string';
  const url = isEmbedded ? database.value : database;
  await onDatabase?.({
    environment: { DATABASE_URL: url, ...secretVariables(keys) },
    roles: isEmbedded ? roleAddresses(url) : undefined,
  });
  return database;
}

async function externalDatabase(url: string): Promise<string> {
  const failure = await acceptsConnections(url).then(
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
    RUNNER_HOST_KEY: keys.runnerHostKey,
  };
}
