/** The end of a task with the claim of the next one, in one transaction. */
import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { endTask, type TaskEnd } from '../../../store/runs/end-task.ts';
import { databaseStage } from '../../support/databases.ts';
import { eventually } from '../../support/eventually.ts';
import { chain, claim, finish, makeGraph, outsideTemplate, upload, writeOne } from '../../support/graph.ts';

const { database } = await databaseStage(6);

const completed: TaskEnd = { kind: 'complete', outcome: 'completed', hasMore: false };

/** A runner that holds the first task of a chain and has written its output. */
async function heldChain(length: number) {
  const template = `ended-${randomUUID()}`;
  await outsideTemplate(database, template);
  const graph = await makeGraph(database, chain(length, template));
  await upload(database, graph, 'input');
  const runner = { holder: 'token', instanceId: randomUUID() };
  const task = (await claim(database, runner, template))!;
  await writeOne(database, runner, graph, task);
  const end = (leaseSeconds = 30) =>
    endTask(database, { ...runner, taskId: task.taskId }, completed, {
      digest: 'end',
      jitter: 0,
      next: { template, leaseSeconds },
    });
  const openClaims = async (instanceId = runner.instanceId) =>
    (
      await database.query<{ taskId: string }>(
        'select task_id from node_claim where instance_id = $1 and ended_at is null',
        [instanceId],
      )
    ).map((row) => row.taskId);
  return { graph, runner, task, template, end, openClaims };
}

test('the claim finds the run that the end of the task queued', async () => {
  const { end, openClaims } = await heldChain(2);
  const ended = await end();
  expect(ended).toMatchObject({ kind: 'ended', next: { task: { nodeName: 'n2', reason: 'input' } } });
  expect(await openClaims()).toEqual([ended.kind === 'ended' ? ended.next?.task?.taskId : undefined]);
});

test('without a run in the queue the claim is registered and gets nothing', async () => {
  const { runner, end, openClaims } = await heldChain(1);
  const [before] = await database.query<{ claimSeq: number }>(
    'select claim_seq from runner_instance where instance_id = $1',
    [runner.instanceId],
  );
  const ended = await end();
  expect(ended).toMatchObject({
    kind: 'ended',
    next: { claimSeq: before!.claimSeq + 1, holdsTask: false, drained: false, task: undefined },
  });
  expect(await openClaims()).toEqual([]);
});

test('the end stands when its claim fails', async () => {
  const { graph, task, end, openClaims } = await heldChain(2);
  // No interval is that long.
  const ended = await end(Number.MAX_VALUE);
  expect(ended).toMatchObject({ kind: 'ended', reply: { taskId: task.taskId, nodeState: 'Succeeded' } });
  expect(ended).not.toHaveProperty('next');
  expect(await openClaims()).toEqual([]);
  const [output] = await database.query<{ position: number | null }>(
    'select position from node_output where node_instance_id = $1',
    [graph.nodes.n1!],
  );
  expect(output!.position).not.toBeNull();
});

test('an end that is refused claims nothing', async () => {
  const { graph, runner, task, template, end, openClaims } = await heldChain(1);
  const other = await makeGraph(database, chain(1, template));
  await upload(database, other, 'input');
  await finish(database, runner, graph, task);
  expect((await end()).kind).toBe('refused');
  expect(await openClaims()).toEqual([]);
});

test('a repeat of the end is answered as before, and claims nothing', async () => {
  const { end, openClaims } = await heldChain(2);
  const first = await end();
  const claimed = await openClaims();
  const repeat = await end();
  expect(repeat).toEqual({ kind: 'repeated', reply: first.kind === 'ended' ? first.reply : undefined });
  expect(await openClaims()).toEqual(claimed);
});

test('two runners that end and claim the tasks of two sessions end them all', async () => {
  const rounds = 12;
  const template = `crossed-${randomUUID()}`;
  await outsideTemplate(database, template);
  const graphs = await Promise.all([0, 1].map(() => makeGraph(database, chain(rounds, template))));
  for (const graph of graphs) await upload(database, graph, 'input');
  const graphOf = new Map(graphs.map((graph) => [graph.sessionId, graph]));
  const ends = await Promise.all(
    graphs.map(async () => {
      const runner = { holder: 'token', instanceId: randomUUID() };
      let task = await claim(database, runner, template);
      let count = 0;
      while (task !== undefined) {
        await writeOne(database, runner, graphOf.get(task.sessionId)!, task);
        const next = { template, leaseSeconds: 30 };
        const ended = await endTask(database, { ...runner, taskId: task.taskId }, completed, {
          digest: 'end',
          jitter: 0,
          next,
        });
        if (ended.kind !== 'ended') throw new Error(`It was ${ended.kind}.`);
        count += 1;
        task = ended.next?.task;
      }
      return count;
    }),
  );
  expect(ends.reduce((sum, count) => sum + count, 0)).toBe(2 * rounds);
});

test('a claim that waits for its instance does not end the task twice', async () => {
  const { runner, task, end, openClaims } = await heldChain(2);
  let ending: ReturnType<typeof end> | undefined;
  await database.transaction(async (tx) => {
    await tx.query('select 1 from runner_instance where instance_id = $1 for update', [runner.instanceId]);
    ending = end();
    await eventually('it waits', async () => {
      const [row] = await database.query<{ count: number }>(
        `select count(*)::int as count from pg_stat_activity where wait_event_type = 'Lock' and query like '%node_claim%'`,
      );
      return row!.count > 0;
    });
  });
  expect(await ending).toMatchObject({ kind: 'ended', reply: { taskId: task.taskId } });
  expect(await openClaims()).toHaveLength(1);
});
