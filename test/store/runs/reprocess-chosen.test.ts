/** A reprocess of chosen inputs: it hands out these alone and leaves the rest of the node as it is. */
import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { retryRun } from '../../../store/runs/operate-runs.ts';
import { requestReprocess } from '../../../store/runs/reprocess.ts';
import { databaseStage } from '../../support/databases.ts';
import { claim, finish, type Graph, writeOne } from '../../support/graph.ts';
import { broken, reprocessWorld, runner } from './reprocess-world.ts';
import { completed } from './run-world.ts';

const { database } = await databaseStage(8);
const { end, inputsOf, move, nodeWatermark, runOnce, setUp, uploadId, uploadIds } = reprocessWorld(database);

describe('chosen inputs', () => {
  const facts = async (graph: Graph) => {
    const [row] = await database.query(
      'select consumed_position, watermark_position, watermark_output_id from node_instance where id = $1',
      [graph.nodes.n1],
    );
    return row;
  };

  test.each([true, false])(
    'are all that the run has, and what else has come waits for its own run (incremental: %s)',
    async (incremental) => {
      const { name, graph } = await setUp({ incremental });
      const ids = [await uploadId(graph), await uploadId(graph), await uploadId(graph)];
      await runOnce(graph, name, incremental);
      const before = await facts(graph);
      const held = await uploadId(graph).then(() => claim(database, runner, name));
      for (const chosen of [[ids[2]!], [ids[0]!]])
        expect(await requestReprocess(database, graph.nodes.n1!, chosen)).toMatchObject({
          outcome: 'queued',
        });
      await requestReprocess(database, graph.nodes.n1!);
      await end(held!, { kind: 'complete', outcome: 'suspended', hasMore: false });
      const after = await facts(graph);
      const latest = (await uploadIds(graph)).at(-1);
      expect((await runOnce(graph, name, incremental)).at(-1)).toBe(latest);
      const news = await uploadId(graph);
      const task = (await claim(database, runner, name))!;
      expect(task).toMatchObject({ reason: 'reprocess', pendingInputs: 2 });
      for (const mode of ['since-watermark', 'latest', 'all'] as const)
        expect(await inputsOf(task, mode)).toEqual([ids[0], ids[2]]);
      if (incremental) {
        expect(await move(task, ids[1]!)).toMatchObject({ why: 'watermark-unknown-input' });
        expect(await move(task, ids[2]!)).toEqual({ kind: 'moved', watermark: ids[2], pendingInputs: 0 });
        expect(await move(task, ids[0]!)).toMatchObject({ why: 'watermark-regression' });
      }
      const between = await facts(graph);
      await finish(database, runner, graph, task);
      expect(await facts(graph)).toEqual(between);
      expect([before, after]).not.toContainEqual(between);
      expect(await runOnce(graph, name, incremental)).toEqual([news]);
      expect(await claim(database, runner, name)).toBeUndefined();
    },
  );

  test('stay those of the run through retries and hasMore follow-ups', async () => {
    const { name, graph } = await setUp({ incremental: true });
    const ids = [await uploadId(graph), await uploadId(graph), await uploadId(graph)];
    await runOnce(graph, name, true);
    const before = await facts(graph);
    await requestReprocess(database, graph.nodes.n1!, [ids[0]!, ids[2]!]);
    const first = (await claim(database, runner, name))!;
    await end(first, { kind: 'release' });
    const again = (await claim(database, runner, name))!;
    expect(await inputsOf(again)).toEqual([ids[0], ids[2]]);
    await move(again, ids[0]!);
    await writeOne(database, runner, graph, again);
    expect(await end(again, { ...completed, hasMore: true })).toMatchObject({ reply: { followUp: true } });
    const followUp = (await claim(database, runner, name))!;
    expect(followUp).toMatchObject({ reason: 'follow-up', watermarkOutputId: ids[0], pendingInputs: 1 });
    expect(await inputsOf(followUp)).toEqual([ids[2]]);
    expect(await inputsOf(followUp, 'all')).toEqual([ids[0], ids[2]]);
    await move(followUp, ids[2]!);
    await finish(database, runner, graph, followUp);
    expect(await facts(graph)).toEqual(before);
    expect(await claim(database, runner, name)).toBeUndefined();
  });

  test('above the watermark are no reason to pass over what lies below them', async () => {
    const { name, graph } = await setUp({ incremental: true });
    const ids = [await uploadId(graph), await uploadId(graph)];
    await end((await claim(database, runner, name))!, broken);
    await requestReprocess(database, graph.nodes.n1!, [ids[1]!]);
    expect(await runOnce(graph, name, true)).toEqual([ids[1]]);
    expect((await nodeWatermark(graph)).outputId).toBeNull();
    const news = await uploadId(graph);
    expect(await runOnce(graph, name, true)).toEqual([...ids, news]);
  });

  test('that went well do not take the place of a run that failed', async () => {
    const { name, graph } = await setUp();
    const ids = [await uploadId(graph), await uploadId(graph)];
    const failing = (await claim(database, runner, name))!;
    await end(failing, broken);
    await requestReprocess(database, graph.nodes.n1!, [ids[0]!]);
    expect(await retryRun(database, failing.runId, randomUUID())).toMatchObject({ outcome: 'superseded' });
    await runOnce(graph, name, false);
    expect(await retryRun(database, failing.runId, randomUUID())).toMatchObject({ outcome: 'queued' });
    expect(await runOnce(graph, name, false)).toEqual(ids);
  });

  test('are outputs of a parent', async () => {
    const { graph } = await setUp();
    const other = await setUp();
    const stranger = await uploadId(other.graph);
    const known = await uploadId(graph);
    const unknown = { outcome: 'unknown-input', outputId: stranger };
    expect(await requestReprocess(database, graph.nodes.n1!, [known, stranger])).toEqual(unknown);
    expect(await requestReprocess(database, other.graph.nodes.input!, [stranger])).toEqual(unknown);
  });
});
