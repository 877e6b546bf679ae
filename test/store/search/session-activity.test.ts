/** What lists say of a session's work follows every fact about it. */
import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { sessionStates } from '../../../domain/sessions/session-state.ts';
import { endTask, type TaskEnd } from '../../../store/runs/end-task.ts';
import { retryRun } from '../../../store/runs/operate-runs.ts';
import { requestReprocess } from '../../../store/runs/reprocess.ts';
import { countListed } from '../../../store/search/session-list.ts';
import { sessionOverview } from '../../../store/search/session-overview.ts';
import { databaseStage } from '../../support/databases.ts';
import { chain, claim, finish, type Graph, makeGraph, outsideTemplate, upload } from '../../support/graph.ts';

const { database } = await databaseStage(4);

const runner = { holder: 'token', instanceId: 'runner' };
const failure = { kind: 'fail', category: 'validation', reason: 'no column' } as const;

async function graphOf(length: number): Promise<{ graph: Graph; template: string }> {
  const template = `activity-${randomUUID()}`;
  await outsideTemplate(database, template, { maxAttempts: 1 });
  return { graph: await makeGraph(database, chain(length, template)), template };
}

/** Also holds each filter by state against the state that is shown. */
async function overview({ sessionId, projectId }: Graph) {
  const shown = (await sessionOverview(database, sessionId))!;
  for (const state of sessionStates) {
    const { count } = await countListed(database, { projectId, states: [state] });
    expect(count, state).toBe(state === shown.state ? 1 : 0);
  }
  return shown;
}

async function end(template: string, how: TaskEnd): Promise<string> {
  const task = (await claim(database, runner, template))!;
  expect(
    (await endTask(database, { ...runner, taskId: task.taskId }, how, { digest: 'digest', jitter: 0 })).kind,
  ).toBe('ended');
  return task.runId;
}

test('a session goes from not started over running to done, with its nodes and bytes counted', async () => {
  const { graph, template } = await graphOf(2);
  expect(await overview(graph)).toMatchObject({
    state: 'notStarted',
    nodeCounts: { NeverBegan: 3 },
    outputBytes: 0,
    isFrozen: false,
  });
  await upload(database, graph, 'input');
  expect(await overview(graph)).toMatchObject({
    state: 'running',
    nodeCounts: { Succeeded: 1, Pending: 1, NeverBegan: 1 },
    outputBytes: 1,
  });
  const task = (await claim(database, runner, template))!;
  expect((await overview(graph)).nodeCounts).toEqual({ Succeeded: 1, Processing: 1, NeverBegan: 1 });
  await finish(database, runner, graph, task);
  expect((await overview(graph)).state).toBe('running');
  await finish(database, runner, graph, (await claim(database, runner, template))!);
  expect(await overview(graph)).toMatchObject({
    state: 'done',
    nodeCounts: { Succeeded: 3 },
    outputBytes: 3,
  });
});

test('a failed node makes the session failed, also while others run, until it is retried', async () => {
  const { graph, template } = await graphOf(1);
  await database.query(
    `insert into node_instance (session_id, ordinal, name, node_template_id, configuration, parent_ids)
     select session_id, 2, 'other', node_template_id, configuration, parent_ids from node_instance where id = $1`,
    [graph.nodes.n1],
  );
  await database.query(
    `update node_instance set child_ids = array(select id from node_instance where session_id = $1 and ordinal > 0)
      where id = $2`,
    [graph.sessionId, graph.nodes.input],
  );
  await upload(database, graph, 'input');
  const runId = await end(template, failure);
  expect(await overview(graph)).toMatchObject({
    state: 'failed',
    nodeCounts: { Succeeded: 1, Failed: 1, Pending: 1 },
  });
  await end(template, failure);
  expect((await overview(graph)).nodeCounts).toEqual({ Succeeded: 1, Failed: 2 });
  expect((await retryRun(database, runId, randomUUID())).outcome).toBe('queued');
  expect((await overview(graph)).state).toBe('failed');
  await database.query('delete from node_instance where session_id = $1 and state = 2', [graph.sessionId]);
  expect((await overview(graph)).state).toBe('running');
  await finish(database, runner, graph, (await claim(database, runner, template))!);
  expect((await overview(graph)).state).toBe('done');
});

test('bytes are those of the outputs as they are: replaced, appended again, and summed where they were not kept', async () => {
  const { graph } = await graphOf(1);
  const summed = async () => {
    const [row] = await database.query<{ bytes: number }>(
      'select sum(size_bytes)::bigint as bytes from node_output where session_id = $1 and position is not null',
      [graph.sessionId],
    );
    return row!.bytes;
  };
  await upload(database, graph, 'input', 'drive.csv');
  await database.query('update node_output set size_bytes = 100 where session_id = $1', [graph.sessionId]);
  await database.query('update session set output_bytes = 100 where id = $1', [graph.sessionId]);
  expect((await upload(database, graph, 'input', 'drive.csv')).outcome).toBe('replaced');
  expect((await overview(graph)).outputBytes).toBe(1);
  await upload(database, graph, 'input', 'lap.csv');
  await requestReprocess(database, graph.nodes.input!);
  expect((await overview(graph)).outputBytes).toBe(3);
  expect(await summed()).toBe(3);
  // A process of the version before has published since.
  await database.query('update session set output_bytes = 7, output_bytes_position = 1 where id = $1', [
    graph.sessionId,
  ]);
  expect((await overview(graph)).outputBytes).toBe(3);
  await upload(database, graph, 'input', 'more.csv');
  const [row] = await database.query<{ bytes: number; isKept: boolean }>(
    'select output_bytes as bytes, output_bytes_position = newest_position as is_kept from session where id = $1',
    [graph.sessionId],
  );
  expect(row).toEqual({ bytes: 4, isKept: true });
});

test('activity is known to ten seconds, and of a busy session written no more often', async () => {
  const { graph } = await graphOf(1);
  await upload(database, graph, 'input');
  const first = (await overview(graph)).lastActivityAt;
  await upload(database, graph, 'input');
  expect((await overview(graph)).lastActivityAt).toEqual(first);
  await database.query(
    "update session_activity set last_at = last_at - interval '11 seconds' where session_id = $1",
    [graph.sessionId],
  );
  await upload(database, graph, 'input');
  expect((await overview(graph)).lastActivityAt.getTime()).toBeGreaterThanOrEqual(first.getTime());
});
