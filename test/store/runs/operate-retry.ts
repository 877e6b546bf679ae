/** Retrying failed runs. Run by operate-runs.test.ts in its world. */
import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { nodeStateCodes } from '../../../domain/runs/node-state.ts';
import { sweepSupersededOutputs } from '../../../store/outputs/versions.ts';
import { renewLease } from '../../../store/runners/lease.ts';
import { findNodeRun } from '../../../store/runs/node-runs.ts';
import { retryFailedRuns, retryRun } from '../../../store/runs/operate-runs.ts';
import { reconcileSession } from '../../../store/runs/reconcile-session.ts';
import { releaseHeldTask } from '../../../store/runs/release-claim.ts';
import { requestReprocess } from '../../../store/runs/reprocess.ts';
import { writeWatermark } from '../../../store/runs/watermark.ts';
import { freezeSession, unfreezeSession } from '../../../store/sessions/freeze-session.ts';
import { chain, makeGraph, operatorId, outsideTemplate, stateOf, upload } from '../../support/graph.ts';
import { broken, completed, type OperateWorld, unlucky } from './operate-world.ts';

export function retryTests(world: OperateWorld): void {
  const {
    database,
    holderOf,
    setUp,
    acquire,
    end,
    write,
    finishTask,
    uploadId,
    failedGraph,
    inputsOf,
    runsOf,
    goOn,
  } = world;

  describe('a run that failed for good is retried', () => {
    test('as the same run, with a new budget of attempts and a new back-off', async () => {
      const { template, graph } = await setUp({ maxAttempts: 2 });
      await upload(database, graph, 'input');
      const first = await acquire(template);
      const { runId } = first;
      await end(first, unlucky);
      await goOn(graph, runId);
      await end(await acquire(template), unlucky);
      expect(await stateOf(database, graph, 'n1')).toBe(nodeStateCodes.Failed);
      const retried = await retryRun(database, runId, operatorId);
      expect(retried).toMatchObject({
        outcome: 'queued',
        run: {
          id: runId,
          state: 'queued',
          nodeState: 'Pending',
          attempt: 3,
          maxAttempts: 4,
          isRetryable: false,
        },
      });
      const third = await acquire(template);
      expect(third).toMatchObject({ runId, attempt: 3, maxAttempts: 4, upperPosition: 1 });
      const failed = await end(third, unlucky);
      // Full delay of a first failure: the jitter is 0.
      expect(failed).toMatchObject({ reply: { willRetry: true } });
      expect((await reconcileSession(database, graph.sessionId))?.due?.dueInMs).toBeLessThanOrEqual(5_000);
      await goOn(graph, runId);
      expect(await finishTask(graph, await acquire(template))).toMatchObject({ kind: 'ended' });
      expect(await findNodeRun(database, runId)).toMatchObject({
        state: 'completed',
        attempts: [
          { number: 1, outcome: 'failed', category: 'error', details: 'No luck.' },
          { number: 2, outcome: 'failed', category: 'error' },
          { number: 3, outcome: 'failed', category: 'error' },
          { number: 4, outcome: 'completed', category: null },
        ],
      });
      expect(await runsOf(graph)).toHaveLength(1);
    });

    test('and the node’s children run when it succeeds', async () => {
      const { template, graph, runId } = await failedGraph({}, 2);
      await retryRun(database, runId, operatorId);
      await finishTask(graph, await acquire(template));
      expect(await acquire(template)).toMatchObject({ nodeName: 'n2' });
    });

    test('an incremental one continues at its watermark, within its bound', async () => {
      const { template, graph } = await setUp({ incremental: true });
      const ids = [await uploadId(graph), await uploadId(graph), await uploadId(graph)];
      const task = await acquire(template);
      await write(graph, task, 'first', ids[0]);
      await end(task, broken);
      await retryRun(database, task.runId, operatorId);
      const news = await uploadId(graph);
      const again = await acquire(template);
      expect(again).toMatchObject({ runId: task.runId, watermarkOutputId: ids[0], pendingInputs: 2 });
      expect(await inputsOf(again)).toEqual(ids.slice(1));
      for (const id of ids.slice(1)) await write(graph, again, `of-${id}`, id);
      expect(await end(again, completed)).toMatchObject({ kind: 'ended', reply: { nodeState: 'Pending' } });
      const next = await acquire(template);
      expect(await inputsOf(next)).toEqual([news]);
      expect(next.runId).not.toBe(task.runId);
      await end(next, broken);
    });

    test('a reprocess keeps its own watermark and its bound', async () => {
      const { template, graph } = await setUp({ incremental: true });
      await database.query(`update node_template set reprocess = 'all' where name = $1`, [template]);
      const ids = [await uploadId(graph), await uploadId(graph), await uploadId(graph)];
      const first = await acquire(template);
      for (const id of ids) await write(graph, first, `of-${id}`, id);
      await end(first, completed);
      await requestReprocess(database, graph.nodes.n1!);
      const replay = await acquire(template);
      await writeWatermark(database, { ...holderOf(replay), taskId: replay.taskId }, ids[0]!, undefined);
      await end(replay, broken);
      await retryRun(database, replay.runId, operatorId);
      const again = await acquire(template);
      expect(again).toMatchObject({ reason: 'reprocess', runId: replay.runId, watermarkOutputId: ids[0] });
      expect(await inputsOf(again)).toEqual(ids.slice(1));
      await end(again, broken);
      const [node] = await database.query<{ id: number }>(
        'select watermark_output_id as id from node_instance where id = $1',
        [graph.nodes.n1],
      );
      expect(node?.id).toBe(ids[2]);
    });

    test('its staged outputs are dropped, so that completing requires an output of the new attempt', async () => {
      const { template, graph } = await setUp();
      await upload(database, graph, 'input');
      const task = await acquire(template);
      await write(graph, task, 'staged');
      await end(task, broken);
      await retryRun(database, task.runId, operatorId);
      const again = await acquire(template);
      expect(await end(again, completed)).toEqual({ kind: 'refused', why: 'output-missing' });
      await write(graph, again, 'staged');
      expect(await end(again, completed)).toMatchObject({ kind: 'ended' });
    });

    test('earlier lost leases no longer count', async () => {
      const { template, graph } = await setUp({ maxAttempts: 20 });
      await upload(database, graph, 'input');
      const lose = async () => {
        const task = await acquire(template);
        await renewLease(database, { ...holderOf(task), taskId: task.taskId });
        await releaseHeldTask(database, holderOf(task));
        return task;
      };
      const { runId } = await lose();
      await lose();
      await lose();
      expect(await stateOf(database, graph, 'n1')).toBe(nodeStateCodes.Failed);
      await retryRun(database, runId, operatorId);
      await lose();
      await lose();
      expect(await acquire(template)).toMatchObject({ runId, attempt: 6 });
    });

    test('it reads the versions of its inputs that it had, also after a sweep', async () => {
      const { template, graph } = await setUp();
      await upload(database, graph, 'input', 'same');
      const task = await acquire(template);
      await end(task, broken);
      await retryRun(database, task.runId, operatorId);
      await upload(database, graph, 'input', 'same');
      await sweepSupersededOutputs(database, { olderThanSeconds: 0 });
      const again = await acquire(template);
      expect(await inputsOf(again, 'all')).toHaveLength(1);
      await end(again, broken);
    });

    test('also when it was held while its session was frozen', async () => {
      const { template, graph } = await setUp();
      await upload(database, graph, 'input');
      const task = await acquire(template);
      await freezeSession(database, graph.sessionId);
      await end(task, broken);
      expect(await retryRun(database, task.runId, operatorId)).toEqual({ outcome: 'frozen' });
      expect(await retryFailedRuns(database, graph.sessionId, operatorId)).toEqual({ outcome: 'frozen' });
      await unfreezeSession(database, graph.sessionId);
      await retryRun(database, task.runId, operatorId);
      expect(await acquire(template)).toMatchObject({ runId: task.runId, attempt: 2 });
    });

    test('a session with many of them does not hold up the first task of another', async () => {
      const template = `operated-${randomUUID()}`;
      await outsideTemplate(database, template);
      const nodes = Array.from({ length: 60 }, (_, index) => ({
        name: `n${index}`,
        parents: ['input'],
        template,
      }));
      const big = await makeGraph(database, [{ name: 'input', parents: [] }, ...nodes]);
      await upload(database, big, 'input');
      for (let index = 0; index < 60; index++) await end(await acquire(template), broken);
      expect(await retryFailedRuns(database, big.sessionId, operatorId)).toMatchObject({ retried: 60 });
      const small = await makeGraph(database, chain(1, template));
      await upload(database, small, 'input');
      let place = 0;
      while ((await acquire(template)).sessionId !== small.sessionId) place += 1;
      expect(place).toBeLessThan(30);
    });
  });
}
