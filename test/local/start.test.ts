import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { afterAll, expect, onTestFinished, test, vi } from 'vitest';
import { freePort, rememberedPorts } from '../../local/ports.ts';
import { isAlive, readIdentity } from '../../local/process-identity.ts';
import { removeData } from '../../local/stack.ts';
import { temporaryDataFolder } from '../support/global-setup.ts';

const startScript = fileURLToPath(new URL('../../local/start.ts', import.meta.url));
const dataDir = temporaryDataFolder();
const READY_MILLISECONDS = 90_000;
/** Two whole starts and stops, on a machine that may be busy with other tests. */
const TEST_MILLISECONDS = 240_000;

afterAll(() => removeData(dataDir));

interface Start {
  child: ChildProcess;
  /** What the person has seen so far. */
  output: () => string;
  ended: Promise<number | null>;
}

function start(port: number): Start {
  const { DATABASE_URL, REPORT_DATABASE_URL, TEMPORAL_ADDRESS, S3_ENDPOINT, ADMIN_PASSWORD, ...env } =
    process.env;
  const child = spawn(process.execPath, [startScript], {
    env: { ...env, PORT: String(port), DATA_DIR: dataDir, SDK_RUNNERS_DIR: import.meta.dirname },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(() => {
    child.kill('SIGTERM');
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk) => {
      output += chunk;
    });
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve));
  return { child, output: () => output, ended };
}

async function untilReady(running: Start): Promise<string> {
  const isReady = () =>
    running.output().includes('The platform is ready.') || running.child.exitCode !== null;
  await vi.waitUntil(() => isReady() && /Ctrl-C/.test(running.output()), { timeout: READY_MILLISECONDS });
  return running.output();
}

/** Signs in; the status, and what an Administrator then sees of the data sources. */
async function signIn(port: number, password: string): Promise<{ status: number; dataSources: string[] }> {
  const response = await fetch(`http://127.0.0.1:${port}/api/authorization/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ username: 'admin', password }),
  });
  const { accessToken } = (await response.json()) as { accessToken?: string };
  const listed = await fetch(`http://127.0.0.1:${port}/api/v2/admin/data-sources`, {
    headers: { authorization: `Bearer ${accessToken}` },
  });
  const dataSources = listed.ok ? ((await listed.json()) as { name: string }[]) : [];
  return { status: response.status, dataSources: dataSources.map(({ name }) => name) };
}

test(
  'one command starts everything, the first credentials work, Ctrl-C leaves nothing running, and a later start keeps the data',
  async () => {
    const port = await freePort();
    const first = start(port);
    const text = await untilReady(first);
    const password = /admin \/ (\S+)/.exec(text)?.[1] ?? '';
    expect(text).toContain(`http://localhost:${port}`);
    expect((await fetch(`http://127.0.0.1:${port}/health_check`)).status).toBe(200);
    const signedIn = { status: 200, dataSources: ['default', 'platform'] };
    expect(await signIn(port, password)).toEqual(signedIn);

    expect(await databaseUsers()).toEqual({ working: ['sdp_app', 'sdp_report'], owning: ['sdp_migrate'] });

    const running = join(dataDir, 'running.json');
    expect(JSON.parse(readFileSync(running, 'utf8'))).toMatchObject({ address: `http://127.0.0.1:${port}` });
    expect(statSync(running).mode & 0o077).toBe(0);
    expect(filesHolding(password)).toEqual([]);

    const children = readdirSync(join(dataDir, 'run')).map((name) =>
      readIdentity(join(dataDir, 'run', name)),
    );
    const alive = children.filter((identity) => identity !== undefined);
    // Three servers, API, two workers and the host of deployed runners.
    expect(alive).toHaveLength(7);
    first.child.kill('SIGINT');
    expect(await first.ended).toBe(0);
    expect(alive.filter(isAlive)).toEqual([]);
    expect(existsSync(running)).toBe(false);

    const second = start(port);
    const again = await untilReady(second);
    expect(again).not.toContain('First sign-in');
    expect(await signIn(port, password)).toEqual(signedIn);
    second.child.kill('SIGTERM');
    expect(await second.ended).toBe(0);
  },
  TEST_MILLISECONDS,
);

/** As whom the processes work on the embedded database, and who owns its tables; seen by the server's superuser. */
async function databaseUsers(): Promise<{ working: string[]; owning: string[] }> {
  const { postgresPassword } = JSON.parse(readFileSync(join(dataDir, 'keys.json'), 'utf8'));
  const port = rememberedPorts(dataDir).postgres;
  const client = new pg.Client(`postgresql://platform:${postgresPassword}@127.0.0.1:${port}/platform`);
  await client.connect();
  try {
    const namesOf = async (statement: string) =>
      (await client.query<{ name: string }>(statement)).rows.map(({ name }) => name).sort();
    return {
      working: await namesOf(
        `select distinct usename as name from pg_stat_activity
          where datname = current_database() and backend_type = 'client backend' and pid <> pg_backend_pid()`,
      ),
      owning: await namesOf(
        `select distinct relowner::regrole::text as name from pg_class
          where relkind = 'r' and relnamespace in ('public'::regnamespace, 'auth'::regnamespace)`,
      ),
    };
  } finally {
    await client.end();
  }
}

/** Logs and notes in which a secret stands that was to be shown once. */
function filesHolding(secret: string): string[] {
  const files = ['logs', '.'].flatMap((folder) =>
    readdirSync(join(dataDir, folder), { withFileTypes: true })
      .filter((entry) => entry.isFile() && !entry.name.startsWith('temporal.db'))
      .map((entry) => join(dataDir, folder, entry.name)),
  );
  return files.filter((file) => readFileSync(file, 'utf8').includes(secret));
}
