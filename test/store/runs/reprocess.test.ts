import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { nodeStateCodes } from '../../../domain/runs/node-state.ts';
import { renewLease } from '../../../store/runners/lease.ts';
import { requestReprocess } from '../../../store/runs/reprocess.ts';
import { countPendingInputs, listInputs } from '../../../store/runs/task-inputs.ts';
import { databaseStage } from '../../support/databases.ts';
import { chain, claim, finish, makeGraph, stateOf, upload, writeOne } from '../../support/graph.ts';
import { broken, reprocessWorld, runner } from './reprocess-world.ts';
import { completed } from './run-world.ts';

const { database } = await databaseStage(8);
const world = reprocessWorld(database);
const { end, inputsOf, move, nodeWatermark, runOnce, setUp, template, uploadId, uploadIds } = world;

describe('a node with parents', () => {
  test('runs again over its latest inputs, and is Pending at once', async () => {
    const { name, graph } = await setUp();
    await uploadId(graph);
    const latest = await uploadId(graph);
    await runOnce(graph, name, false);
    expect(await requestReprocess(database, graph.nodes.n1!)).toMatchObject({ outcome: 'queued' });
    expect(await stateOf(database, graph, 'n1')).toBe(nodeStateCodes.Pending);
    const task = (await claim(database, runner, name))!;
    expect(task).toMatchObject({ reason: 'reprocess', pendingInputs: 1 });
    expect(await inputsOf(task)).toEqual([latest]);
    expect(await inputsOf(task, 'latest')).toEqual([latest]);
    await finish(database, runner, graph, task);
    expect(await claim(database, runner, name)).toBeUndefined();
  });

  test('whose template says so runs again over all inputs', async () => {
    const { name, graph } = await setUp({ reprocess: 'all' });
    const all = [await uploadId(graph), await uploadId(graph)];
    await runOnce(graph, name, false);
    await requestReprocess(database, graph.nodes.n1!);
    expect(await runOnce(graph, name, false)).toEqual(all);
  });

  test('uses the latest input of each parent', async () => {
    const { name, graph } = await setUp({}, (template) => [
      { name: 'left', parents: [] },
      { name: 'right', parents: [] },
      { name: 'n1', parents: ['left', 'right'], template },
    ]);
    const left = await uploadId(graph, 'left');
    await uploadId(graph, 'right');
    const right = await uploadId(graph, 'right');
    await runOnce(graph, name, false);
    await requestReprocess(database, graph.nodes.n1!);
    expect(await runOnce(graph, name, false)).toEqual([left, right]);
  });

  test('does not run before each parent has an output', async () => {
    const { graph } = await setUp({}, (template) => [
      { name: 'left', parents: [] },
      { name: 'right', parents: [] },
      { name: 'n1', parents: ['left', 'right'], template },
    ]);
    expect(await requestReprocess(database, graph.nodes.n1!)).toEqual({ outcome: 'no-inputs' });
    await uploadId(graph, 'left');
    expect(await requestReprocess(database, graph.nodes.n1!)).toEqual({ outcome: 'no-inputs' });
    expect(await stateOf(database, graph, 'n1')).toBe(nodeStateCodes.NeverBegan);
  });

  test('in flight keeps requests behind what runs, and makes one run of them', async () => {
    const { name, graph } = await setUp();
    await uploadId(graph);
    const task = (await claim(database, runner, name))!;
    for (let index = 0; index < 5; index++) await requestReprocess(database, graph.nodes.n1!);
    const news = await uploadId(graph);
    await finish(database, runner, graph, task);
    expect(await runOnce(graph, name, false)).toEqual([news]);
    expect(await claim(database, runner, name)).toBeUndefined();
  });

  test('that failed runs again without new input, and its retries are of the same reprocess', async () => {
    const { name, graph } = await setUp();
    const input = await uploadId(graph);
    await end((await claim(database, runner, name))!, broken);
    await requestReprocess(database, graph.nodes.n1!);
    const first = (await claim(database, runner, name))!;
    await end(first, { kind: 'fail', category: 'error', reason: 'No luck.' });
    await database.query(`update node_run set state = 'queued', due_at = null where id = $1`, [first.runId]);
    const retry = (await claim(database, runner, name))!;
    expect(retry).toMatchObject({ runId: first.runId, attempt: 2, reason: 'reprocess' });
    expect(await inputsOf(retry)).toEqual([input]);
    await finish(database, runner, graph, retry);
  });
});

describe('an incremental node', () => {
  test('uses the run’s own watermark, which starts just below its first input', async () => {
    const { name, graph } = await setUp({ incremental: true });
    const ids = [await uploadId(graph), await uploadId(graph), await uploadId(graph)];
    await runOnce(graph, name, true);
    const before = await nodeWatermark(graph);
    await requestReprocess(database, graph.nodes.n1!);
    const task = (await claim(database, runner, name))!;
    expect(task).toMatchObject({ watermarkOutputId: ids[1], pendingInputs: 1 });
    expect(await inputsOf(task)).toEqual([ids[2]]);
    expect(await move(task, ids[0]!)).toMatchObject({ why: 'watermark-regression' });
    expect(await move(task, ids[1]!)).toEqual({ kind: 'moved', watermark: ids[1], pendingInputs: 1 });
    const held = (await renewLease(database, { ...runner, taskId: task.taskId }))!;
    expect(await countPendingInputs(database, held)).toBe(1);
    expect(await move(task, ids[2]!)).toEqual({ kind: 'moved', watermark: ids[2], pendingInputs: 0 });
    await finish(database, runner, graph, task);
    expect(await nodeWatermark(graph)).toEqual(before);
  });

  test('keeps it through retries and hasMore follow-ups, while its own watermark stays', async () => {
    const { name, graph } = await setUp({ incremental: true, reprocess: 'all' });
    const ids = [await uploadId(graph), await uploadId(graph), await uploadId(graph)];
    await runOnce(graph, name, true);
    const before = await nodeWatermark(graph);
    await requestReprocess(database, graph.nodes.n1!);
    const first = (await claim(database, runner, name))!;
    expect(first).toMatchObject({ watermarkOutputId: null, pendingInputs: 3 });
    await move(first, ids[0]!);
    await end(first, { kind: 'release' });
    const again = (await claim(database, runner, name))!;
    expect(again).toMatchObject({ runId: first.runId, watermarkOutputId: ids[0], pendingInputs: 2 });
    await move(again, ids[1]!);
    await writeOne(database, runner, graph, again);
    expect(await end(again, { ...completed, hasMore: true })).toMatchObject({ reply: { followUp: true } });
    const followUp = (await claim(database, runner, name))!;
    expect(followUp).toMatchObject({ reason: 'follow-up', watermarkOutputId: ids[1], pendingInputs: 1 });
    expect(await inputsOf(followUp)).toEqual([ids[2]]);
    expect(await move(followUp, ids[0]!)).toMatchObject({ why: 'watermark-regression' });
    await move(followUp, ids[2]!);
    expect(await finish(database, runner, graph, followUp)).toMatchObject({ kind: 'ended' });
    expect(await nodeWatermark(graph)).toEqual(before);
    const news = await uploadId(graph);
    expect(await runOnce(graph, name, true)).toEqual([news]);
  });

  test('ends with its own watermark at the higher of both when the reprocess went over news', async () => {
    const { name, graph } = await setUp({ incremental: true });
    await uploadId(graph);
    await runOnce(graph, name, true);
    const held = await uploadId(graph).then(() => claim(database, runner, name));
    await requestReprocess(database, graph.nodes.n1!);
    await finish(database, runner, graph, held!);
    const news = await uploadId(graph);
    // The run before moved no watermark, so its input is processed too: none is skipped.
    const inputs = await runOnce(graph, name, true);
    expect(inputs.at(-1)).toBe(news);
    expect(inputs).toHaveLength(2);
    expect((await nodeWatermark(graph)).outputId).toBe(news);
    expect(await claim(database, runner, name)).toBeUndefined();
  });

  type Step =
    | { readonly kind: 'upload'; readonly identifier: string | null }
    | { readonly kind: 'reprocess'; readonly chosen: number | null }
    | {
        readonly kind: 'run';
        readonly takes: number;
        readonly ending: 'complete' | 'more' | 'fail' | 'release';
      };
  const step: fc.Arbitrary<Step> = fc.oneof(
    { weight: 3, arbitrary: fc.constant({ kind: 'upload' as const, identifier: null }) },
    {
      weight: 2,
      arbitrary: fc.constantFrom('a', 'b').map((identifier) => ({ kind: 'upload' as const, identifier })),
    },
    {
      weight: 3,
      arbitrary: fc.record({ kind: fc.constant('reprocess' as const), chosen: fc.option(fc.nat(9)) }),
    },
    {
      weight: 4,
      arbitrary: fc.record({
        kind: fc.constant('run' as const),
        takes: fc.nat(4),
        ending: fc.constantFrom('complete', 'more', 'fail', 'release'),
      }),
    },
  );

  test('skips no input, and its watermark never falls, for any order of events', async () => {
    const name = await template({ incremental: true });
    const walk = async (steps: readonly Step[], reprocess: 'latest' | 'all') => {
      await database.query('update node_template set reprocess = $2 where name = $1', [name, reprocess]);
      const graph = await makeGraph(database, chain(1, name));
      const handled = new Set<string>();
      let highest = 0;

      /** Handles the first inputs, as a runner that stops in between. */
      const run = async (takes: number, ending: 'complete' | 'more' | 'fail' | 'release') => {
        const task = await claim(database, runner, name);
        if (!task) return false;
        const held = (await renewLease(database, { ...runner, taskId: task.taskId }))!;
        const page = { mode: 'since-watermark', afterPosition: 0, limit: 500, cap: 500 } as const;
        const inputs = await listInputs(database, held, page);
        expect(inputs).toHaveLength(task.pendingInputs);
        for (const input of inputs.slice(0, takes)) {
          expect(await move(task, input.outputId)).toMatchObject({ kind: 'moved' });
          handled.add(`${input.outputId}@${input.position}`);
        }
        if (ending === 'release') await end(task, { kind: 'release' });
        else if (ending === 'fail') await end(task, { kind: 'fail', category: 'validation', reason: 'No.' });
        else {
          await writeOne(database, runner, graph, task);
          await end(task, { ...completed, hasMore: ending === 'more' });
        }
        await database.query(`update node_run set state = 'queued', due_at = null where state = 'waiting'`);
        const { position } = await nodeWatermark(graph);
        expect(position).toBeGreaterThanOrEqual(highest);
        highest = position;
        const open = `select 1 from node_run where node_instance_id = $1 and state <> 'done'`;
        expect((await database.query(open, [graph.nodes.n1])).length).toBeLessThanOrEqual(1);
        return true;
      };

      const reprocessChosen = async (chosen: number | null) => {
        const uploads = await uploadIds(graph);
        const inputs = chosen === null || uploads.length === 0 ? null : [uploads[chosen % uploads.length]!];
        await requestReprocess(database, graph.nodes.n1!, inputs);
      };

      for (const next of steps) {
        if (next.kind === 'upload') await upload(database, graph, 'input', next.identifier);
        else if (next.kind === 'reprocess') await reprocessChosen(next.chosen);
        else await run(next.takes, next.ending);
      }
      await upload(database, graph, 'input');
      for (let runs = 0; await run(1_000, 'complete'); runs++) expect(runs).toBeLessThan(6);
      const present = await database.query<{ id: number; position: number }>(
        'select id, position from node_output where node_instance_id = $1',
        [graph.nodes.input],
      );
      for (const { id, position } of present) expect(handled).toContain(`${id}@${position}`);
      const [node] = await database.query(
        `select 1 from node_instance where id = $1 and not reprocess_wanted and reprocess_input_ids is null and not follow_up_wanted
            and follow_up_reprocess_position is null and watermark_position = $2`,
        [graph.nodes.n1, Math.max(...present.map(({ position }) => position))],
      );
      expect(node).toBeDefined();
    };
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 14 }), fc.constantFrom('latest', 'all'), walk),
      { numRuns: 40 },
    );
  });
});

describe('an Input node', () => {
  test('gets its newest output once more, and its children run', async () => {
    const { name, graph } = await setUp();
    await uploadId(graph, 'input', 'other');
    const original = await uploadId(graph, 'input', 'lap.csv');
    await runOnce(graph, name, false);
    await requestReprocess(database, graph.nodes.input!);
    await requestReprocess(database, graph.nodes.input!);
    const rows = await database.query<{ id: number; objectKey: string; metadata: unknown }>(
      `select id, object_key, metadata from node_output where node_instance_id = $1 order by position`,
      [graph.nodes.input],
    );
    expect(rows).toHaveLength(4);
    const copyOf = { $copyOf: { outputId: original, outputIdentifier: 'lap.csv' } };
    expect(rows.slice(1).map(({ metadata }) => metadata)).toEqual([null, copyOf, copyOf]);
    expect(new Set(rows.slice(1).map(({ objectKey }) => objectKey)).size).toBe(1);
    expect((await claim(database, runner, name))?.upperPosition).toBe(5);
  });

  test('without an output has nothing to append', async () => {
    const { graph } = await setUp();
    expect(await requestReprocess(database, graph.nodes.input!)).toEqual({ outcome: 'no-inputs' });
  });
});

test('a frozen session and a deleted node refuse', async () => {
  const { graph } = await setUp();
  await uploadId(graph);
  await database.query('update session set frozen_at = now() where id = $1', [graph.sessionId]);
  expect(await requestReprocess(database, graph.nodes.n1!)).toEqual({ outcome: 'frozen' });
  expect(await requestReprocess(database, 999_999_999)).toEqual({ outcome: 'node-missing' });
});
