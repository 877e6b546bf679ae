import { describe, expect, test } from 'vitest';
import { orderChangedProjects } from '../../../../store/runs/claim-order.ts';
import { ask } from '../../../support/api.ts';
import { chain, makeGraph } from '../../../support/graph.ts';
import { runnerStage, type StageGraph } from '../../../support/runner.ts';

const stage = await runnerStage();
const { database, people, api } = stage;

/** Sessions with one node of the same template. */
async function sessions(count: number): Promise<StageGraph[]> {
  const first = await stage.chainOf(1);
  const graphs = [first];
  while (graphs.length < count) {
    const graph = await makeGraph(database, chain(1, first.template));
    await database.query(
      `update node_instance set configuration = '{"dataSourceName":"platform"}' where session_id = $1`,
      [graph.sessionId],
    );
    graphs.push({ ...graph, template: first.template });
  }
  return graphs;
}

const prioritise = (graph: StageGraph, priority: unknown, token = people.Developer.token) =>
  ask(api.url, 'PATCH', `/api/v2/sessions/${graph.sessionId}`, { token, json: { priority } });

async function prioritiseProject(graph: StageGraph, Priority: unknown) {
  const token = people.Developer.token;
  const project = await ask(api.url, 'GET', `/projects/${graph.projectId}`, { token });
  return ask(api.url, 'PUT', `/projects/${graph.projectId}`, {
    token,
    json: { Title: project.body.title, Priority },
  });
}

async function claimOrder(graphs: readonly StageGraph[]): Promise<number[]> {
  const order: number[] = [];
  while (order.length < graphs.length) {
    const { sessionId } = await stage.runner().acquire(graphs[0]!.template);
    order.push(graphs.findIndex((graph) => graph.sessionId === sessionId));
  }
  return order;
}

/** As if the uploads had been `seconds` ago. */
async function ago(graph: StageGraph, seconds: number): Promise<void> {
  await database.query(
    `update node_run set queue_time = queue_time - make_interval(secs => $2),
            claim_time = claim_time - make_interval(secs => $2) where session_id = $1`,
    [graph.sessionId, seconds],
  );
}

describe('priority', () => {
  test('moves what is queued later, a minute for each step, so that nothing starves', async () => {
    const [old, plain, urgent] = (await sessions(3)) as [StageGraph, StageGraph, StageGraph];
    expect(await prioritise(urgent, 3)).toMatchObject({ status: 200 });
    for (const graph of [old, plain, urgent]) await stage.upload(graph, 'input', '1');
    await ago(old, 181);
    expect(await claimOrder([old, plain, urgent])).toEqual([0, 2, 1]);
  });

  test('of a session moves what is queued already, and is shown', async () => {
    const graphs = await sessions(3);
    for (const graph of graphs) await stage.upload(graph, 'input', '1');
    await prioritise(graphs[2]!, 1);
    await prioritise(graphs[0]!, -1);
    const token = people.Developer.token;
    const shown = await ask(api.url, 'GET', `/api/v2/sessions/${graphs[0]!.sessionId}`, { token });
    expect(shown.body.priority).toBe(-1);
    expect(await claimOrder(graphs)).toEqual([2, 1, 0]);
  });

  test('of a project moves what is queued in its sessions, and both together end at 10', async () => {
    const graphs = await sessions(3);
    for (const graph of graphs) await stage.upload(graph, 'input', '1');
    await prioritise(graphs[1]!, 10);
    await prioritise(graphs[2]!, 1);
    expect(await prioritiseProject(graphs[2]!, 10)).toMatchObject({ status: 200, body: { priority: 10 } });
    // Ten and ten are no more than ten: of two that are equal the older comes first.
    await ago(graphs[2]!, 1);
    expect(await claimOrder(graphs)).toEqual([2, 1, 0]);
    expect(await prioritiseProject(graphs[2]!, 0)).toMatchObject({ status: 200, body: { priority: 0 } });
  });

  test('of a project reaches runs that were planned while it changed', async () => {
    const [one] = (await sessions(1)) as [StageGraph];
    await stage.upload(one, 'input', '1');
    await prioritiseProject(one, 2);
    // A run that was planned with the priority before.
    await database.query('update node_run set claim_time = queue_time where session_id = $1', [
      one.sessionId,
    ]);
    await database.query(
      `update claim_order_change set changed_at = changed_at - interval '2 minutes' where project_id = $1`,
      [one.projectId],
    );
    await orderChangedProjects(database);
    await orderChangedProjects(database);
    const [run] = await database.query<{ seconds: number }>(
      'select extract(epoch from queue_time - claim_time)::float8 as seconds from node_run where session_id = $1',
      [one.sessionId],
    );
    expect(run!.seconds).toBe(120);
    expect(
      await database.query('select 1 from claim_order_change where project_id = $1', [one.projectId]),
    ).toEqual([]);
    await prioritiseProject(one, 0);
  });

  test.each([11, -11, 1.5, '1'])('%j is refused', async (priority) => {
    const [graph] = (await sessions(1)) as [StageGraph];
    expect(await prioritise(graph, priority)).toMatchObject({ status: 400 });
    expect(await prioritiseProject(graph, priority)).toMatchObject({ status: 400 });
  });
});
