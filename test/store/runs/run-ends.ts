/** How attempts end. Run by runs.test.ts in its world. */
import { describe, expect, test } from 'vitest';
import { nodeStateCodes } from '../../../domain/runs/node-state.ts';
import { endTask } from '../../../store/runs/end-task.ts';
import { endOverdueClaims } from '../../../store/runs/expire-leases.ts';
import { reconcileSession } from '../../../store/runs/reconcile-session.ts';
import { chain, claim, makeGraph, stateOf, upload, writeOne } from '../../support/graph.ts';
import { completed, type RunWorld } from './run-world.ts';

export function endTests({ database, runner, ownTemplate, expireLease }: RunWorld): void {
  describe('ends of attempts', () => {
    test('an error waits for its retry, which the reconcile at its due time makes claimable', async () => {
      const template = await ownTemplate();
      const graph = await makeGraph(database, chain(1, template));
      await upload(database, graph, 'input');
      const task = (await claim(database, runner('a'), template))!;
      const failure = { kind: 'fail', category: 'error', reason: 'No luck.' } as const;
      expect(
        await endTask(database, { ...runner('a'), taskId: task.taskId }, failure, { digest: 'f', jitter: 0 }),
      ).toMatchObject({
        reply: { nodeState: 'Pending', willRetry: true },
      });
      expect(await claim(database, runner('a'), template)).toBeUndefined();
      expect((await reconcileSession(database, graph.sessionId))?.due).toMatchObject({
        nodeName: 'n1',
        attempt: 2,
      });
      await database.query(`update node_run set due_at = clock_timestamp() where id = $1`, [task.runId]);
      const look = await reconcileSession(database, graph.sessionId);
      expect(look).toMatchObject({ due: null, lookInMs: 1_000 });
      expect(await claim(database, runner('a'), template)).toMatchObject({ attempt: 2, upperPosition: 1 });
    });

    test('an output with a watermark whose lease ends while it is written is refused', async () => {
      const template = await ownTemplate();
      const graph = await makeGraph(database, chain(1, template));
      const { output } = await upload(database, graph, 'input');
      const task = (await claim(database, runner('a'), template))!;
      // Its renewal ends at once, as does one of a process that is stopped until the lease is over.
      await database.query(`update node_claim set lease_seconds = 0 where task_id = $1`, [task.taskId]);
      const written = writeOne(database, runner('a'), graph, task, 'late', output.id);
      expect(await written).toEqual({ kind: 'refused', why: 'task-not-found' });
    });

    test('a validation failure is final, drops what was staged and triggers no child', async () => {
      const template = await ownTemplate();
      const graph = await makeGraph(database, chain(2, template));
      await upload(database, graph, 'input');
      const task = (await claim(database, runner('a'), template))!;
      await writeOne(database, runner('a'), graph, task);
      const failure = { kind: 'fail', category: 'validation', reason: 'Broken.' } as const;
      expect(
        await endTask(database, { ...runner('a'), taskId: task.taskId }, failure, { digest: 'f', jitter: 0 }),
      ).toMatchObject({
        reply: { nodeState: 'Failed', willRetry: false, nextAttemptAt: null },
      });
      expect(await stateOf(database, graph, 'n1')).toBe(nodeStateCodes.Failed);
      expect(await stateOf(database, graph, 'n2')).toBe(nodeStateCodes.NeverBegan);
      expect(
        await database.query('select 1 from node_output where node_instance_id = $1', [graph.nodes.n1]),
      ).toEqual([]);
      await upload(database, graph, 'input');
      expect(await claim(database, runner('a'), template)).toMatchObject({ attempt: 1 });
    });

    test('the third lost lease of a run ends it as a time-out', async () => {
      const template = await ownTemplate({ maxAttempts: 10 });
      const graph = await makeGraph(database, chain(1, template));
      await upload(database, graph, 'input');
      for (let loss = 1; loss <= 3; loss++) {
        const task = (await claim(database, runner(`killer-${loss}`), template))!;
        expect(task.attempt).toBe(loss);
        await expireLease(task.taskId);
        await endOverdueClaims(database, 10, () => 0);
      }
      expect(await claim(database, runner('a'), template)).toBeUndefined();
      expect(await stateOf(database, graph, 'n1')).toBe(nodeStateCodes.Failed);
    });

    test('leases do not expire while no API process could have renewed them', async () => {
      const template = await ownTemplate();
      const graph = await makeGraph(database, chain(1, template));
      await upload(database, graph, 'input');
      const task = (await claim(database, runner('a'), template))!;
      await expireLease(task.taskId);
      await database.query('delete from platform_process');
      await endOverdueClaims(database, 10, () => 0);
      expect(await claim(database, runner('b'), template)).toBeUndefined();
    });

    test('releases count no attempt and wait from the third one on', async () => {
      const template = await ownTemplate();
      const graph = await makeGraph(database, chain(1, template));
      await upload(database, graph, 'input');
      for (let release = 1; release <= 3; release++) {
        const task = (await claim(database, runner('a'), template))!;
        expect(task.attempt).toBe(1);
        await endTask(
          database,
          { ...runner('a'), taskId: task.taskId },
          { kind: 'release' },
          { digest: 'r', jitter: 0 },
        );
      }
      expect(await claim(database, runner('a'), template)).toBeUndefined();
      expect((await reconcileSession(database, graph.sessionId))?.due).toMatchObject({ attempt: 1 });
    });

    test('no-output succeeds without triggering children; suspended stays until new input', async () => {
      const template = await ownTemplate();
      const graph = await makeGraph(database, chain(2, template));
      await upload(database, graph, 'input');
      const first = (await claim(database, runner('a'), template))!;
      await endTask(
        database,
        { ...runner('a'), taskId: first.taskId },
        { ...completed, outcome: 'no-output' },
        { digest: 'x', jitter: 0 },
      );
      expect(await stateOf(database, graph, 'n1')).toBe(nodeStateCodes.Succeeded);
      expect(await stateOf(database, graph, 'n2')).toBe(nodeStateCodes.NeverBegan);
      await upload(database, graph, 'input');
      const second = (await claim(database, runner('a'), template))!;
      await endTask(
        database,
        { ...runner('a'), taskId: second.taskId },
        { ...completed, outcome: 'suspended' },
        { digest: 'x', jitter: 0 },
      );
      expect(await stateOf(database, graph, 'n1')).toBe(nodeStateCodes.Suspended);
      await upload(database, graph, 'input');
      expect(await stateOf(database, graph, 'n1')).toBe(nodeStateCodes.Pending);
    });
  });
}
