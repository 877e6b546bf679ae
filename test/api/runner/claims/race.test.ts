import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { makeGraph, outsideTemplate, upload } from '../../../support/graph.ts';
import { runnerStage, type TestRunner } from '../../../support/runner.ts';

const stage = await runnerStage();
const { database } = stage;

test('32 runners racing for 500 runs over HTTP hold each exactly once', async () => {
  const template = `t-${randomUUID()}`;
  await outsideTemplate(database, template);
  const sessions: string[] = [];
  for (let session = 0; session < 10; session += 1) {
    const children = Array.from({ length: 50 }, (_, at) => ({
      name: `n${at}`,
      parents: ['input'],
      template,
    }));
    const graph = await makeGraph(database, [{ name: 'input', parents: [] }, ...children]);
    await upload(database, graph, 'input');
    sessions.push(graph.sessionId);
  }
  const runs: string[] = [];
  const work = async (runner: TestRunner) => {
    for (;;) {
      const answer = await runner.claim(template);
      if (answer.status === 204) return;
      expect(answer.status).toBe(200);
      runs.push(answer.body.runId);
      const end = await runner.end(answer.body.taskId, 'complete', { outcome: 'no-output' });
      expect(end.status).toBe(200);
    }
  };
  await Promise.all(Array.from({ length: 32 }, () => work(stage.runner())));
  expect(runs).toHaveLength(500);
  expect(new Set(runs).size).toBe(500);
  const [row] = await database.query<{ claims: number; open: number }>(
    `select count(*) as claims, count(*) filter (where c.ended_at is null) as open
       from node_claim c join node_run r on r.id = c.run_id where r.session_id = any ($1::uuid[])`,
    [sessions],
  );
  expect(row).toEqual({ claims: 500, open: 0 });
});

test('concurrent claims of one instance id give it at most one task', async () => {
  const template = `t-${randomUUID()}`;
  await outsideTemplate(database, template, { maxAttempts: 20 });
  const children = Array.from({ length: 20 }, (_, at) => ({ name: `n${at}`, parents: ['input'], template }));
  const graph = await makeGraph(database, [{ name: 'input', parents: [] }, ...children]);
  await upload(database, graph, 'input');
  const instanceId = randomUUID();
  const answers = await Promise.all(
    Array.from({ length: 24 }, (_, at) => stage.runner({ instanceId }).claim(template, at % 2)),
  );
  expect(answers.filter(({ status }) => status !== 200 && status !== 204)).toEqual([]);
  const held = await database.query<{ taskId: string }>(
    'select task_id from node_claim where instance_id = $1 and ended_at is null',
    [instanceId],
  );
  expect(held.length).toBeLessThanOrEqual(1);
  const alive = await Promise.all(
    answers
      .filter(({ status }) => status === 200)
      .map(({ body }) => stage.runner({ instanceId }).call('PUT', `/tasks/${body.taskId}/heartbeat`, {})),
  );
  expect(alive.filter(({ status }) => status === 200)).toHaveLength(held.length);
});
