/** Cancelling runs. Run by operate-runs.test.ts in its world. */
import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { limits } from '../../../domain/limits.ts';
import { renewLease } from '../../../store/runners/lease.ts';
import type { ClaimedTask } from '../../../store/runs/claims.ts';
import { endOverdueClaims } from '../../../store/runs/expire-leases.ts';
import { findNodeRun } from '../../../store/runs/node-runs.ts';
import { cancelRun, retryRun } from '../../../store/runs/operate-runs.ts';
import { reconcileSession } from '../../../store/runs/reconcile-session.ts';
import { releaseHeldTask } from '../../../store/runs/release-claim.ts';
import { chain, changesBy, makeGraph, operatorId, upload } from '../../support/graph.ts';
import { broken, completed, type OperateWorld, unlucky } from './operate-world.ts';

export function cancelTests(world: OperateWorld): void {
  const { database, holderOf, setUp, tryTake, acquire, end, write, uploadId, failedGraph, runsOf } = world;

  describe('cancelling', () => {
    test('a queued run ends it at once, and its inputs make no other', async () => {
      const { template, graph } = await setUp({}, 2);
      await upload(database, graph, 'input');
      const [run] = await runsOf(graph);
      const changes = await changesBy(database, async () =>
        expect(await cancelRun(database, run!.id, operatorId)).toMatchObject({
          outcome: 'ended',
          run: {
            state: 'cancelled',
            nodeState: 'Failed',
            statusDetails: 'cancelled',
            isRetryable: true,
            attempts: [{ outcome: 'cancelled', startedAt: null, category: null }],
          },
        }),
      );
      expect(changes).toMatchObject([{ ended: [{ runId: run!.id, attempt: 1, outcome: 'cancelled' }] }]);
      expect(await tryTake(template)).toBeUndefined();
      await reconcileSession(database, graph.sessionId);
      expect(await runsOf(graph)).toHaveLength(1);
      expect(await cancelRun(database, run!.id, operatorId)).toMatchObject({ outcome: 'unchanged' });
      await retryRun(database, run!.id, operatorId);
      const again = await acquire(template);
      expect(again).toMatchObject({ runId: run!.id, attempt: 2, upperPosition: 1 });
      await end(again, broken);
      await uploadId(graph);
      expect(await acquire(template)).toMatchObject({ attempt: 1, upperPosition: 2 });
    });

    test('a run that waits for its retry ends it and drops what it staged', async () => {
      const { template, graph } = await setUp();
      await upload(database, graph, 'input');
      const task = await acquire(template);
      await write(graph, task);
      await end(task, unlucky);
      expect(await cancelRun(database, task.runId, operatorId)).toMatchObject({
        outcome: 'ended',
        run: { state: 'cancelled', nextAttemptAt: null },
      });
      const staged = 'select 1 from node_output where node_instance_id = $1';
      expect(await database.query(staged, [graph.nodes.n1])).toEqual([]);
      expect(await reconcileSession(database, graph.sessionId)).toMatchObject({ due: null });
    });

    test.each<[string, (task: ClaimedTask) => Promise<unknown>]>([
      ['completes', (task) => end(task, { ...completed, state: { laps: 1 } })],
      ['fails', (task) => end(task, unlucky)],
      ['gives it back', (task) => end(task, { kind: 'release' })],
      ['claims something else', (task) => releaseHeldTask(database, holderOf(task))],
      ['is never heard of again', (task) => loseLease(task)],
    ])(
      'a held run asks its holder; when it %s, the run has ended as cancelled and leaves nothing',
      async (_how, act) => {
        const { template, graph } = await setUp({ maxAttempts: 5 });
        await upload(database, graph, 'input');
        const task = await acquire(template);
        await write(graph, task);
        const outputs = 'select object_key from node_output where node_instance_id = $1';
        const [staged] = await database.query<{ objectKey: string }>(outputs, [graph.nodes.n1]);
        expect(await cancelRun(database, task.runId, operatorId)).toMatchObject({
          outcome: 'requested',
          run: { state: 'held', cancelRequested: true, heldBy: { instanceId: holderOf(task).instanceId } },
        });
        expect(await cancelRun(database, task.runId, operatorId)).toMatchObject({ outcome: 'requested' });
        await act(task);
        expect(await findNodeRun(database, task.runId)).toMatchObject({
          state: 'cancelled',
          nodeState: 'Failed',
          statusDetails: 'cancelled',
          attempt: 1,
        });
        expect(await database.query(outputs, [graph.nodes.n1])).toEqual([]);
        const unwanted = 'select 1 from object_deletion where object_key = $1';
        expect(await database.query(unwanted, [staged!.objectKey])).toHaveLength(1);
        const state = 'select runner_state as state from node_instance where id = $1';
        expect(await database.query(state, [graph.nodes.n1])).toEqual([{ state: null }]);
        expect(await tryTake(template)).toBeUndefined();
      },
    );

    const secondsLeft = async ({ taskId }: ClaimedTask) => {
      const [claim] = await database.query<{ seconds: number | null }>(
        `select extract(epoch from timeout_at - clock_timestamp())::float8 as seconds
           from node_claim where task_id = $1`,
        [taskId],
      );
      return claim!.seconds;
    };

    test('limits a holder that only sends heartbeats to one lease and the grace time', async () => {
      const { template, graph } = await setUp({ leaseSeconds: 20 });
      await upload(database, graph, 'input');
      const task = await acquire(template);
      expect(await secondsLeft(task)).toBeNull();
      await cancelRun(database, task.runId, operatorId);
      const bound = await secondsLeft(task);
      expect(bound).toBeLessThanOrEqual(20 + limits.cancelGraceSeconds);
      expect(bound).toBeGreaterThan(limits.cancelGraceSeconds);
      expect(await renewLease(database, { ...holderOf(task), taskId: task.taskId })).toMatchObject({
        cancelRequested: true,
      });
      // A second cancel grants no further time.
      await database.query(`update node_claim set timeout_at = clock_timestamp() where task_id = $1`, [
        task.taskId,
      ]);
      await cancelRun(database, task.runId, operatorId);
      await endOverdue();
      expect(await findNodeRun(database, task.runId)).toMatchObject({
        state: 'cancelled',
        nodeState: 'Failed',
        statusDetails: 'cancelled',
      });
      expect(await renewLease(database, { ...holderOf(task), taskId: task.taskId })).toBeUndefined();
    });

    test('keeps the shorter time limit of the node template', async () => {
      const { template, graph } = await setUp({ timeoutSeconds: 30 });
      await upload(database, graph, 'input');
      const task = await acquire(template);
      await cancelRun(database, task.runId, operatorId);
      expect(await secondsLeft(task)).toBeLessThanOrEqual(30);
    });

    async function loseLease(task: ClaimedTask) {
      await database.query(
        `update node_claim set lease_until = clock_timestamp() - interval '1 second' where task_id = $1`,
        [task.taskId],
      );
      await endOverdue();
    }

    async function endOverdue() {
      await database.query(
        'insert into platform_process (process_id, heartbeat_at) values (gen_random_uuid(), clock_timestamp())',
      );
      await endOverdueClaims(database, 10, () => 0);
    }

    test('an ended run is refused, and an unknown one is missing', async () => {
      const { runId } = await failedGraph();
      expect(await cancelRun(database, runId, operatorId)).toEqual({ outcome: 'ended-otherwise' });
      expect(await cancelRun(database, randomUUID(), operatorId)).toEqual({ outcome: 'missing' });
    });

    test('races with claims: each run is either held and asked, or ended and never held', async () => {
      const { template } = await setUp();
      for (let round = 0; round < 20; round++) {
        const graph = await makeGraph(database, chain(1, template));
        await upload(database, graph, 'input');
        const [run] = await runsOf(graph);
        const [task, cancelled] = await Promise.all([
          tryTake(template),
          cancelRun(database, run!.id, operatorId),
        ]);
        expect(cancelled.outcome).toBe(task ? 'requested' : 'ended');
        if (task) await releaseHeldTask(database, holderOf(task));
      }
    });
  });
}
