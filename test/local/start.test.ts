import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import pg from 'pg';
import { afterAll, expect, onTestFinished, test, vi } from 'vitest';
import { freePort, rememberedPorts } from '../../local/ports.ts';
import { isAlive, readIdentity } from '../../local/process-identity.ts';
import { removeData } from '../../local/stack.ts';
import { eventually } from '../support/eventually.ts';
import { temporaryDataFolder } from '../support/global-setup.ts';

const bootstrap = fileURLToPath(new URL('../../local/bootstrap.mjs', import.meta.url));
const starting = new URL('../../local/prepare/starting.mjs', import.meta.url).href;
const checkout = fileURLToPath(new URL('../../', import.meta.url));
/** An address of this machine that others see; undefined where it has none. */
const outerAddress = Object.values(networkInterfaces())
  .flat()
  .find((one) => one?.internal === false && one.family === 'IPv4')?.address;
const dataDir = temporaryDataFolder();
const READY_MILLISECONDS = 200_000;
/** Two whole starts and stops, on a machine that may be busy with other tests. */
const TEST_MILLISECONDS = 600_000;

afterAll(() => removeData(dataDir));

interface Start {
  child: ChildProcess;
  /** What the person has seen so far. */
  output: () => string;
  ended: Promise<number | null>;
}

function start(port: number, more: Record<string, string> = {}): Start {
  const { DATABASE_URL, REPORT_DATABASE_URL, TEMPORAL_ADDRESS, S3_ENDPOINT, ADMIN_PASSWORD, HOST, ...env } =
    process.env;
  const child = spawn(process.execPath, [bootstrap, 'start'], {
    env: { ...env, PORT: String(port), DATA_DIR: dataDir, SDK_RUNNERS_DIR: import.meta.dirname, ...more },
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
    const { isStarting } = (await import(starting)) as { isStarting(dataDir: string): boolean };
    await eventually('the start has begun', async () => isStarting(dataDir));
    const early = demo({ DATA_DIR: dataDir });
    const text = await untilReady(first);
    const password = /admin \/ (\S+)/.exec(text)?.[1] ?? '';
    // Soon: connections that are idle for a minute are closed.
    expect(await databaseUsers()).toEqual({ working: ['sdp_app', 'sdp_report'], owning: ['sdp_migrate'] });
    expect(text).toContain(`http://localhost:${port}`);
    expect((await fetch(`http://127.0.0.1:${port}/health_check`)).status).toBe(200);
    const signedIn = { status: 200, dataSources: ['default', 'platform'] };
    expect(await signIn(port, password)).toEqual(signedIn);

    // Plain HTTP: for this machine alone, unless HOST names another address.
    expect(text).toMatch(/Listening on +127\.0\.0\.1.*this machine.*HOST=0\.0\.0\.0 npm start/);
    expect(await isReached(outerAddress, port)).toBe(outerAddress === undefined ? undefined : false);

    // The README's second command, unchanged, entered before the first was ready.
    const shown = await early;
    expect(shown).toMatchObject({ code: 0 });
    expect(shown.output).toContain('Waiting until `npm start` is ready');
    expect(shown.output).toMatch(/Dashboard +http:\/\/127\.0\.0\.1:\d+\/dashboards\/\d+/);

    const running = join(dataDir, 'running.json');
    expect(JSON.parse(readFileSync(running, 'utf8'))).toMatchObject({ address: `http://127.0.0.1:${port}` });
    expect(statSync(running).mode & 0o077).toBe(0);
    expect(filesHolding(password)).toEqual([]);

    const refused = start(await freePort());
    expect(await refused.ended).toBe(1);
    expect(refused.output()).toContain('is in use by another start');
    // Commands still find the one that runs.
    expect(existsSync(running)).toBe(true);

    const children = readdirSync(join(dataDir, 'run')).map((name) =>
      readIdentity(join(dataDir, 'run', name)),
    );
    const alive = children.filter((identity) => identity !== undefined);
    // Three servers, API, worker and the host of deployed runners.
    expect(alive).toHaveLength(6);
    const host = readIdentity(join(dataDir, 'run', 'runner-host.pid'))!;
    const given = readFileSync(`/proc/${host.pid}/environ`, 'utf8');
    expect(given).toMatch(/(^|\0)RUNNER_HOST_KEY=[0-9a-f]{64}/);
    expect(given).not.toMatch(/(^|\0)(\w*DATABASE_URL|\w*(?<!RUNNER_HOST)_KEY|S3_\w+|TEMPORAL_\w+)(_FILE)?=/);
    first.child.kill('SIGINT');
    expect(await first.ended).toBe(0);
    expect(alive.filter(isAlive)).toEqual([]);
    expect(existsSync(running)).toBe(false);

    const second = start(port, { HOST: '0.0.0.0' });
    const again = await untilReady(second);
    expect(again).not.toContain('First sign-in');
    expect(again).toMatch(/Listening on +0\.0\.0\.0.*plain HTTP/);
    expect(await isReached(outerAddress, port)).toBe(outerAddress === undefined ? undefined : true);
    expect(await signIn(port, password)).toEqual(signedIn);
    await demoAfterChanges(port, password);
    second.child.kill('SIGTERM');
    expect(await second.ended).toBe(0);
  },
  TEST_MILLISECONDS,
);

/** Whether the port answers at the address; undefined without an address. */
async function isReached(address: string | undefined, port: number): Promise<boolean | undefined> {
  if (address === undefined) return undefined;
  const answer = fetch(`http://${address}:${port}/health_check`, { signal: AbortSignal.timeout(5_000) });
  return await answer.then(
    () => true,
    () => false,
  );
}

/** `npm run demo`, without a terminal to ask at. */
async function demo(
  variables: Record<string, string>,
  args: readonly string[] = [],
): Promise<{ code: number; output: string }> {
  const { ADMIN_PASSWORD, SDP_URL, SDP_TOKEN, PORT, HOST, ...env } = process.env;
  const run = promisify(execFile)('npm', ['run', '--silent', 'demo', '--', ...args], {
    cwd: checkout,
    env: { ...env, ...variables },
    timeout: 280_000,
  });
  run.child.stdin?.end();
  return await run.then(
    ({ stdout, stderr }) => ({ code: 0, output: stdout + stderr }),
    (error: { code: number; stdout: string; stderr: string }) => ({
      code: error.code,
      output: error.stdout + error.stderr,
    }),
  );
}

/** The demonstration needs no password, finds the platform by PORT and SDP_URL, and names what is missing. */
async function demoAfterChanges(port: number, password: string): Promise<void> {
  const url = `http://127.0.0.1:${port}`;
  const send = async (path: string, body: object, token = '') => {
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` };
    return await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) });
  };
  const signedIn = await send('/api/authorization/token', { username: 'admin', password });
  const { accessToken, user } = (await signedIn.json()) as { accessToken: string; user: { userId: string } };
  const change = { password: 'another password of theirs', currentPassword: password };
  const path = `/api/authorization/users/${user.userId}/password`;
  expect((await send(path, change, accessToken)).ok).toBe(true);
  expect(await demo({ DATA_DIR: dataDir, PORT: String(port) })).toMatchObject({ code: 0 });
  const file = join(dataDir, 'lap 1.csv');
  writeFileSync(file, 'time,speed\n0,1\n1,2\n');
  const own = await demo({ DATA_DIR: dataDir, SDP_URL: `http://localhost:${port}` }, ['--file', file]);
  expect(own).toMatchObject({ code: 0, output: expect.stringContaining('(lap 1.csv, ') });
  // Another data folder, so presumably another platform.
  const stranger = await demo({ DATA_DIR: join(dataDir, 'logs'), SDP_URL: url });
  expect(stranger.code).toBe(1);
  expect(stranger.output.trim()).toMatch(/^The password is missing: .*ADMIN_PASSWORD.*--password.*$/);
}

/** The role of the processes in the embedded database, and the owner of its tables; read by the server's superuser. */
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

/** Logs and notes that contain a secret which may be shown only once. */
function filesHolding(secret: string): string[] {
  const files = ['logs', '.'].flatMap((folder) =>
    readdirSync(join(dataDir, folder), { withFileTypes: true })
      .filter((entry) => entry.isFile() && !entry.name.startsWith('temporal.db'))
      .map((entry) => join(dataDir, folder, entry.name)),
  );
  return files.filter((file) => readFileSync(file, 'utf8').includes(secret));
}
