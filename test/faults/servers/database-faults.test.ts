/**
 * The database fails under every operation of the interface: each call is answered, by 503 with `Retry-After` where the
 * database was needed, and never by a failure that the interface does not name.
 */
import { setTimeout as delay } from 'node:timers/promises';
import fc from 'fast-check';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { callsOf, type GeneratedCall } from '../../api/generated/call.ts';
import { closeConnections, type RawAnswer, rawCall } from '../../api/generated/raw-call.ts';
import { World } from '../../api/generated/world.ts';
import { ask, startTestApi, type TestApi, tokenOf } from '../../support/api.ts';
import { eventually } from '../../support/eventually.ts';
import { interfaceDocument, type Operation, operationsOf } from '../../support/openapi.ts';
import { testEnvironment } from '../../support/stack.ts';

const platform = await testEnvironment({ ownStack: true });
const { postgres } = platform.stack!;
// A sign-out would end the token of a caller.
const operations = operationsOf(interfaceDocument()).filter(({ id }) => id !== 'signOut');
const atOnce = 16;
const catalogs = /^\/api\/v2\/dashboard\/(dimensions|reports)/;

let api: TestApi;
let world: World;
beforeAll(async () => {
  api = await startTestApi({ ...platform.environment, TRUSTED_PROXIES: '1' });
  world = new World(api, platform);
  await world.make();
});
afterAll(async () => {
  closeConnections();
  await api.stop();
});

/** The server's superuser, on a connection beside those of the platform. */
async function superuser(): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: platform.databaseUrl });
  client.on('error', () => undefined);
  await client.connect();
  return client;
}

/** The same database, with other limits for each statement. */
function withLimits(options: string): Record<string, string> {
  const limited = (url: string | undefined) => `${url}?options=${encodeURIComponent(options)}`;
  const { DATABASE_URL, REPORT_DATABASE_URL } = platform.environment;
  return {
    ...platform.environment,
    TRUSTED_PROXIES: '1',
    DATABASE_URL: limited(DATABASE_URL),
    REPORT_DATABASE_URL: limited(REPORT_DATABASE_URL),
    DATABASE_POOL_SIZE: '24',
  };
}

type Heard = { readonly operation: Operation; readonly call: GeneratedCall; readonly answer: RawAnswer };

/** Calls every operation, those that delete last. */
async function callAll(url: string, seed: number): Promise<Heard[]> {
  const ordered = operations.toSorted((one, other) => rank(one) - rank(other)).values();
  const heard: Heard[] = [];
  const lane = async () => {
    for (const operation of ordered) {
      const [call] = fc.sample(callsOf(operation, world), { seed, numRuns: 1 });
      heard.push({ operation, call: call!, answer: await rawCall(url, call!) });
    }
  };
  await Promise.all(Array.from({ length: atOnce }, lane));
  return heard;
}

const rank = ({ method, id }: Operation) =>
  ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].indexOf(method) + (/revoke/i.test(id) ? 5 : 0);

/** What no answer may contain while the database fails. */
function wrongOnes(heard: readonly Heard[]): string[] {
  return heard.flatMap(({ operation, call, answer: { status, headers, bytes } }) => {
    const isNamed =
      status < 500 ||
      (status === 503 && headers['retry-after'] !== undefined) ||
      (status === 502 && catalogs.test(operation.path)) ||
      (status === 500 && bytes.includes('"message":"Failed to create node output."'));
    return isNamed
      ? []
      : [`${operation.id} by ${call.caller.name}: ${status} ${bytes.toString().slice(0, 200)}`];
  });
}

const countOf = (heard: readonly Heard[], status: number) =>
  heard.filter(({ answer }) => answer.status === status).length;

async function expectServed(): Promise<void> {
  await eventually('everything answers', async () => {
    const token = await tokenOf(api.url, platform.administrator.username, platform.administrator.password);
    const { status } = await ask(api.url, 'GET', '/projects', { token });
    return status === 200 && (await ask(api.url, 'GET', '/health_check')).status === 200;
  });
}

const limits = [
  ['lock time-outs', '-c lock_timeout=100 -c statement_timeout=20000'],
  ['statement time-outs', '-c lock_timeout=0 -c statement_timeout=100'],
] as const;

test.for(limits)('%s, after the repeats', async ([, options]) => {
  const limited = await startTestApi(withLimits(options));
  const client = await superuser();
  try {
    const { rows } = await client.query<{ name: string }>(
      `select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname = 'public'`,
    );
    await client.query('begin');
    await client.query(`lock table ${rows.map(({ name }) => name).join(', ')} in access exclusive mode`);
    const heard = await callAll(limited.url, 11);
    await client.query('rollback');
    expect(wrongOnes(heard)).toEqual([]);
    // The calls failed because of the database.
    expect(countOf(heard, 503)).toBeGreaterThan(operations.length / 3);
  } finally {
    await client.end();
    await limited.stop();
  }
});

/** Calls every operation again and again, until enough of them met the fault. */
async function callDuring(fault: (isOver: () => boolean) => Promise<void>): Promise<Heard[]> {
  let isOver = false;
  const during = fault(() => isOver);
  const heard: Heard[] = [];
  try {
    for (let round = 0; round < 20 && countOf(heard, 503) < operations.length / 10; round += 1)
      heard.push(...(await callAll(api.url, 100 + round)));
  } finally {
    isOver = true;
    await during;
  }
  return heard;
}

test('connections that break at any moment', async () => {
  const heard = await callDuring(async (isOver) => {
    const client = await superuser();
    while (!isOver()) {
      await client.query(
        `select pg_terminate_backend(pid) from pg_stat_activity
          where datname = current_database() and pid <> pg_backend_pid()`,
      );
      await delay(15);
    }
    await client.end();
  });
  expect(wrongOnes(heard)).toEqual([]);
  expect(countOf(heard, 503)).toBeGreaterThanOrEqual(operations.length / 10);
  await expectServed();
});

test('every call is answered as documented while PostgreSQL restarts again and again', async () => {
  const heard = await callDuring(async (isOver) => {
    while (!isOver()) {
      await postgres!.stop();
      await delay(300);
      await postgres!.start();
      await delay(300);
    }
  });
  expect(wrongOnes(heard)).toEqual([]);
  expect(countOf(heard, 503)).toBeGreaterThanOrEqual(operations.length / 10);
  await expectServed();
});
