import { expect, test } from 'vitest';
import { findDimension } from '../../store/dashboards/dimension-reads.ts';
import { type NewSource, sourcesWithin } from '../../store/dashboards/dimension-sources.ts';
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
  suggestsLayout: false,
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
  const first = await publishDimension(database, { ...identity, taskId: task.taskId }, dashboard);
  const second = await publishDimension(
    database,
    { ...identity, taskId: task.taskId },
    {
      ...dashboard,
      name: 'Second',
      layout: null,
      scenario: { name: 'flight', from: new Date('2026-01-01'), to: null },
    },
  );
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
    await publishDimension(database, { ...identity, instanceId: 'two', taskId: task.taskId }, dashboard),
  ).toBeUndefined();
  await finish(database, identity, graph, task);
  expect(await publishDimension(database, { ...identity, taskId: task.taskId }, dashboard)).toBeUndefined();
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
    publishDimension(database, { ...identity, taskId: tasks[0]!.taskId }, dashboard),
    publishDimension(database, { ...other, taskId: tasks[1]!.taskId }, dashboard),
  ]);
  expect(new Set(ids).size).toBe(2);
  expect(await scenarios(graph)).toHaveLength(1);
});

/** A recording of an upload. */
function recording(outputId: number, sourceId: number, position: number): NewSource {
  const time = { kind: 'absolute', from: `2026-01-0${outputId}T00:00:00.000Z`, to: null };
  const rest = { name: 'lap', realm: '', rowCount: 1, groups: [], channels: [], sha256: null };
  const source = { ...rest, outputId, time, dataSourceId: 1, objectKey: 'key', description: null };
  return { sourceId, position, source };
}

/** A dashboard whose task is held, and the outputs that it draws from. */
async function heldDashboard() {
  const graph = await makeGraph(database, chain(1));
  await upload(database, graph, 'input');
  const holder = { ...identity, instanceId: 'three' };
  const task = (await claim(database, holder))!;
  const publish = async (
    sources: readonly NewSource[],
    scenario: DimensionPublication['scenario'] = null,
  ) => {
    const publication = { ...dashboard, sources, scenario };
    return (await publishDimension(database, { ...holder, taskId: task.taskId }, publication))!;
  };
  const end = () => finish(database, holder, graph, task);
  const id = await publish([]);
  const outputs = async () => (await sourcesWithin(database, id))?.map(({ outputId }) => outputId);
  return { graph, publish, end, id, outputs };
}

test('a run adds its recordings to those of earlier runs; of each upload the newest stays', async () => {
  const { publish, end, outputs } = await heldDashboard();
  await publish([recording(1, 10, 5), recording(2, 11, 6)]);
  await publish([recording(3, 12, 7)]);
  expect(await outputs()).toEqual([1, 2, 3]);
  await publish([recording(4, 10, 8), recording(5, 10, 9)]);
  expect(await outputs()).toEqual([5, 2, 3]);
  // A reprocess reads all of them again, the older first.
  await publish([recording(1, 10, 5), recording(4, 10, 8), recording(3, 12, 7)]);
  expect(await outputs()).toEqual([5, 2, 3]);
  await end();
});

test('a scenario that is made later is over all recordings of the dashboard', async () => {
  const { graph, publish, end } = await heldDashboard();
  await publish([recording(1, 10, 5), recording(2, 11, 6)]);
  const from = new Date('2026-01-03');
  await publish([recording(3, 12, 7)], { name: 'late', from, to: from });
  expect(await scenarios(graph)).toEqual([
    { scenarioName: 'late', fromAt: new Date('2026-01-01'), toAt: from },
  ]);
  await end();
});

test('recordings that a worker of the version before writes are shown, and added to', async () => {
  const { publish, end, id, outputs } = await heldDashboard();
  await publish([recording(1, 10, 5)]);
  const written = [recording(1, 10, 0), recording(2, 11, 0)].map(({ source, sourceId }) => ({
    ...source,
    description: { source: { outputId: sourceId } },
  }));
  await database.query('update dimension set sources = $2::jsonb where id = $1', [
    id,
    JSON.stringify(written),
  ]);
  expect(await outputs()).toEqual([1, 2]);
  await publish([recording(3, 11, 8)]);
  expect(await outputs()).toEqual([1, 3]);
  await end();
});
