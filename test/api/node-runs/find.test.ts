/** Operators find runs. */
import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { ask } from '../../support/api.ts';
import { makeGraph, outsideTemplate } from '../../support/graph.ts';
import { runnerStage } from '../../support/runner.ts';

const stage = await runnerStage();
const { api, people, database } = stage;
const path = '/api/v2/admin/node-runs';
const token = people.Developer.token;
const get = (query: string) => ask(api.url, 'GET', `${path}${query}`, { token });
const post = (action: string) => ask(api.url, 'POST', `/api/v2/admin/${action}`, { token });

const broken = { category: 'validation', reason: 'Row 7 is no lap.' };

describe('operators find runs', () => {
  test('with the reasons of their failures, attempt by attempt', async () => {
    const graph = await stage.chainOf(1, { maxAttempts: 3 });
    await stage.upload(graph, 'input', '1');
    const runner = stage.runner();
    const task = await runner.acquire(graph.template);
    await runner.end(task.taskId, 'fail', { category: 'memory', reason: 'Out of memory.' });
    const { body } = await get(`?sessionId=${graph.sessionId}`);
    const [run] = body.nodeRuns;
    const instant = expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/);
    expect(body).toEqual({
      nodeRuns: [
        {
          id: task.runId,
          projectId: graph.projectId,
          sessionId: graph.sessionId,
          sessionName: 'Session',
          nodeInstanceId: graph.nodes.n1,
          nodeName: 'n1',
          nodeTemplate: graph.template,
          runnerType: 'outside-runner',
          reason: 'input',
          state: 'waiting',
          nodeState: 'Pending',
          statusDetails: 'Attempt 1 of 3 failed, waiting for the next: memory: Out of memory.',
          attempt: 2,
          maxAttempts: 3,
          cancelRequested: false,
          retryable: false,
          createdAt: instant,
          endedAt: null,
          nextAttemptAt: instant,
          heldBy: null,
          attempts: [
            {
              number: 1,
              startedAt: instant,
              endedAt: instant,
              outcome: 'failed',
              category: 'memory',
              reason: 'Out of memory.',
              nextAttemptAt: run.nextAttemptAt,
              runner: { instanceId: runner.instanceId, name: null, version: 'node' },
            },
            {
              number: 2,
              startedAt: null,
              endedAt: null,
              outcome: null,
              category: null,
              reason: '',
              nextAttemptAt: null,
              runner: null,
            },
          ],
        },
      ],
      page: 1,
      pageSize: 25,
      totalCount: 1,
      totalPages: 1,
    });
    expect((await get(`/${task.runId}`)).body).toEqual(run);
    // The attempt says who held it, also when its instance came back with another version, and when it is forgotten.
    const instance = [runner.instanceId];
    await database.query(`update runner_instance set version = 'newer' where instance_id = $1`, instance);
    expect((await get(`/${task.runId}`)).body).toEqual(run);
    await database.query('delete from runner_instance where instance_id = $1', instance);
    expect((await get(`/${task.runId}`)).body).toEqual(run);
  });

  test('by session, node, template and state, page by page, the last queued first', async () => {
    const template = `listed-${randomUUID()}`;
    await outsideTemplate(database, template);
    const names = ['a', 'b', 'c', 'd', 'e'];
    const graph = await makeGraph(database, [
      { name: 'input', parents: [] },
      ...names.map((name) => ({ name, parents: ['input'], template })),
    ]);
    await database.query(
      `update node_instance set configuration = '{"dataSourceName":"platform"}' where id = $1`,
      [graph.nodes.input],
    );
    await stage.upload(Object.assign(graph, { template }), 'input', '1');
    const runner = stage.runner();
    const runs: string[] = [];
    for (const how of ['fail', 'fail', 'complete', 'release'] as const) {
      const task = await runner.acquire(template);
      runs.push(task.runId);
      const json = { fail: broken, complete: { outcome: 'no-output' }, release: {} }[how];
      expect((await runner.end(task.taskId, how, json)).status).toBe(200);
    }
    // The released run is still the oldest one that is queued.
    const held = await runner.acquire(template);
    const last = await stage.runner().acquire(template);
    await post(`node-runs/${last.runId}/cancel`);
    const inSession = `?sessionId=${graph.sessionId}`;
    const idsOf = async (query: string) =>
      (await get(query)).body.nodeRuns.map(({ id }: { id: string }) => id);
    const all = [last.runId, held.runId, runs[2], runs[1], runs[0]];
    expect(await idsOf(inSession)).toEqual(all);
    const pages = [];
    for (const page of [1, 2, 3]) pages.push(await idsOf(`${inSession}&pageSize=2&page=${page}`));
    expect(pages).toEqual([all.slice(0, 2), all.slice(2, 4), all.slice(4)]);
    expect((await get(`${inSession}&pageSize=2&page=2`)).body).toMatchObject({
      totalCount: 5,
      totalPages: 3,
    });
    expect(await idsOf(`${inSession}&state=failed`)).toEqual([runs[1], runs[0]]);
    expect(await idsOf(`${inSession}&state=no-output,held`)).toEqual([last.runId, held.runId, runs[2]]);
    expect(await idsOf(`?nodeInstanceId=${graph.nodes.b}`)).toEqual([runs[1]]);
    // Without a session: what is open or failed, anywhere.
    expect(await idsOf(`?nodeTemplate=${template}`)).toEqual([last.runId, held.runId, runs[1], runs[0]]);
    expect(await idsOf(`?nodeTemplate=${template}&state=failed,queued`)).toEqual([runs[1], runs[0]]);
    const holder = async () => (await get(`${inSession}&state=held`)).body.nodeRuns[1];
    const { instanceId } = runner;
    const silent = { instanceId, phase: null, message: null, progress: null };
    expect(await holder()).toMatchObject({ heldBy: silent, nodeState: 'Processing' });
    const reported = { phase: 'splitting', message: 'lap 3', progress: { done: 3, total: 12 } };
    await runner.call('PUT', `/tasks/${held.taskId}/heartbeat`, reported);
    const progress = { done: 3, total: 12, unit: null };
    expect(await holder()).toMatchObject({ heldBy: { ...reported, instanceId, progress } });
    expect((await get(`?sessionId=${randomUUID()}`)).body).toMatchObject({ nodeRuns: [], totalPages: 0 });
  });

  test.each([
    ['?state=parked', /state must be one or more of/],
    ['?state=failed,', /state must be one or more of/],
    ['?state=completed', /require sessionId or nodeInstanceId/],
    ['?sessionId=7', /sessionId/],
    ['?nodeInstanceId=x', /nodeInstanceId/],
    ['?page=0', /page/],
    ['?pageSize=101', /pageSize/],
  ])('%s is 400', async (query, message) => {
    const answer = await get(query);
    expect(answer).toMatchObject({ status: 400, body: { status: 'error' } });
    expect(answer.body.message).toMatch(message);
  });
});
