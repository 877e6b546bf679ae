/** Every write of a holder locks the run before the claim, as every end of a task does: the two cannot deadlock. */
import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import type { RunnerIdentity } from '../../store/runners/holder.ts';
import type { ClaimedTask } from '../../store/runs/claims.ts';
import { endTask } from '../../store/runs/end-task.ts';
import { writeWatermark } from '../../store/runs/watermark.ts';
import { databaseStage } from '../support/databases.ts';
import { eventually } from '../support/eventually.ts';
import { chain, claim, type Graph, makeGraph, outsideTemplate, upload, writeOne } from '../support/graph.ts';

const { database } = await databaseStage(4);

interface Held {
  readonly graph: Graph;
  readonly holder: RunnerIdentity;
  readonly task: ClaimedTask;
  readonly inputId: number;
}

/** A held task that has staged the output `stands`. */
async function held(): Promise<Held> {
  const template = `locked-${randomUUID()}`;
  await outsideTemplate(database, template, { incremental: true });
  const graph = await makeGraph(database, chain(1, template));
  const { output } = await upload(database, graph, 'input');
  const holder = { holder: 'token', instanceId: randomUUID() };
  const task = (await claim(database, holder, template))!;
  await writeOne(database, holder, graph, task, 'stands');
  return { graph, holder, task, inputId: output.id };
}

const calls: Record<string, (held: Held) => Promise<{ readonly kind: string }>> = {
  'a resend of an output': ({ graph, holder, task }) => writeOne(database, holder, graph, task, 'stands'),
  'an output with its watermark': ({ graph, holder, task, inputId }) =>
    writeOne(database, holder, graph, task, 'new', inputId),
  'a move of the watermark': ({ holder, task, inputId }) =>
    writeWatermark(database, { ...holder, taskId: task.taskId }, inputId, undefined),
  'the end of the task': ({ holder, task }) =>
    endTask(
      database,
      { ...holder, taskId: task.taskId },
      { kind: 'complete', outcome: 'completed', hasMore: false },
      { digest: 'end', jitter: 0 },
    ),
};

test.for(Object.keys(calls))('%s that waits for the claim has locked the run', async (name) => {
  const world = await held();
  const { taskId, runId } = world.task;
  const { call, isLocked } = await database.transaction(async (tx) => {
    const [self] = await tx.query<{ pid: number }>(
      'select pg_backend_pid() as pid from node_claim where task_id = $1 for update',
      [taskId],
    );
    const call = calls[name]!(world);
    await eventually('the call waits for the claim', async () => {
      const waiting = await database.query(
        'select 1 from pg_stat_activity where $1 = any (pg_blocking_pids(pid))',
        [self!.pid],
      );
      return waiting.length === 1;
    });
    const free = await tx.query('select 1 from node_run where id = $1 for update skip locked', [runId]);
    return { call: call.catch((error: Error) => ({ kind: error.message })), isLocked: free.length === 0 };
  });
  expect(isLocked).toBe(true);
  expect((await call).kind).toMatch(/^(existing|created|moved|ended)$/);
});
