import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import {
  listTasksOfEndedTokens,
  settleEndedTokens,
  sweepRunnerTokens,
} from '../../store/runners/ended-tokens.ts';
import { acquireCreatorsToAsk, createRunnerToken, noteCreators } from '../../store/runners/runner-tokens.ts';
import { requeueTask } from '../../store/runs/release-claim.ts';
import { databaseStage } from '../support/databases.ts';
import { chain, claim, makeGraph, upload } from '../support/graph.ts';

const { database } = await databaseStage(8);

/** The database's clock, up to the next millisecond: a Date has no finer unit, and earlier events must not be after it. */
const clock = async () => {
  const [row] = await database.query<{ now: Date }>(
    "select date_trunc('milliseconds', clock_timestamp()) + interval '1 ms' as now",
  );
  return row!.now;
};
const makeCreator = (role: 'Administrator' | 'Developer' = 'Developer') => ({
  userId: randomUUID(),
  role,
  tokensRevokedAt: null,
});

async function makeToken(creator = makeCreator()) {
  const token = {
    digest: Buffer.from(randomUUID()),
    hint: 'hint',
    label: '',
    runnerTypes: ['outside-runner'],
    scopes: ['tasks'] as const,
    ttlHours: 1,
  };
  return createRunnerToken(database, token, creator, await clock());
}

const endAgo = (id: string, ago: string) =>
  database.query('update runner_token set revoked_at = clock_timestamp() - $2::interval where id = $1', [
    id,
    ago,
  ]);
const left = async (ids: readonly string[]) =>
  (
    await database.query<{ id: string }>('select id from runner_token where id = any ($1::uuid[])', [ids])
  ).map(({ id }) => id);

test('an ended token is checked until no claim of it can be left, and removed months later', async () => {
  const graph = await makeGraph(database, chain(1));
  await upload(database, graph, 'input');
  const made = await Promise.all([makeToken(), makeToken(), makeToken()]);
  const [busy, fresh, old] = made.map(({ id }) => id) as [string, string, string];
  const task = await claim(database, { holder: `token:${busy}`, instanceId: 'one' });
  await endAgo(busy, '3 minutes');
  await endAgo(fresh, '1 minute');
  await endAgo(old, '91 days');
  await settleEndedTokens(database);
  const settled = async () =>
    (await database.query<{ id: string }>('select id from runner_token where settled')).map(({ id }) => id);
  expect(await settled()).toEqual([old]);
  const { taskId } = task!;
  expect(await listTasksOfEndedTokens(database, 10)).toEqual([{ taskId, sessionId: graph.sessionId }]);
  expect(await requeueTask(database, taskId)).toBe(true);
  expect(await requeueTask(database, taskId)).toBe(false);
  await settleEndedTokens(database);
  expect((await settled()).sort()).toEqual([busy, old].sort());
  expect(await sweepRunnerTokens(database)).toBe(1);
  expect((await left([busy, fresh, old])).sort()).toEqual([busy, fresh].sort());
});

test('a token that was revoked or has expired since its caller was identified gets no task', async () => {
  const graph = await makeGraph(database, chain(1));
  await upload(database, graph, 'input');
  const { id } = await makeToken();
  const setToken = (change: string) =>
    database.query(`update runner_token set ${change} where id = $1`, [id]);
  const claimed = () => claim(database, { holder: `token:${id}`, instanceId: 'one' });
  await setToken('revoked_at = clock_timestamp()');
  expect(await claimed()).toBeUndefined();
  await setToken('revoked_at = null, expires_at = clock_timestamp()');
  expect(await claimed()).toBeUndefined();
  await setToken(`expires_at = clock_timestamp() + interval '1 hour'`);
  expect(await claimed()).toBeDefined();
});

test('of several concurrent checks of a creator one is made', async () => {
  const creator = makeCreator();
  await makeToken(creator);
  await database.query(
    `update runner_token_creator set asked_at = clock_timestamp() - interval '13.5 s' where user_id = $1`,
    [creator.userId],
  );
  const taken = await Promise.all(Array.from({ length: 6 }, () => acquireCreatorsToAsk(database, 13)));
  expect(taken.filter((one) => one?.userIds.includes(creator.userId))).toHaveLength(1);
});

test('creators whose tokens have all ended are not checked', async () => {
  const creator = makeCreator();
  const { id } = await makeToken(creator);
  await endAgo(id, '1 second');
  await database.query(`update runner_token_creator set asked_at = '-infinity' where user_id = $1`, [
    creator.userId,
  ]);
  expect((await acquireCreatorsToAsk(database, 13))?.userIds ?? []).not.toContain(creator.userId);
});

test('answers about many creators, written at once by several in any order, neither wait in a circle nor get lost', async () => {
  const creators = Array.from({ length: 40 }, () => makeCreator('Administrator'));
  const tokens = await Promise.all(creators.map((creator) => makeToken(creator)));
  const askedAt = await clock();
  const answers = creators.map(({ userId }) => ({ userId, role: null, tokensRevokedAt: null }));
  const shuffled = Array.from({ length: 6 }, () => [...answers].sort(() => Math.random() - 0.5));
  const noted = await Promise.all(shuffled.map((answer) => noteCreators(database, answer, askedAt)));
  expect(noted.reduce((sum, { ended }) => sum + ended, 0)).toBe(40);
  const [row] = await database.query<{ count: number }>(
    'select count(*) as count from runner_token where id = any ($1::uuid[]) and revoked_at is not null',
    [tokens.map(({ id }) => id)],
  );
  expect(row!.count).toBe(40);
});
