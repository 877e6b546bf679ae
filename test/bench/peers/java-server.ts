import { type ChildProcess, spawn } from 'node:child_process';
import { openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { freePort } from '../../../local/ports.ts';
import { removeData, type Stack, startStack } from '../../../local/stack.ts';
import { temporaryDataFolder } from '../../support/global-setup.ts';

const readySeconds = 180;

export interface JavaServer {
  readonly url: string;
  /** The processes of the server and of its PostgreSQL. */
  pids(): readonly number[];
  stop(): Promise<void>;
}

/**
 * Starts an engine of Java on a database of its own of the PostgreSQL that `npm start` brings.
 * @param options `health`: a path that answers 200 when it is ready
 */
export async function startJava(options: {
  readonly jar: string;
  readonly health: string;
  readonly settings: Readonly<Record<string, string>>;
}): Promise<JavaServer> {
  const dataDir = temporaryDataFolder();
  const stack = await startStack({ dataDir, log: () => undefined });
  const port = await freePort();
  const database = await newDatabase(stack);
  const settings: Record<string, string> = {
    'server.port': String(port),
    'spring.datasource.url': `jdbc:postgresql://${database.host}${database.pathname}`,
    'spring.datasource.username': decodeURIComponent(database.username),
    'spring.datasource.password': decodeURIComponent(database.password),
    ...options.settings,
  };
  const logFile = join(dataDir, 'logs', 'engine.log');
  const log = openSync(logFile, 'a');
  const properties = Object.entries(settings).map(([name, value]) => `--${name}=${value}`);
  const child = spawn('java', ['-Xmx1g', '-jar', options.jar, ...properties], {
    stdio: ['ignore', log, log],
  });
  const stop = async () => {
    child.kill('SIGKILL');
    await stack.stop();
    await removeData(dataDir);
  };
  const url = `http://127.0.0.1:${port}`;
  await ready(url + options.health, child).catch(async (error) => {
    console.error(readFileSync(logFile, 'utf8').slice(-5_000));
    await stop();
    throw error;
  });
  return { url, pids: () => [child.pid ?? 0, stack.postgres?.pid ?? 0], stop };
}

async function newDatabase({ environment }: Stack): Promise<URL> {
  const client = new pg.Client({ connectionString: environment.DATABASE_URL ?? '' });
  await client.connect();
  await client.query('create database peer');
  await client.end();
  const url = new URL(environment.DATABASE_URL ?? '');
  url.pathname = '/peer';
  return url;
}

async function ready(url: string, child: ChildProcess): Promise<void> {
  for (let second = 0; second < readySeconds; second += 1) {
    if (child.exitCode !== null) throw new Error(`The engine ended with code ${child.exitCode}.`);
    const isReady = await fetch(url).then(
      (answer) => answer.ok,
      () => false,
    );
    if (isReady) return;
    await delay(1_000);
  }
  throw new Error(`The engine was not ready after ${readySeconds} seconds.`);
}
