import { chmodSync, existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Supervised } from './supervised.ts';

/** What the Temporal server of a stack is started with. */
export interface TemporalOptions {
  dataDir: string;
  program: string;
  port: number;
  uiPort: number;
  log: (line: string) => void;
}

export const TEMPORAL_NAMESPACE = 'default';

/** The attributes by which operators filter workflows; the worker registers the same list on an external server. */
const SEARCH_ATTRIBUTES = {
  SessionId: 'Keyword',
  ProjectId: 'Int',
  SessionTemplate: 'Keyword',
  FailedNodes: 'Int',
};

const READY_MILLISECONDS = 2_000;

/** The address of the web page in which operators see workflows. */
export function temporalUiUrl(options: TemporalOptions): string {
  return `http://127.0.0.1:${options.uiPort}`;
}

/** Starts Temporal's single-file server (SQLite) with its web page, under supervision. */
export async function startTemporal(options: TemporalOptions): Promise<Supervised> {
  const store = storeFile(options.dataDir);
  const server = new Supervised({
    name: 'Temporal',
    command: options.program,
    args: [
      ...['server', 'start-dev', '--db-filename', store],
      // The default journal halves what the server can do; a write-ahead log with this setting survives a crash.
      ...['--sqlite-pragma', 'journal_mode=wal', '--sqlite-pragma', 'synchronous=1'],
      ...[
        '--ip',
        '127.0.0.1',
        '--port',
        String(options.port),
        '--ui-ip',
        '127.0.0.1',
        '--ui-port',
        String(options.uiPort),
      ],
      ...['--namespace', TEMPORAL_NAMESPACE, '--log-level', 'warn', '--log-format', 'json'],
      ...Object.entries(SEARCH_ATTRIBUTES).flatMap(([name, type]) => [
        '--search-attribute',
        `${name}=${type}`,
      ]),
    ],
    // Only what it needs: TEMPORAL_... variables would also configure the server, but here they are for a client.
    env: { PATH: process.env.PATH ?? '', HOME: join(options.dataDir, 'run'), TZ: 'UTC' },
    programName: 'temporal',
    mark: store,
    logFile: join(options.dataDir, 'logs', 'temporal.log'),
    pidFile: join(options.dataDir, 'run', 'temporal.pid'),
    niceness: 5,
    stopSignal: 'SIGTERM',
    stopSeconds: 10,
    readySeconds: 60,
    // A caller that aborts during a query can permanently break the server's only connection to SQLite.
    brokenSeconds: 3,
    isReady: () => isTemporalReady(temporalUiUrl(options)),
    log: options.log,
  });
  await server.start();
  keepPrivate(store);
  return server;
}

/** The server makes its store readable for all; the files that SQLite makes beside it later have the rights of the store. */
function keepPrivate(store: string): void {
  for (const suffix of ['', '-wal', '-shm']) if (existsSync(store + suffix)) chmodSync(store + suffix, 0o600);
}

/** Deletes Temporal's store. Temporal must be stopped. */
export function wipeTemporalStore(dataDir: string): void {
  for (const suffix of ['', '-wal', '-shm', '-journal'])
    rmSync(`${storeFile(dataDir)}${suffix}`, { force: true });
}

function storeFile(dataDir: string): string {
  return join(dataDir, 'temporal.db');
}

/**
 * Whether the server serves from its store. It answers before namespace and search attributes exist; a workflow started
 * then would fail, and a query by these attributes is refused. A list of the attributes themselves is not asked for: the
 * server opens a connection to itself for each such call and never closes it.
 */
export async function isTemporalReady(uiUrl: string): Promise<boolean> {
  const namespace = `${uiUrl}/api/v1/namespaces/${TEMPORAL_NAMESPACE}`;
  const filters = Object.entries(SEARCH_ATTRIBUTES).map(([name, type]) =>
    type === 'Int' ? `${name} = 0` : `${name} = ''`,
  );
  const query = new URLSearchParams({ pageSize: '1', query: filters.join(' and ') });
  const answers = await Promise.all(
    [namespace, `${namespace}/workflows?${query}`].map(async (address) => {
      const response = await fetch(address, { signal: AbortSignal.timeout(READY_MILLISECONDS) });
      await response.arrayBuffer();
      return response.ok;
    }),
  );
  return answers.every(Boolean);
}
