import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { endTask } from '../../store/runs/end-task.ts';
import { requestReprocess } from '../../store/runs/reprocess.ts';
import type { OutputWrite } from '../../store/runs/task-outputs.ts';
import { publishQueued, queueUpload } from '../../store/uploads/queued-uploads.ts';
import { databaseStage } from '../support/databases.ts';
import {
  claim,
  type Graph,
  makeGraph,
  outsideTemplate,
  storedObject,
  upload,
  writeOne,
} from '../support/graph.ts';

const { database } = await databaseStage(12);

const completed = { kind: 'complete', outcome: 'completed', hasMore: false } as const;
const callers = 12;
const stagedByEach = 20;

/** A session with an input node and as many nodes below it as there are callers, each of its own template. */
async function world() {
  const templates = Array.from({ length: callers }, () => `outside-${randomUUID()}`);
  for (const template of templates) await outsideTemplate(database, template, { incremental: true });
  const graph = await makeGraph(database, [
    { name: 'input', parents: [] },
    ...templates.map((template, index) => ({ name: `n${index}`, parents: ['input'], template })),
  ]);
  return { graph, templates };
}

/** Stages more of the same output, as a run does that writes many. */
async function stageMany(write: OutputWrite, count: number): Promise<void> {
  if (write.kind !== 'created') throw new Error(write.kind);
  await database.query(
    `insert into node_output (session_id, node_instance_id, run_id, data_source_id, object_key, output_identifier,
                              size_bytes, etag, configuration)
     select session_id, node_instance_id, run_id, data_source_id, object_key, output_identifier || '.' || copy,
            size_bytes, etag, configuration
       from node_output, generate_series(1, $2::int) copy where id = $1 order by random()`,
    [write.output.id, count],
  );
}

/** Publishes in each of the ways that there are, one of them by a task of the caller's own node. */
async function publishEveryWay(graph: Graph, template: string, instanceId: string): Promise<void> {
  const runner = { holder: 'token', instanceId };
  const nodeInstanceId = graph.nodes.input!;
  const { output } = await upload(database, graph, 'input', randomUUID());
  await upload(database, graph, 'input', output.outputIdentifier);
  await requestReprocess(database, nodeInstanceId);
  const task = (await claim(database, runner, template))!;
  await writeOne(database, runner, graph, task);
  await writeOne(database, runner, graph, task, randomUUID(), output.id);
  await stageMany(await writeOne(database, runner, graph, task), stagedByEach);
  const ended = await endTask(database, { ...runner, taskId: task.taskId }, completed, {
    digest: 'completed',
    jitter: 0,
  });
  expect(ended.kind).toBe('ended');
  const object = { ...(await storedObject(database, graph)), outputIdentifier: null };
  const queued = await queueUpload(database, { ...object, nodeInstanceId });
  if (queued.outcome !== 'queued') throw new Error(queued.outcome);
  await publishQueued(database, graph.sessionId, [queued.id], new Map(), new Set());
}

/** Consecutive outputs of the session of which the later one has the earlier time. */
async function countFalls(graph: Graph): Promise<{ outputs: number; falls: number; newest: Date }> {
  const [row] = await database.query<{ outputs: number; falls: number; newest: Date }>(
    `select count(*) as outputs, count(*) filter (where created_at < before) as falls,
            (array_agg(created_at order by position desc))[1] as newest
       from (select position, created_at, lag(created_at) over (order by position) as before
               from node_output where session_id = $1 and position is not null) listed`,
    [graph.sessionId],
  );
  return row!;
}

test('outputs that twelve callers publish at once in every way stand in the order of createdAt', async () => {
  const { graph, templates } = await world();
  await Promise.all(templates.map((template, index) => publishEveryWay(graph, template, `runner-${index}`)));
  const { outputs, falls } = await countFalls(graph);
  // The last queued upload may still wait.
  expect(outputs).toBeGreaterThan(callers * stagedByEach);
  expect(falls).toBe(0);
});

test.each(['known', 'unknown, as after an upgrade'])(
  'createdAt does not fall when the clock steps back (time of the newest publication: %s)',
  async (known) => {
    const { graph, templates } = await world();
    await upload(database, graph, 'input');
    // As if the clock had been an hour ahead until now.
    const [{ ahead } = { ahead: new Date(0) }] = await database.query<{ ahead: Date }>(
      `update node_output set created_at = date_trunc('milliseconds', created_at + interval '1 hour')
        where session_id = $1 returning created_at as ahead`,
      [graph.sessionId],
    );
    await database.query('update session set newest_output_at = $2 where id = $1', [
      graph.sessionId,
      known === 'known' ? ahead : null,
    ]);
    await publishEveryWay(graph, templates[0]!, 'runner');
    expect(await countFalls(graph)).toMatchObject({ falls: 0, newest: ahead });
  },
);
