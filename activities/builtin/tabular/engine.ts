/**
 * One DuckDB instance for one file: two threads, bounded memory and temporary disk, no network, no extensions, and no
 * file outside one folder. The instance is closed with the conversion; nothing of one file reaches the next.
 */
import { join } from 'node:path';
import {
  type DuckDBConnection,
  DuckDBInstance,
  type DuckDBResult,
  type DuckDBType,
  type DuckDBValue,
} from '@duckdb/node-api';

export interface EngineSettings {
  /** The conversion's own folder: the only place that SQL can read and write. */
  folder: string;
  memoryLimitBytes: number;
  spillLimitBytes: number;
  signal?: AbortSignal | undefined;
}

/** A query whose text holds only fixed words and generated names; every value from outside is a parameter. */
export interface Query {
  sql: string;
  parameters: DuckDBValue[];
}

const threads = 2;
const interruptEveryMs = 100;

export class Engine {
  readonly #settings: EngineSettings;
  readonly #signal: AbortSignal | undefined;
  #interrupting: NodeJS.Timeout | undefined;
  #instance: DuckDBInstance;
  #connection: DuckDBConnection;

  private constructor(settings: EngineSettings, instance: DuckDBInstance, connection: DuckDBConnection) {
    this.#settings = settings;
    this.#instance = instance;
    this.#connection = connection;
    this.#signal = settings.signal;
    this.#signal?.addEventListener('abort', this.#onAbort);
  }

  /** Repeated, because an interrupt that comes while a query is still being prepared is lost. */
  readonly #onAbort = (): void => {
    this.#connection.interrupt();
    this.#interrupting = setInterval(() => this.#connection.interrupt(), interruptEveryMs);
  };

  static async open(settings: EngineSettings): Promise<Engine> {
    settings.signal?.throwIfAborted();
    if (/[*?[\]{}\0]/.test(settings.folder)) {
      throw new Error(`The work folder's path must not hold the characters * ? [ ] { }: ${settings.folder}`);
    }
    const { instance, connection } = await openLocked(settings, threads);
    return new Engine(settings, instance, connection);
  }

  /**
   * Continues with one thread: each thread that reads and writes a very wide table holds a buffer for each column. No
   * earlier state is kept.
   */
  async useOneThread(): Promise<void> {
    this.#connection.closeSync();
    this.#instance.closeSync();
    const { instance, connection } = await openLocked(this.#settings, 1);
    this.#instance = instance;
    this.#connection = connection;
  }

  /** Runs a statement and returns its rows; an abort of the signal interrupts it and throws the signal's reason. */
  async rows(query: Query): Promise<DuckDBValue[][]> {
    return this.#guarded(async () =>
      (await this.#connection.runAndReadAll(query.sql, query.parameters)).getRows(),
    );
  }

  /** Names and types of a query's columns. */
  async columns(query: Query): Promise<{ names: string[]; types: DuckDBType[] }> {
    return this.#guarded(async () => {
      const result = await this.#connection.run(query.sql, query.parameters);
      return { names: result.columnNames(), types: result.columnTypes() };
    });
  }

  /** Runs a query whose result is fetched chunk by chunk, never held as a whole. */
  async stream<T>(query: Query, consume: (result: DuckDBResult) => Promise<T>): Promise<T> {
    return this.#guarded(async () => consume(await this.#connection.stream(query.sql, query.parameters)));
  }

  /** Part of the running statement that is done, 0 to 1; null when it is unknown. */
  get progress(): number | null {
    const { percentage } = this.#connection.progress;
    return percentage >= 0 ? Math.min(percentage / 100, 1) : null;
  }

  close(): void {
    this.#signal?.removeEventListener('abort', this.#onAbort);
    clearInterval(this.#interrupting);
    this.#connection.closeSync();
    this.#instance.closeSync();
  }

  async #guarded<T>(work: () => Promise<T>): Promise<T> {
    this.#signal?.throwIfAborted();
    try {
      const result = await work();
      this.#signal?.throwIfAborted();
      return result;
    } catch (error) {
      this.#signal?.throwIfAborted();
      throw error;
    }
  }
}

async function openLocked(
  settings: EngineSettings,
  threadCount: number,
): Promise<{ instance: DuckDBInstance; connection: DuckDBConnection }> {
  const instance = await DuckDBInstance.create(':memory:', {
    threads: String(threadCount),
    memory_limit: kibibytes(settings.memoryLimitBytes),
    temp_directory: join(settings.folder, 'spill'),
    max_temp_directory_size: kibibytes(settings.spillLimitBytes),
    autoinstall_known_extensions: 'false',
    autoload_known_extensions: 'false',
    allow_community_extensions: 'false',
  });
  const connection = await instance.connect();
  await connection.run(`SET TimeZone = 'UTC'`);
  await connection.run(`SET allowed_directories = [${sqlText(`${settings.folder}/`)}]`);
  await connection.run('SET enable_external_access = false');
  // It computes what two expressions share in a step of its own, which keeps all columns: with a thousand of them a read
  // takes twenty times as long, and more memory than there is.
  await connection.run(`SET disabled_optimizers = 'common_subexpressions'`);
  await connection.run('SET lock_configuration = true');
  return { instance, connection };
}

/** A path of a conversion's folder as SQL text, for the places where SQL accepts no parameter. */
export function sqlText(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

function kibibytes(bytes: number): string {
  return `${Math.max(1, Math.floor(bytes / 1024))}KiB`;
}

export function isOutOfMemory(error: unknown): boolean {
  return error instanceof Error && /^Out of Memory/.test(error.message);
}

/** The engine's share of memory does not suffice, and would not another time; not so the machine's own, or its disk. */
export function exceedsMemory(error: unknown): boolean {
  return error instanceof Error && /^Out of Memory.* used\)(?!.*temp_directory)/s.test(error.message);
}

/** True for faults of this machine (memory, disk), which are not the file's: another attempt may succeed. */
export function isResourceFault(error: unknown): boolean {
  return (
    error instanceof Error &&
    /^(Out of Memory|IO|Permission|INTERNAL|Fatal|Interrupt) ?(Error)?/i.test(error.message)
  );
}
