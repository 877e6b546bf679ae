/** Claims of runs, and the fence that every write of a claim's holder passes. Run by runs.test.ts in its world. */
import { describe, expect, test } from 'vitest';
import { recordHeartbeat, renewLease } from '../../../store/runners/lease.ts';
import { claimNext, registerClaim } from '../../../store/runs/claims.ts';
import { endTask } from '../../../store/runs/end-task.ts';
import { endOverdueClaims } from '../../../store/runs/expire-leases.ts';
import { releaseHeldTask, undoClaim } from '../../../store/runs/release-claim.ts';
import { chain, changesBy, claim, finish, makeGraph, upload, writeOne } from '../../support/graph.ts';
import { completed, type RunWorld } from './run-world.ts';

export function claimTests({ database, runner, ownTemplate, expireLease }: RunWorld): void {
  describe('claims', () => {
    test('32 runners racing for 500 runs hold each exactly once', async () => {
      const template = await ownTemplate();
      const nodes = Array.from({ length: 50 }, (_, index) => ({
        name: `n${index}`,
        parents: ['input'],
        template,
      }));
      for (let index = 0; index < 10; index++) {
        const graph = await makeGraph(database, [{ name: 'input', parents: [] }, ...nodes]);
        await upload(database, graph, 'input');
      }
      const held: string[] = [];
      await Promise.all(
        Array.from({ length: 32 }, async (_, index) => {
          for (let turn = 0; ; turn++) {
            const task = await claim(database, runner(`${index}.${turn}`), template);
            if (!task) return;
            held.push(task.runId);
          }
        }),
      );
      expect(held).toHaveLength(500);
      expect(new Set(held).size).toBe(500);
    });

    test('a session with many tasks does not hold up the first task of another', async () => {
      const template = await ownTemplate();
      const many = Array.from({ length: 100 }, (_, index) => ({
        name: `n${index}`,
        parents: ['input'],
        template,
      }));
      const big = await makeGraph(database, [{ name: 'input', parents: [] }, ...many]);
      await upload(database, big, 'input');
      const small = await makeGraph(database, chain(1, template));
      await upload(database, small, 'input');
      let place = 0;
      for (; ; place++) {
        const task = await claim(database, runner(`fair-${place}`), template);
        if (task?.sessionId === small.sessionId) break;
      }
      expect(place).toBeLessThan(30);
    });

    test('of several claims of one instance only the newest can win', async () => {
      const template = await ownTemplate();
      const graph = await makeGraph(database, chain(1, template));
      const older = await registerClaim(database, runner('same'));
      await registerClaim(database, runner('same'));
      await upload(database, graph, 'input');
      const request = { claimSeq: older.claimSeq, templates: [template], leaseSeconds: 30 };
      expect(await claimNext(database, runner('same'), request)).toBeUndefined();
      expect(await claim(database, runner('same'), template)).toBeDefined();
    });

    test('releasing an unused task counts no attempt, a used one counts as a lost lease', async () => {
      const template = await ownTemplate();
      const graph = await makeGraph(database, chain(1, template));
      await upload(database, graph, 'input');
      await claim(database, runner('a'), template);
      await releaseHeldTask(database, runner('a'));
      const again = (await claim(database, runner('a'), template))!;
      expect(again.attempt).toBe(1);
      await renewLease(database, { ...runner('a'), taskId: again.taskId });
      const [change] = await changesBy(database, () => releaseHeldTask(database, runner('a')));
      expect(change?.ended).toMatchObject([{ attempt: 1, outcome: 'lost' }]);
      const node = 'select status_details from node_instance where id = $1';
      expect(await database.query(node, [graph.nodes.n1])).toMatchObject([
        { statusDetails: expect.stringContaining('under the same instance id') },
      ]);
      expect(await claim(database, runner('b'), template)).toMatchObject({ attempt: 2 });
    });

    test('a claim that is undone leaves the run as it was', async () => {
      const template = await ownTemplate();
      const graph = await makeGraph(database, chain(1, template));
      await upload(database, graph, 'input');
      const task = (await claim(database, runner('a'), template))!;
      await undoClaim(database, task.taskId);
      expect(await claim(database, runner('b'), template)).toMatchObject({ runId: task.runId, attempt: 1 });
    });
  });

  describe('the fence', () => {
    test('a runner past its lease writes nothing more, for any later holder', async () => {
      const template = await ownTemplate();
      const graph = await makeGraph(database, chain(1, template));
      await upload(database, graph, 'input');
      const task = (await claim(database, runner('stopped'), template))!;
      await expireLease(task.taskId);
      const everyCall = async () => [
        await renewLease(database, { ...runner('stopped'), taskId: task.taskId }),
        await recordHeartbeat(
          database,
          { ...runner('stopped'), taskId: task.taskId },
          {
            phase: null,
            message: null,
            progress: null,
          },
        ),
        (await writeOne(database, runner('stopped'), graph, task)).kind,
        (
          await endTask(database, { ...runner('stopped'), taskId: task.taskId }, completed, {
            digest: 'x',
            jitter: 0,
          })
        ).kind,
        (
          await endTask(
            database,
            { ...runner('stopped'), taskId: task.taskId },
            { kind: 'release' },
            { digest: 'x', jitter: 0 },
          )
        ).kind,
      ];
      const refused = [undefined, undefined, 'refused', 'refused', 'refused'];
      expect(await everyCall()).toEqual(refused);
      const claims = await endOverdueClaims(database, 10, () => 0);
      expect(claims.flatMap(({ ended }) => ended)).toContainEqual(
        expect.objectContaining({ runId: task.runId, attempt: 1, outcome: 'lost' }),
      );
      const next = (await claim(database, runner('other'), template))!;
      expect(next).toMatchObject({ runId: task.runId, attempt: 2 });
      expect(await everyCall()).toEqual(refused);
      expect(await finish(database, runner('other'), graph, next)).toMatchObject({ kind: 'ended' });
      const [{ count } = { count: -1 }] = await database.query<{ count: number }>(
        'select count(*) as count from node_output where node_instance_id = $1',
        [graph.nodes.n1],
      );
      expect(count).toBe(1);
    });

    test('another token or instance is refused as for an unknown task', async () => {
      const template = await ownTemplate();
      const graph = await makeGraph(database, chain(1, template));
      await upload(database, graph, 'input');
      const task = (await claim(database, runner('a'), template))!;
      for (const other of [runner('b'), runner('a', 'token-2')]) {
        expect(await renewLease(database, { ...other, taskId: task.taskId })).toBeUndefined();
        expect(
          await endTask(database, { ...other, taskId: task.taskId }, completed, { digest: 'x', jitter: 0 }),
        ).toEqual({
          kind: 'refused',
          why: 'task-not-found',
        });
      }
    });

    test('a repeated end by its holder gets the same reply, and a different one is refused', async () => {
      const template = await ownTemplate();
      const graph = await makeGraph(database, chain(1, template));
      await upload(database, graph, 'input');
      const task = (await claim(database, runner('a'), template))!;
      const first = await finish(database, runner('a'), graph, task);
      const repeat = await endTask(database, { ...runner('a'), taskId: task.taskId }, completed, {
        digest: 'completed',
        jitter: 0,
      });
      expect(repeat).toEqual({ kind: 'repeated', reply: first.kind === 'ended' ? first.reply : undefined });
      expect(
        await endTask(
          database,
          { ...runner('a'), taskId: task.taskId },
          { kind: 'release' },
          { digest: 'release', jitter: 0 },
        ),
      ).toEqual({
        kind: 'refused',
        why: 'task-finished',
      });
    });

    test('completing without an output is refused and ends nothing', async () => {
      const template = await ownTemplate();
      const graph = await makeGraph(database, chain(1, template));
      await upload(database, graph, 'input');
      const task = (await claim(database, runner('a'), template))!;
      expect(
        await endTask(database, { ...runner('a'), taskId: task.taskId }, completed, {
          digest: 'x',
          jitter: 0,
        }),
      ).toEqual({
        kind: 'refused',
        why: 'output-missing',
      });
      expect(await finish(database, runner('a'), graph, task)).toMatchObject({ kind: 'ended' });
    });
  });
}
