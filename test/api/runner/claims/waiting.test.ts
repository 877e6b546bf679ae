import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { afterAll, describe, expect, test } from 'vitest';
import { startTestApi } from '../../../support/api.ts';
import { eventually } from '../../../support/eventually.ts';
import { type Graph, makeGraph, outsideTemplate, upload } from '../../../support/graph.ts';
import { runnerStage, type StageGraph } from '../../../support/runner.ts';
import { stretched } from '../../../support/stretched.ts';

const stage = await runnerStage();
const { api, database, platform } = stage;
const { waiters } = api.composed.services.runners;
const second = await startTestApi(platform.environment);
afterAll(() => second.stop());

/** Resolves when the claims wait in the first API process. */
const waiting = (count: number) =>
  eventually(`${count} claims wait`, () => waiters.count === count && waiters.idleCount === count);

/** An input node with `count` children of one template: all become ready in one transaction. */
async function fan(count: number): Promise<StageGraph> {
  const template = `t-${randomUUID()}`;
  await outsideTemplate(database, template);
  const children = Array.from({ length: count }, (_, at) => ({
    name: `n${at}`,
    parents: ['input'],
    template,
  }));
  return { ...(await makeGraph(database, [{ name: 'input', parents: [] }, ...children])), template };
}

async function claimsOf(graph: Graph): Promise<{ instanceId: string; ending: string | null }[]> {
  return database.query(
    `select c.instance_id, c.ending from node_claim c join node_run r on r.id = c.run_id
      where r.session_id = $1 order by c.claimed_at`,
    [graph.sessionId],
  );
}

describe('a waiting claim', () => {
  test('is answered within 100 ms of an upload', async () => {
    const delays: number[] = [];
    for (let round = 0; round < 10; round += 1) {
      const graph = await stage.chainOf(1);
      const claimed = stage.runner().claim(graph.template, 30);
      await waiting(1);
      await upload(database, graph, 'input');
      const readyAtMs = performance.now();
      expect((await claimed).status).toBe(200);
      delays.push(performance.now() - readyAtMs);
    }
    delays.sort((a, b) => a - b);
    // On a busy machine one round may be late; the poll of a second would delay all of them.
    expect(delays[4]).toBeLessThan(stretched(100));
  });

  test('is answered when the parent’s task completes, with the new task', async () => {
    const graph = await stage.chainOf(2);
    await upload(database, graph, 'input');
    const [first, next] = [stage.runner(), stage.runner()];
    const task = await first.acquire(graph.template);
    const claimed = next.claim(graph.template, 30);
    await waiting(1);
    await first.write(task.taskId, 'a');
    await first.end(task.taskId, 'complete', { outcome: 'completed' });
    expect((await claimed).body).toMatchObject({ nodeName: 'n2', reason: 'input' });
  });

  test('gets 204 after its wait', async () => {
    const graph = await stage.chainOf(1);
    const startedAtMs = performance.now();
    expect((await stage.runner().claim(graph.template, 1)).status).toBe(204);
    expect(performance.now() - startedAtMs).toBeGreaterThan(990);
    expect(waiters.count).toBe(0);
  });

  test('of an instance that claims again gets 204 at once, and the newer one the task', async () => {
    const graph = await stage.chainOf(1);
    const runner = stage.runner();
    const older = runner.claim(graph.template, 60);
    await waiting(1);
    const newer = runner.claim(graph.template, 60);
    expect((await older).status).toBe(204);
    await waiting(1);
    await upload(database, graph, 'input');
    expect((await newer).status).toBe(200);
    expect(await claimsOf(graph)).toHaveLength(1);
  });

  test('gets 204 too when the newer claim of its instance arrives at another process', async () => {
    const graph = await stage.chainOf(1);
    const instanceId = randomUUID();
    const older = stage.runner({ instanceId }).claim(graph.template, 60);
    await waiting(1);
    const newer = stage.runner({ instanceId, url: second.url }).claim(graph.template, 60);
    expect((await older).status).toBe(204);
    await upload(database, graph, 'input');
    expect((await newer).status).toBe(200);
  });

  test('whose caller hangs up leaves the task for the next', async () => {
    const graph = await stage.chainOf(1);
    const gone = new AbortController();
    const hungUp = stage.runner().claim(graph.template, 60, gone.signal);
    await waiting(1);
    gone.abort();
    await expect(hungUp).rejects.toThrow();
    await waiting(0);
    await upload(database, graph, 'input');
    const other = stage.runner();
    expect((await other.claim(graph.template, 5)).status).toBe(200);
    expect(await claimsOf(graph)).toEqual([{ instanceId: other.instanceId, ending: null }]);
  });

  test('covers a template that is registered while it waits for all', async () => {
    const runner = stage.runner();
    const claimed = runner.call('POST', '/tasks/claim', { instanceId: runner.instanceId, waitSeconds: 30 });
    await waiting(1);
    const graph = await stage.chainOf(1);
    await upload(database, graph, 'input');
    expect((await claimed).body).toMatchObject({ nodeTemplate: graph.template });
  });

  test('wakes only for its own templates', async () => {
    const [one, other] = [await stage.chainOf(1), await stage.chainOf(1)];
    const claims = [
      stage.runner().claim(one.template, 30),
      stage.runner().claim([one.template, other.template], 30),
    ];
    await waiting(2);
    await upload(database, other, 'input');
    expect((await claims[1])!.body.nodeTemplate).toBe(other.template);
    await upload(database, one, 'input');
    expect((await claims[0])!.body.nodeTemplate).toBe(one.template);
  });

  test('holds no database connection: more claims wait than the pool has, and every other call is answered', async () => {
    const graph = await stage.chainOf(1);
    const gone = new AbortController();
    const claims = Array.from({ length: 60 }, () => stage.runner().claim(graph.template, 60, gone.signal));
    await waiting(60);
    expect((await stage.runner().call('GET', '/whoami')).status).toBe(200);
    gone.abort();
    await Promise.allSettled(claims);
    await waiting(0);
  });
});

describe('many tasks at once', () => {
  test('of one transaction wake every waiting runner, although PostgreSQL notifies once', async () => {
    const graph = await fan(12);
    const claims = Array.from({ length: 12 }, () => stage.runner().claim(graph.template, 30));
    await waiting(12);
    await upload(database, graph, 'input');
    const startedAtMs = performance.now();
    const answers = await Promise.all(claims);
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 12 }, () => 200));
    expect(new Set(answers.map(({ body }) => body.runId)).size).toBe(12);
    // By the poll alone, one a second, it would be ten seconds slower.
    expect(performance.now() - startedAtMs).toBeLessThan(stretched(2_000));
  });

  test('are spread over the processes that wait for them', async () => {
    const graph = await fan(8);
    const claims = [
      ...Array.from({ length: 4 }, () => stage.runner().claim(graph.template, 30)),
      ...Array.from({ length: 4 }, () => stage.runner({ url: second.url }).claim(graph.template, 30)),
    ];
    await waiting(4);
    await eventually('4 wait at the other', () => second.composed.services.runners.waiters.idleCount === 4);
    await upload(database, graph, 'input');
    const answers = await Promise.all(claims);
    expect(new Set(answers.map(({ body }) => body.runId)).size).toBe(8);
  });
});

describe('when notifications fail', () => {
  test('a task queued while the listening connection is lost is found', async () => {
    const graph = await stage.chainOf(1);
    const claimed = stage.runner().claim(graph.template, 30);
    await waiting(1);
    const admin = new pg.Client({ connectionString: platform.databaseUrl });
    await admin.connect();
    const { rowCount } = await admin.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and (query ilike 'listen%' or query like '%as outdated%')
          and pid <> pg_backend_pid()`,
    );
    await admin.end();
    expect(rowCount).toBeGreaterThan(0);
    await upload(database, graph, 'input');
    const startedAtMs = performance.now();
    expect((await claimed).status).toBe(200);
    expect(performance.now() - startedAtMs).toBeLessThan(stretched(3_000));
  });

  test('a task without a notification is found within two seconds', async () => {
    const graph = await stage.chainOf(1);
    await upload(database, graph, 'input');
    await database.query(`update node_run set state = 'waiting' where session_id = $1`, [graph.sessionId]);
    const claimed = stage.runner().claim(graph.template, 30);
    await waiting(1);
    await database.query(`update node_run set state = 'queued' where session_id = $1`, [graph.sessionId]);
    const startedAtMs = performance.now();
    expect((await claimed).status).toBe(200);
    expect(performance.now() - startedAtMs).toBeLessThan(stretched(2_000));
  });
});

test('a stopping process answers its waiting claims with 204 at once', async () => {
  const third = await startTestApi(platform.environment);
  const graph = await stage.chainOf(1);
  const claims = [1, 2, 3].map(() => stage.runner({ url: third.url }).claim(graph.template, 60));
  const { waiters: theirs } = third.composed.services.runners;
  await eventually('3 claims wait', () => theirs.idleCount === 3);
  const startedAtMs = performance.now();
  const stopped = third.stop();
  expect((await Promise.all(claims)).map(({ status }) => status)).toEqual([204, 204, 204]);
  expect(performance.now() - startedAtMs).toBeLessThan(stretched(1_000));
  await stopped;
});
