/** Which leases end, beside processes that come and go, holders that renew, and sessions that are locked. */
import { randomUUID } from 'node:crypto';
import { beforeEach, expect, test } from 'vitest';
import { leaseTimes } from '../../../domain/runs/lease-times.ts';
import type { Database } from '../../../store/connection/database.ts';
import { builtinHolder } from '../../../store/runners/holder.ts';
import { endOverdueClaims, recordProcessHeartbeat } from '../../../store/runs/expire-leases.ts';
import { databaseStage } from '../../support/databases.ts';
import { chain, claim, makeGraph, outsideTemplate, upload } from '../../support/graph.ts';

const { database } = await databaseStage(8);
beforeEach(() => database.query('delete from node_claim'));

const heartbeatAgo = (seconds: number) =>
  database.query(
    `with gone as (delete from platform_process)
     insert into platform_process (process_id, heartbeat_at)
     values (gen_random_uuid(), clock_timestamp() - make_interval(secs => $1))`,
    [seconds],
  );

/** A held task whose lease ended so many seconds ago. */
async function held(overSeconds: number) {
  const template = `outside-${randomUUID()}`;
  await outsideTemplate(database, template);
  const graph = await makeGraph(database, chain(1, template));
  await upload(database, graph, 'input');
  const { taskId } = (await claim(database, { holder: 'token', instanceId: randomUUID() }, template))!;
  await database.query(
    'update node_claim set lease_until = clock_timestamp() - make_interval(secs => $2) where task_id = $1',
    [taskId, overSeconds],
  );
  return { sessionId: graph.sessionId, taskId };
}

const endOverdue = async () =>
  (await endOverdueClaims(database, 10, () => 0)).map(({ sessionId }) => sessionId);
const secondsLeft = async (taskId: string) => {
  const [row] = await database.query<{ left: number }>(
    'select extract(epoch from lease_until - clock_timestamp())::float8 as left from node_claim where task_id = $1',
    [taskId],
  );
  return row!.left;
};

test('after a time without any process, leases that were alive at its beginning become whole again, and no others', async () => {
  const gap = leaseTimes.gapSeconds + 60;
  const [alive, over] = [await held(gap - 5), await held(gap + 5)];
  await heartbeatAgo(gap);
  expect(await recordProcessHeartbeat(database, randomUUID())).toBe(1);
  expect(await secondsLeft(alive.taskId)).toBeGreaterThan(20);
  expect(await secondsLeft(over.taskId)).toBeLessThan(0);
});

test('a process that begins beside others prolongs no lease', async () => {
  await held(-10);
  await heartbeatAgo(leaseTimes.gapSeconds / 2);
  expect(await recordProcessHeartbeat(database, randomUUID())).toBe(0);
});

test('a lease of a built-in node ends although no API process is up', async () => {
  const { sessionId, taskId } = await held(1);
  await heartbeatAgo(leaseTimes.gapSeconds + 60);
  expect(await endOverdue()).toEqual([]);
  await database.query('update node_claim set holder = $2 where task_id = $1', [taskId, builtinHolder]);
  expect(await endOverdue()).toEqual([sessionId]);
});

test('a lease that is renewed after it was found to be over goes on', async () => {
  const { sessionId, taskId } = await held(1);
  await heartbeatAgo(0);
  const renewing: Database = Object.create(database, {
    transaction: {
      value: async (work: Parameters<Database['transaction']>[0]) => {
        await database.query(
          `update node_claim set lease_until = clock_timestamp() + interval '1 minute' where task_id = $1`,
          [taskId],
        );
        return await database.transaction(work);
      },
    },
  });
  expect(await endOverdueClaims(renewing, 10, () => 0)).toEqual([]);
  await database.query('update node_claim set lease_until = clock_timestamp() where task_id = $1', [taskId]);
  expect(await endOverdue()).toEqual([sessionId]);
});

test('a session that stays locked keeps no lease of another from its end', async () => {
  const [locked, other] = [await held(2), await held(1)];
  await heartbeatAgo(0);
  await database.transaction(async (tx) => {
    await tx.query('select 1 from session where id = $1 for no key update', [locked.sessionId]);
    expect(await endOverdue()).toEqual([other.sessionId]);
  });
  expect(await endOverdue()).toEqual([locked.sessionId]);
});
