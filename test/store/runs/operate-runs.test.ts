import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { nodeStateCodes } from '../../../domain/runs/node-state.ts';
import { retryFailedRuns, retryRun } from '../../../store/runs/operate-runs.ts';
import { databaseStage } from '../../support/databases.ts';
import { makeGraph, operatorId, outsideTemplate, stateOf, upload } from '../../support/graph.ts';
import { cancelTests } from './operate-cancel.ts';
import { retryTests } from './operate-retry.ts';
import { broken, completed, operateWorld } from './operate-world.ts';

const { database } = await databaseStage(20);
const world = operateWorld(database);
const { setUp, tryTake, acquire, end, finishTask, uploadId, failedGraph, inputsOf, runsOf } = world;

retryTests(world);
cancelTests(world);

describe('an invalid retry is refused', () => {
  test('an open run, one that did not fail, one that a newer run has replaced, and an unknown one', async () => {
    const { template, graph } = await setUp();
    await upload(database, graph, 'input');
    const first = await acquire(template);
    expect(await retryRun(database, first.runId, operatorId)).toEqual({ outcome: 'open' });
    await finishTask(graph, first);
    expect(await retryRun(database, first.runId, operatorId)).toEqual({ outcome: 'not-failed' });
    await upload(database, graph, 'input');
    const second = await acquire(template);
    await end(second, broken);
    await upload(database, graph, 'input');
    expect(await retryRun(database, second.runId, operatorId)).toEqual({ outcome: 'superseded' });
    expect(await retryRun(database, randomUUID(), operatorId)).toEqual({ outcome: 'missing' });
    expect(await retryFailedRuns(database, randomUUID(), operatorId)).toEqual({ outcome: 'missing' });
    expect(await runsOf(graph)).toHaveLength(3);
  });

  test('a repeat changes nothing, and of ten operators at once one has it queued', async () => {
    const { template, graph, runId } = await failedGraph();
    const results = await Promise.all(
      Array.from({ length: 10 }, () => retryRun(database, runId, operatorId)),
    );
    expect(results.map(({ outcome }) => outcome).sort()).toEqual(['queued', ...Array(9).fill('unchanged')]);
    expect(await acquire(template)).toMatchObject({ attempt: 2 });
    expect(await retryRun(database, runId, operatorId)).toMatchObject({
      outcome: 'unchanged',
      run: { state: 'held' },
    });
    expect(await runsOf(graph)).toHaveLength(1);
  });

  test('operators against uploads: each input is gone over, and the node never has two open runs', async () => {
    const { template, graph, runId } = await failedGraph();
    const [retried] = await Promise.all([
      retryRun(database, runId, operatorId),
      uploadId(graph),
      retryFailedRuns(database, graph.sessionId, operatorId),
    ]);
    const seen = new Set<number>();
    for (let task = await tryTake(template); task; task = await tryTake(template)) {
      for (const id of await inputsOf(task, 'all')) seen.add(id);
      await finishTask(graph, task);
    }
    expect(seen.size).toBe(2);
    const runs = await runsOf(graph);
    expect(runs.map(({ state }) => state)).toEqual(['done', 'done']);
    if (retried.outcome !== 'queued') expect(['superseded', 'unchanged']).toContain(retried.outcome);
  });
});

describe('all failed nodes of a session at once', () => {
  test('are retried with one run of each node, and a repeat finds none', async () => {
    const template = `operated-${randomUUID()}`;
    await outsideTemplate(database, template);
    const names = ['a', 'b', 'c'];
    const graph = await makeGraph(database, [
      { name: 'input', parents: [] },
      ...names.map((name) => ({ name, parents: ['input'], template })),
    ]);
    await upload(database, graph, 'input');
    for (const how of [broken, { ...completed, outcome: 'no-output' } as const, broken])
      await end(await acquire(template), how);
    const both = await Promise.all([1, 2].map(() => retryFailedRuns(database, graph.sessionId, operatorId)));
    expect(both.map((result) => 'retried' in result && result.retried).sort()).toEqual([0, 2]);
    expect(await stateOf(database, graph, 'b')).toBe(nodeStateCodes.Succeeded);
    const nodes = [(await acquire(template)).nodeName, (await acquire(template)).nodeName];
    expect(nodes).toEqual(['a', 'c']);
  });
});
