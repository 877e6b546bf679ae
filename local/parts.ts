import type { Keys } from './data-folder.ts';
import { DEFAULT_BUCKET, DEFAULT_REGION, type ObjectStoreAccess, startObjectStore } from './object-store.ts';
import { PlainError } from './plain-error.ts';
import { freePort, isPortFree, type PortName, rememberedPorts, rememberPorts } from './ports.ts';
import { postgresUrl, startPostgres } from './postgres.ts';
import type { Programs } from './programs.ts';
import { ChildStartError, type Supervised } from './supervised.ts';
import { startTemporal, temporalUiUrl } from './temporal.ts';

/** What each part needs to know of the stack. */
export interface PartOptions {
  dataDir: string;
  log: (line: string) => void;
  ports?: Partial<Record<PortName, number>>;
  temporary?: boolean;
}

/** A running server and how to reach it. */
export interface Started<T> {
  server: Supervised;
  value: T;
}

const PORT_ATTEMPTS = 3;
const PORT_NAMES: Record<PortName, string> = {
  postgres: 'POSTGRES_PORT',
  temporal: 'TEMPORAL_PORT',
  temporalUi: 'TEMPORAL_UI_PORT',
  s3: 'S3_PORT',
};

export async function postgresPart(
  options: PartOptions,
  programs: Programs,
  keys: Keys,
): Promise<Started<string>> {
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

export interface TemporalAddress {
  address: string;
  uiUrl: string;
}

/** @param onAddress called with the address at which it will serve; again when another program took that one meanwhile */
export async function temporalPart(
  options: PartOptions,
  programs: Programs,
  onAddress: (value: TemporalAddress) => void,
): Promise<Started<TemporalAddress>> {
  return await withPorts(options, ['temporal', 'temporalUi'], async ([port, uiPort]) => {
    const program = programs.temporal as string;
    const settings = { dataDir: options.dataDir, program, port, uiPort, log: options.log };
    const value = { address: `127.0.0.1:${port}`, uiUrl: temporalUiUrl(settings) };
    onAddress(value);
    return { server: await startTemporal(settings), value };
  });
}

/** The embedded Temporal while it starts: what comes after it may begin, since its address is known before it serves. */
export interface ComingTemporal {
  readonly server: Promise<Started<TemporalAddress>>;
  /**
   * Calls `use` with the address, and again with the next one when another program took the port. Ends as the call with
   * the last address does, and fails when Temporal does not start.
   */
  withAddress(use: (address: TemporalAddress) => Promise<void>): Promise<void>;
}

interface Choice {
  readonly address: TemporalAddress;
  /** Pending for ever when the server starts at this address. */
  readonly next: Promise<Choice>;
}

/** @param start reports each address that it chooses */
export function comingTemporal(
  start: (choose: (address: TemporalAddress) => void) => Promise<Started<TemporalAddress>>,
): ComingTemporal {
  let coming = choice();
  const first = coming.promise;
  const server = start((address) => {
    const next = choice();
    coming.resolve({ address, next: next.promise });
    coming = next;
  });
  server.catch((error: unknown) => coming.reject(error));
  return {
    server,
    async withAddress(use) {
      let chosen: Choice | undefined = await first;
      while (chosen !== undefined) {
        const work = use(chosen.address);
        // How a call ends whose address was given up does not count.
        work.catch(() => undefined);
        chosen = await Promise.race([work.then(() => undefined), chosen.next]);
      }
    },
  };
}

/** It may fail before anything waits for it. */
function choice() {
  const pending = Promise.withResolvers<Choice>();
  pending.promise.catch(() => undefined);
  return pending;
}

export async function objectStorePart(
  options: PartOptions,
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

/** Chooses ports and starts; a port lost to another process in between is chosen again unless it was named. */
async function withPorts<T, const Names extends readonly PortName[]>(
  options: PartOptions,
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

async function choosePort(options: PartOptions, name: PortName, attempt: number): Promise<number> {
  const named = options.ports?.[name];
  if (named !== undefined) return await namedPort(name, named);
  const last = attempt === 1 ? rememberedPorts(options.dataDir)[name] : undefined;
  return last !== undefined && (await isPortFree(last)) ? last : await freePort();
}

async function namedPort(name: PortName, port: number): Promise<number> {
  if (await isPortFree(port)) return port;
  throw new PlainError(
    `${PORT_NAMES[name]}: port ${port} is in use by another program. Choose another, or remove the variable.`,
  );
}
