/** A run of a node whose parent has published for hours reads no more than it is about. */
import { expect, test } from 'vitest';
import type { Database } from '../../../store/connection/database.ts';
import { renewLease } from '../../../store/runners/lease.ts';
import { redeliverHeld } from '../../../store/runs/claims.ts';
import { requestReprocess } from '../../../store/runs/reprocess.ts';
import { listInputs } from '../../../store/runs/task-inputs.ts';
import { writeWatermark } from '../../../store/runs/watermark.ts';
import { databaseStage } from '../../support/databases.ts';
import { claim, finish, type Graph, makeGraph, upload } from '../../support/graph.ts';
import { readBy } from '../../support/rows-read.ts';
import { runWorld } from './run-world.ts';

const { database } = await databaseStage(4);
const { ownTemplate, runner } = runWorld(database);

const outputs = 3_000;
const maxRowsRead = 500;

/** Gives a node that many outputs, as if each had been uploaded. */
async function publishMany(graph: Graph, node: string): Promise<void> {
  const { output } = await upload(database, graph, node);
  await database.query(
    `with copy as (
       insert into node_output overriding system value
       select r.* from node_output o cross join generate_series(1, ${outputs}) i
        cross join jsonb_populate_record(o, jsonb_build_object(
          'id', nextval(pg_get_serial_sequence('node_output', 'id')), 'position', o.position + i,
          'output_identifier', i, 'object_key', o.object_key || i)) r
        where o.id = $1
     )
     update session set newest_position = newest_position + ${outputs} where id = $2`,
    [output.id, graph.sessionId],
  );
  await database.query('analyze');
}

async function runOnce(own: Database, template: string, graph: Graph): Promise<number[]> {
  const task = (await claim(own, runner('a'), template))!;
  const held = (await renewLease(own, { ...runner('a'), taskId: task.taskId }))!;
  const inputs = await listInputs(own, held, { mode: 'latest', afterPosition: 0, limit: 100, cap: 100 });
  await finish(own, runner('a'), graph, task);
  return inputs.map(({ outputId }) => outputId);
}

test.each([{ incremental: false }, { incremental: true }])(
  'a reprocess, and a run for news of another parent (%o)',
  async (options) => {
    const template = await ownTemplate(options);
    const graph = await makeGraph(database, [
      { name: 'busy', parents: [] },
      { name: 'quiet', parents: [] },
      { name: 'both', parents: ['busy', 'quiet'], template },
    ]);
    await publishMany(graph, 'busy');
    const newest = (await upload(database, graph, 'busy')).output.id;
    const first = (await upload(database, graph, 'quiet')).output.id;
    await runOnce(database, template, graph);
    // As a runner does that has consumed all of them.
    await database.query('update node_instance set watermark_position = consumed_position where id = $1', [
      graph.nodes.both,
    ]);
    const seen: Record<string, number[]> = {};
    let last = 0;
    const read = await readBy(database, async (own) => {
      await requestReprocess(own, graph.nodes.both!);
      seen.reprocess = await runOnce(own, template, graph);
      last = (await upload(own, graph, 'quiet')).output.id;
      seen.news = await runOnce(own, template, graph);
    });
    expect(seen).toEqual({ reprocess: [newest, first], news: [newest, last] });
    expect(read.node_output).toBeLessThan(maxRowsRead);
  },
);

test('each page of a backlog, and each move of the watermark in it', async () => {
  const template = await ownTemplate({ incremental: true });
  const graph = await makeGraph(database, [
    { name: 'busy', parents: [] },
    { name: 'quiet', parents: [] },
    { name: 'both', parents: ['busy', 'quiet'], template },
  ]);
  const first = (await upload(database, graph, 'quiet')).output.id;
  await publishMany(graph, 'busy');
  const last = (await upload(database, graph, 'quiet')).output.id;
  const task = (await claim(database, runner('a'), template))!;
  const held = (await renewLease(database, { ...runner('a'), taskId: task.taskId }))!;
  const all = await listInputs(database, held, { mode: 'all', afterPosition: 0, limit: outputs * 2 });
  expect(all).toHaveLength(outputs + 3);
  expect([all[0]!.outputId, all.at(-1)!.outputId]).toEqual([first, last]);
  for (const mode of ['all', 'since-watermark'] as const)
    for (const start of [0, outputs / 2, outputs]) {
      const afterPosition = start === 0 ? 0 : all[start - 1]!.position;
      let page: number[] = [];
      const read = await readBy(database, async (own) => {
        const inputs = await listInputs(own, held, { mode, afterPosition, limit: 10 });
        page = inputs.map(({ outputId }) => outputId);
      });
      expect(page).toEqual(all.slice(start, start + 10).map(({ outputId }) => outputId));
      expect(read.node_output).toBeLessThan(maxRowsRead);
    }
  expect(task.pendingInputs).toBe(outputs + 3);
  for (const passed of [1, 2, 20]) {
    let moved: object = {};
    const read = await readBy(database, async (own) => {
      moved = await writeWatermark(
        own,
        { ...runner('a'), taskId: task.taskId },
        all[passed - 1]!.outputId,
        undefined,
      );
    });
    expect(moved).toMatchObject({ kind: 'moved', pendingInputs: outputs + 3 - passed });
    expect(read.node_output).toBeLessThan(maxRowsRead);
  }
  await finish(database, runner('a'), graph, task);
});

test('the claim of an earlier version, which did not count its inputs', async () => {
  const template = await ownTemplate({ incremental: true });
  const graph = await makeGraph(database, [
    { name: 'in', parents: [] },
    { name: 'n', parents: ['in'], template },
  ]);
  const first = (await upload(database, graph, 'in')).output.id;
  await upload(database, graph, 'in');
  const task = (await claim(database, runner('a'), template))!;
  await database.query('update node_claim set pending_inputs = null where task_id = $1', [task.taskId]);
  expect((await redeliverHeld(database, runner('a')))?.pendingInputs).toBe(2);
  const moved = await writeWatermark(database, { ...runner('a'), taskId: task.taskId }, first, undefined);
  expect(moved).toEqual({ kind: 'moved', watermark: first, pendingInputs: 1 });
  await finish(database, runner('a'), graph, task);
});
