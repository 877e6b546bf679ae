/**
 * The process that reads series for the API, so that neither a long scan nor a crash of the database library touches
 * it. Started by `reader.ts` with its settings as the only argument; ends when its parent does.
 */
import { flushCompileCache } from 'node:module';
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import { endOnUnexpected, fatalLines } from '../../telemetry/unexpected.ts';
import type {
  ChildSettings,
  ExportJob,
  FromChild,
  Job,
  JobSource,
  ReadJob,
  ResultOf,
  ToChild,
} from './protocol.ts';
import { readSource } from './read-source.ts';
import { readStatistics } from './read-statistics.ts';
import type { OpenSource } from './scan.ts';
import { ReadRefused } from './trace-runs.ts';
import { readTraces } from './traces.ts';
import { writeDerivedExport } from './write-derived-export.ts';
import { withTimeDigits, writeExport } from './write-export.ts';

const threads = 2;
/** How many times its memory the process may have while it reads. */
const mostWhileReading = 3;
const measureEveryMs = 50;

interface Running {
  readonly connections: DuckDBConnection[];
  isCancelled: boolean;
}

const settings = JSON.parse(process.argv[2] ?? '{}') as ChildSettings;
const running = new Map<number, Running>();

const underWay = new Set<Promise<void>>();
// The API repeats the unfinished reads with the next process.
endOnUnexpected(fatalLines('series'), () => Promise.all(underWay));

const instance = await openDatabase();
process.on('disconnect', () => process.exit(0));
process.on('message', (message: ToChild) => {
  if (message.kind === 'cancel') cancel(message.id);
  else {
    const serving = serve(message.id, message.job);
    underWay.add(serving);
    void serving.finally(() => underWay.delete(serving));
  }
});
// It may be killed before it ends.
flushCompileCache();
send({ kind: 'ready' });

async function openDatabase(): Promise<DuckDBInstance> {
  const database = await DuckDBInstance.create(':memory:', {
    threads: String(threads),
    memory_limit: `${Math.max(1, Math.floor(settings.databaseBytes / 1024))}KiB`,
    // No read here needs to spill to disk; a request that does is refused.
    max_temp_directory_size: '0KiB',
    autoinstall_known_extensions: 'false',
    autoload_known_extensions: 'false',
    allow_community_extensions: 'false',
  });
  const connection = await database.connect();
  await connection.run(`SET allowed_directories = ['${`${settings.cacheDir}/`.replaceAll("'", "''")}']`);
  await connection.run('SET enable_external_access = false');
  await connection.run('SET lock_configuration = true');
  connection.closeSync();
  return database;
}

function cancel(id: number): void {
  const job = running.get(id);
  if (job === undefined) return;
  job.isCancelled = true;
  for (const connection of job.connections) connection.interrupt();
}

async function serve(id: number, job: Job): Promise<void> {
  const own: Running = { connections: [], isCancelled: false };
  running.set(id, own);
  let at = 0;
  const measuring = setInterval(endIfLarge, measureEveryMs);
  try {
    const connection = await connect(own);
    const results: ResultOf<ReadJob>[][] = [];
    if (job.what === 'export') await writeFile(connection, own, job);
    for (at = 0; job.what !== 'export' && at < job.sources.length; at++) {
      throwIfCancelled(own);
      const source = job.sources[at] as JobSource;
      results.push(await read({ ...source, connection }, job));
    }
    send({ kind: 'done', id, results });
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    if (error instanceof ReadRefused) return send({ kind: 'refused', id, message });
    const isMachineFault = /^(Out of Memory|Interrupt|INTERRUPT)|given up/i.test(message);
    send({ kind: 'failed', id, message, brokenSource: isMachineFault ? null : at });
  } finally {
    clearInterval(measuring);
    running.delete(id);
    for (const connection of own.connections) connection.closeSync();
    if (running.size === 0 && process.memoryUsage.rss() > settings.residentBytes) process.disconnect();
  }
}

/**
 * The database bounds the memory of its data, and not that of a Parquet file's metadata: some bytes of a file that was made
 * to declare gigabytes of it. The API repeats the reads with the next process, once.
 */
function endIfLarge(): void {
  if (process.memoryUsage.rss() > mostWhileReading * settings.residentBytes)
    process.kill(process.pid, 'SIGKILL');
}

function read(source: OpenSource, job: ReadJob): Promise<ResultOf<ReadJob>[]> {
  switch (job.what) {
    case 'points':
      return readSource(source, job);
    case 'traces':
      return readTraces(source, job);
    case 'statistics':
      return readStatistics(source, job);
  }
}

async function writeFile(connection: DuckDBConnection, own: Running, asked: ExportJob): Promise<void> {
  const job = await withTimeDigits(connection, asked);
  throwIfCancelled(own);
  if (job.sources.every(({ derived }) => derived.length === 0)) return writeExport(connection, job);
  await writeDerivedExport(connection, await connect(own), job);
}

/** A connection that is interrupted when the job is cancelled, and closed at its end. */
async function connect(own: Running): Promise<DuckDBConnection> {
  const connection = await instance.connect();
  own.connections.push(connection);
  throwIfCancelled(own);
  return connection;
}

function throwIfCancelled({ isCancelled }: Running): void {
  if (isCancelled) throw new Error('The request was given up.');
}

function send(message: FromChild): void {
  process.send?.(message);
}
