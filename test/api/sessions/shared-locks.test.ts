/** The lock of a match key: how long others wait for it, and what happens when its holder stops. */
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { matchKeyText } from '../../../domain/sessions/shared-session.ts';
import { Database } from '../../../store/connection/database.ts';
import { keyBusy, matchKeyLock, withMatchKey } from '../../../store/sessions/match-key.ts';
import { startTestApi, type TestApi } from '../../support/api.ts';
import { testEnvironment } from '../../support/stack.ts';
import { stretched } from '../../support/stretched.ts';
import { routesOfSessions, type SessionWorld, sessionWorld } from './support.ts';

const platform = await testEnvironment();
let world: SessionWorld;
/** A second API process, as the database sees it: its own connections, its own queues. */
let second: TestApi;
beforeAll(async () => {
  world = await sessionWorld(platform);
  second = await startTestApi(platform.environment, { routes: routesOfSessions });
});
afterAll(async () => {
  await world.api.stop();
  await second.stop();
});

function lockOf(name: string): string {
  return matchKeyLock(
    matchKeyText({
      name,
      simulationName: 'sim',
      projectId: world.projectId,
      sessionTemplateId: world.templateId,
      machineGroup: 1,
      timeWindowSeconds: 300,
    }),
  );
}

test('a key that stays busy for longer than two seconds gets 503 with Retry-After, and nothing is written', async () => {
  const name = 'Busy';
  const holder = new pg.Client({ connectionString: platform.databaseUrl });
  await holder.connect();
  await holder.query('select pg_advisory_lock($1::bigint)', [lockOf(name)]);
  const before = performance.now();
  const answers = await Promise.all([
    world.join({ name }),
    world.join({ name }),
    world.join({ name: 'Not busy' }),
  ]);
  const tookMs = performance.now() - before;
  for (const answer of answers.slice(0, 2)) {
    expect(answer.status).toBe(503);
    expect(answer.headers.get('retry-after')).toBe('1');
    expect(answer.body).toEqual({
      status: 'error',
      message: 'Another request for the same session is in progress.',
    });
  }
  expect(answers[2]?.status).toBe(201);
  expect(tookMs).toBeGreaterThan(1_900);
  expect(tookMs).toBeLessThan(stretched(10_000));
  expect(await world.query('select 1 from session where name = $1', [name])).toEqual([]);
  const waiting = world.join({ name });
  await holder.query('select pg_advisory_unlock($1::bigint)', [lockOf(name)]);
  expect((await waiting).status).toBe(201);
  await holder.end();
});

test('a holder that stops in the middle loses the key within seconds; other transactions keep their own time', async () => {
  const stuck = await Database.open({ databaseUrl: platform.databaseUrl, poolSize: 1 });
  let began = () => {};
  const hasBegun = new Promise<void>((resolve) => {
    began = resolve;
  });
  let goOn = () => {};
  const over = withMatchKey(stuck, 'stuck', 2_000, async (tx) => {
    began();
    await new Promise<void>((resolve) => {
      goOn = resolve;
    });
    await tx.query('select 1');
  });
  const ended = over.then(
    () => 'committed',
    () => 'failed',
  );
  await hasBegun;
  const { database } = world.api.composed.services;
  const tries = [];
  for (let waited = 0; waited < 4; waited++)
    tries.push(
      await withMatchKey(database, 'stuck', 2_000, async (tx) => (await tx.query('select 1')).length),
    );
  expect(tries[0]).toBe(keyBusy);
  expect(tries.at(-1)).toBe(1);
  goOn();
  expect(await ended).toBe('failed');
  await stuck.close();
  const [setting] = await world.query<{ value: string }>(
    `select current_setting('idle_in_transaction_session_timeout') as value`,
  );
  expect(setting?.value).toBe('10s');
});

test('a failure in a shared transaction affects only its own request', async () => {
  const { database } = world.api.composed.services;
  const run = (value: number) =>
    withMatchKey(database, 'together', 2_000, async (tx) => {
      const [row] = await tx.query<{ result: number }>('select 6 / $1::int as result', [value]);
      return row?.result;
    });
  const results = await Promise.allSettled([1, 2, 0, 3, 0, 6].map(run));
  expect(results.map((result) => (result.status === 'fulfilled' ? result.value : 'failed'))).toEqual([
    6,
    3,
    'failed',
    2,
    'failed',
    1,
  ]);
});
