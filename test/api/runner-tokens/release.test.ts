/** The tasks of ended tokens, where some of them cannot be released: nothing else waits for these. */
import { randomUUID } from 'node:crypto';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { releaseEndedTasks } from '../../../api/runner-tokens/release-ended-tasks.ts';
import { connected, databaseStage } from '../../support/databases.ts';
import { eventually } from '../../support/eventually.ts';
import { claim, makeGraph, outsideTemplate, upload } from '../../support/graph.ts';

const { platform, database } = await databaseStage(8);
const release = () => releaseEndedTasks({ database, log: pino({ level: 'silent' }) });

async function endedToken(): Promise<string> {
  const id = randomUUID();
  await database.query(
    `insert into runner_token (id, digest, hint, label, runner_types, scopes, created_at, expires_at, revoked_at)
     select $1, $2, '', '', '{}', '{}', now, now + interval '1 hour', now - interval '3 minutes'
       from clock_timestamp() as now`,
    [id, Buffer.from(id)],
  );
  return id;
}

/** A session with tasks that the token holds although it has ended. */
async function heldBy(tokenId: string, count: number) {
  const template = `t-${randomUUID()}`;
  await outsideTemplate(database, template);
  const nodes = Array.from({ length: count }, (_, at) => ({ name: `n${at}`, parents: ['input'], template }));
  const graph = await makeGraph(database, [{ name: 'input', parents: [] }, ...nodes]);
  await upload(database, graph, 'input');
  const { sessionId } = graph;
  await database.query('update runner_token set revoked_at = null where id = $1', [tokenId]);
  const taskIds: string[] = [];
  for (let at = 0; at < count; at += 1) {
    const task = await claim(database, { holder: `token:${tokenId}`, instanceId: randomUUID() }, template);
    taskIds.push(task!.taskId);
  }
  await database.query(
    `update runner_token set revoked_at = clock_timestamp() - interval '3 minutes' where id = $1`,
    [tokenId],
  );
  return { sessionId, taskIds };
}

const openOf = async (taskIds: readonly string[]) => {
  const rows = await database.query<{ taskId: string }>(
    'select task_id from node_claim where task_id = any ($1::uuid[]) and ended_at is null',
    [taskIds],
  );
  return rows.map(({ taskId }) => taskId);
};
const isSettled = async (tokenId: string) =>
  (await database.query('select 1 from runner_token where id = $1 and settled', [tokenId])).length > 0;

test('a task that cannot be released keeps no other from it, and no other token from being settled', async () => {
  const [broken, others] = [await heldBy(await endedToken(), 1), await heldBy(await endedToken(), 12)];
  const endedLongAgo = await endedToken();
  await database.query(
    `create function refuse() returns trigger language plpgsql as $$ begin raise 'refused'; end $$`,
  );
  await database.query(
    `create trigger refuse before update on node_claim for each row
       when (new.task_id = '${broken.taskIds[0]}') execute function refuse()`,
  );
  await release();
  expect(await openOf([...broken.taskIds, ...others.taskIds])).toEqual(broken.taskIds);
  expect(await isSettled(endedLongAgo)).toBe(true);
  await database.query('drop trigger refuse on node_claim');
  await release();
  expect(await openOf(broken.taskIds)).toEqual([]);
});

test('a session that a stalled process has locked keeps no other session waiting', async () => {
  const locked = await heldBy(await endedToken(), 6);
  const others = await Promise.all(Array.from({ length: 6 }, async () => heldBy(await endedToken(), 1)));
  const stalled = await connected(platform.databaseUrl);
  await stalled.query('begin');
  await stalled.query('select 1 from session where id = $1 for update', [locked.sessionId]);
  const released = release();
  await eventually('all others are released', async () => {
    const open = await openOf(others.flatMap(({ taskIds }) => taskIds));
    return open.length === 0;
  });
  expect(await openOf(locked.taskIds)).toHaveLength(6);
  await stalled.end();
  await released;
  await eventually('and then these', async () => {
    await release();
    return (await openOf(locked.taskIds)).length === 0;
  });
});
