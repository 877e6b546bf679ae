/** Tasks of one node template in several sessions. */
import { runnerStage, type StageGraph, type TestRunner } from '../../../support/runner.ts';

export async function nextStage() {
  const stage = await runnerStage();
  const { api, database, people } = stage;

  /** A session with `count` tasks of one node template queued below one input. */
  async function queued(count: number): Promise<StageGraph> {
    const graphs = [];
    const first = await stage.chainOf(1);
    await stage.upload(first, 'input', 'a');
    for (let at = 1; at < count; at += 1) graphs.push(await alike(first));
    return first;
  }

  async function alike(graph: StageGraph): Promise<StageGraph> {
    const other = await stage.chainOf(1);
    await database.query(
      `update node_instance set node_template_id = (select id from node_template where name = $2) where id = $1`,
      [other.nodes.n1, graph.template],
    );
    await stage.upload(other, 'input', 'a');
    return { ...other, template: graph.template };
  }

  const none = { outcome: 'no-output' };

  async function openClaims(runner: TestRunner): Promise<string[]> {
    const rows = await database.query<{ taskId: string }>(
      'select task_id from node_claim where instance_id = $1 and ended_at is null',
      [runner.instanceId],
    );
    return rows.map(({ taskId }) => taskId);
  }

  const { token } = people.Developer;
  return { stage, api, database, queued, none, openClaims, token };
}
