/** Finish and get the next: one call ends a task and claims another one, by the rules of both. */
import { describe, expect, test } from 'vitest';
import { undoClaim } from '../../../../store/runs/release-claim.ts';
import { eventually } from '../../../support/eventually.ts';
import { upload } from '../../../support/graph.ts';
import { nextStage } from './next-stage.ts';

const { stage, api, database, queued, none, openClaims } = await nextStage();
const ends: ['complete' | 'fail' | 'release', object][] = [
  ['complete', none],
  ['fail', { reason: 'x', category: 'validation' }],
  ['release', { reason: 'x' }],
];

describe('an end with next', () => {
  test.each(ends)('%s answers its end and the next task, in the form of a claim', async (how, body) => {
    const graph = await queued(2);
    const runner = stage.runner();
    const first = await runner.acquire(graph.template);
    const next = { waitSeconds: 0, templates: [graph.template] };
    const answer = await runner.end(first.taskId, how, { ...body, next });
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({ taskId: first.taskId, nodeState: expect.any(String) });
    expect(Object.keys(answer.body.next).toSorted()).toEqual(Object.keys(first).toSorted());
    expect(await openClaims(runner)).toEqual([answer.body.next.taskId]);
    expect((await runner.call('PUT', `/tasks/${answer.body.next.taskId}/heartbeat`, {})).status).toBe(200);
  });

  test.each(ends)(
    '%s without next has the reply of before, and an end is the same with next or without',
    async (how, body) => {
      const graph = await queued(1);
      const runner = stage.runner();
      const { taskId } = await runner.acquire(graph.template);
      // So that the released task is not the next one.
      const next = { templates: [(await stage.chainOf(1)).template] };
      const plain = await runner.end(taskId, how, body);
      expect(plain.body).not.toHaveProperty('next');
      const asked = await runner.end(taskId, how, { ...body, next });
      expect(asked.body).toEqual({ ...plain.body, next: null });
      expect((await runner.end(taskId, how, { ...body, next: null })).body).toEqual(plain.body);
    },
  );

  test('waits for a task, and answers null when none comes in time', async () => {
    const graph = await queued(1);
    const runner = stage.runner();
    const { taskId } = await runner.acquire(graph.template);
    const next = { waitSeconds: 30, templates: [graph.template] };
    const ended = runner.end(taskId, 'complete', { ...none, next });
    await eventually('it waits', () => api.composed.services.runners.waiters.idleCount === 1);
    await upload(database, graph, 'input');
    const { body } = await ended;
    expect(body).toMatchObject({ taskId, nodeState: 'Succeeded', next: { nodeName: 'n1', attempt: 1 } });
    const startedAt = performance.now();
    const last = await runner.end(body.next.taskId, 'complete', {
      ...none,
      next: { ...next, waitSeconds: 1 },
    });
    expect(last.body.next).toBeNull();
    expect(performance.now() - startedAt).toBeGreaterThan(900);
  });

  test('asks for all that it may claim when it names no template', async () => {
    const graph = await queued(2);
    const runner = stage.runner();
    const { taskId } = await runner.acquire(graph.template);
    const { body } = await runner.end(taskId, 'complete', { ...none, next: {} });
    expect(body.next.taskId).toMatch(/^[0-9a-f-]{36}$/);
    await runner.end(body.next.taskId, 'release');
  });

  test.each<[string, object, number, string]>([
    ['a wait beyond 30 s', { waitSeconds: 31 }, 400, 'invalid_request'],
    ['a wait that is no integer', { waitSeconds: 0.5 }, 400, 'invalid_request'],
    ['templates that are no list', { templates: 'x' }, 400, 'invalid_request'],
    ['an unknown template', { templates: ['never-registered'] }, 404, 'template_unknown'],
    [
      'a template that the caller may not claim',
      { templates: ['system-next-dimension'] },
      403,
      'template_not_allowed',
    ],
  ])('with %s ends nothing', async (_case, next, status, code) => {
    await database.query(
      `insert into runner_type (name, runtime) values ('system', 'system') on conflict do nothing`,
    );
    await database.query(
      `insert into node_template (name, runner_type, type) values ('system-next-dimension', 'system', 'Processing')
       on conflict do nothing`,
    );
    const graph = await queued(1);
    const runner = stage.runner();
    const { taskId } = await runner.acquire(graph.template);
    const answer = await runner.end(taskId, 'complete', { ...none, next });
    expect([answer.status, answer.body.code]).toEqual([status, code]);
    expect((await runner.call('PUT', `/tasks/${taskId}/heartbeat`, {})).status).toBe(200);
  });

  test('of a task that is not held any more claims nothing', async () => {
    const graph = await queued(2);
    const runner = stage.runner();
    const { taskId } = await runner.acquire(graph.template);
    const stranger = stage.runner();
    const next = { templates: [graph.template] };
    expect((await stranger.end(taskId, 'complete', { ...none, next })).status).toBe(404);
    await runner.end(taskId, 'complete', none);
    expect((await runner.end(taskId, 'release', { next })).status).toBe(409);
    expect([await openClaims(stranger), await openClaims(runner)]).toEqual([[], []]);
  });
});

describe('a repeat of an end with next', () => {
  test('answers the same end with the task that the instance holds, and never a second one', async () => {
    const graph = await queued(3);
    const runner = stage.runner();
    const { taskId } = await runner.acquire(graph.template);
    const json = { ...none, next: { waitSeconds: 5, templates: [graph.template] } };
    const first = await runner.end(taskId, 'complete', json);
    for (let at = 0; at < 3; at += 1) {
      const { body } = await runner.end(taskId, 'complete', json);
      const { leaseExpiresAt, ...task } = body.next;
      expect({ ...body, next: task }).toEqual({
        ...first.body,
        next: { ...first.body.next, leaseExpiresAt: undefined },
      });
      expect(Date.parse(leaseExpiresAt)).toBeGreaterThanOrEqual(Date.parse(first.body.next.leaseExpiresAt));
    }
    expect(await openClaims(runner)).toEqual([first.body.next.taskId]);
  });

  test('ten at once, with the end itself, all get the one task', async () => {
    const graph = await queued(4);
    const runner = stage.runner();
    const { taskId } = await runner.acquire(graph.template);
    for (const templates of [[graph.template], [graph.template, (await stage.chainOf(1)).template]]) {
      const json = { ...none, next: { waitSeconds: 2, templates } };
      const answers = await Promise.all(
        Array.from({ length: 10 }, () => runner.end(taskId, 'complete', json)),
      );
      expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(200));
      const held = await openClaims(runner);
      expect(held).toHaveLength(1);
      // A wait that a newer one of the instance has replaced ends with none.
      const tasks = new Set(answers.map(({ body }) => body.next?.taskId ?? null));
      tasks.delete(null);
      expect([...tasks]).toEqual(held);
    }
  });

  test('after the reply got lost finds the task, although its first delivery is undone later', async () => {
    const graph = await queued(2);
    const runner = stage.runner();
    const { taskId } = await runner.acquire(graph.template);
    const json = { ...none, next: { templates: [graph.template] } };
    const lost = (await runner.end(taskId, 'complete', json)).body.next.taskId;
    const found = await runner.end(taskId, 'complete', json);
    expect(found.body.next.taskId).toBe(lost);
    expect(await undoClaim(database, lost)).toBe(false);
    expect((await runner.end(lost, 'complete', none)).status).toBe(200);
  });

  test('claims when the first did not come to it', async () => {
    const graph = await queued(2);
    const runner = stage.runner();
    const { taskId } = await runner.acquire(graph.template);
    await runner.end(taskId, 'complete', none);
    const { body } = await runner.end(taskId, 'complete', { ...none, next: { templates: [graph.template] } });
    expect(await openClaims(runner)).toEqual([body.next.taskId]);
  });
});
