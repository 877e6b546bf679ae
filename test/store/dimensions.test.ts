import { expect, test } from 'vitest';
import { findDimension } from '../../store/dashboards/dimension-reads.ts';
import { type DimensionPublication, publishDimension } from '../../store/dashboards/dimensions.ts';
import { databaseStage } from '../support/databases.ts';
import { chain, claim, finish, type Graph, makeGraph, upload } from '../support/graph.ts';

const { database } = await databaseStage(6);

const identity = { holder: 'builtin', instanceId: 'one' };
const dashboard: DimensionPublication = {
  name: 'Recording',
  dashboardName: 'Recording',
  dashboardVersion: 'next',
  sources: [],
  layout: { version: 1, panels: [] },
  scenario: { name: 'flight', from: new Date('2026-01-02'), to: new Date('2026-01-03') },
};
const scenarios = (graph: Graph) =>
  database.query('select scenario_name, from_at, to_at from scenario_instance where session_id = $1', [
    graph.sessionId,
  ]);

test('a node has one dashboard, brought up to date by each run, and its scenario is only widened', async () => {
  const graph = await makeGraph(database, chain(1));
  await upload(database, graph, 'input');
  const task = (await claim(database, identity))!;
  const first = await publishDimension(database, identity, task.taskId, dashboard);
  const second = await publishDimension(database, identity, task.taskId, {
    ...dashboard,
    name: 'Second',
    layout: null,
    scenario: { name: 'flight', from: new Date('2026-01-01'), to: null },
  });
  expect(second).toBe(first);
  expect(await findDimension(database, first!)).toMatchObject({
    name: 'Second',
    layout: null,
    sessionId: graph.sessionId,
    scenarioName: 'flight',
    from: new Date('2026-01-01'),
    to: new Date('2026-01-03'),
  });
  expect(await scenarios(graph)).toHaveLength(1);
  await finish(database, identity, graph, task);
});

test('nothing is written for a task that is no longer held', async () => {
  const graph = await makeGraph(database, chain(1));
  await upload(database, graph, 'input');
  const task = (await claim(database, identity))!;
  expect(
    await publishDimension(database, { ...identity, instanceId: 'two' }, task.taskId, dashboard),
  ).toBeUndefined();
  await finish(database, identity, graph, task);
  expect(await publishDimension(database, identity, task.taskId, dashboard)).toBeUndefined();
  expect(await scenarios(graph)).toEqual([]);
});

test('two nodes that publish the same scenario at once make it once', async () => {
  const graph = await makeGraph(database, [
    { name: 'input', parents: [] },
    { name: 'left', parents: ['input'] },
    { name: 'right', parents: ['input'] },
  ]);
  await upload(database, graph, 'input');
  const other = { ...identity, instanceId: 'two' };
  const tasks = [await claim(database, identity), await claim(database, other)] as const;
  const ids = await Promise.all([
    publishDimension(database, identity, tasks[0]!.taskId, dashboard),
    publishDimension(database, other, tasks[1]!.taskId, dashboard),
  ]);
  expect(new Set(ids).size).toBe(2);
  expect(await scenarios(graph)).toHaveLength(1);
});
