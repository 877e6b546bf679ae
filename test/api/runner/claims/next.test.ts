/** Finish and get the next: one call ends a task and claims another one, by the rules of both. */
import { describe, expect, test } from 'vitest';
import { undoClaim } from '../../../../store/runs/release-claim.ts';
import { type Answer, ask } from '../../../support/api.ts';
import { eventually } from '../../../support/eventually.ts';
import { upload } from '../../../support/graph.ts';
import { runnerStage, type StageGraph, type TestRunner } from '../../../support/runner.ts';
import { tokenStage } from '../../runner-tokens/support.ts';

const stage = await runnerStage();
const { api, database, people } = stage;
const { token } = people.Developer;

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
const ends: ['complete' | 'fail' | 'release', object][] = [
  ['complete', none],
  ['fail', { reason: 'x', category: 'validation' }],
  ['release', { reason: 'x' }],
];

async function openClaims(runner: TestRunner): Promise<string[]> {
  const rows = await database.query<{ taskId: string }>(
    'select task_id from node_claim where instance_id = $1 and ended_at is null',
    [runner.instanceId],
  );
  return rows.map(({ taskId }) => taskId);
}

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

describe('the rules of a claim hold', () => {
  test('a caller that hangs up while it waits gets no task', async () => {
    const graph = await queued(1);
    const runner = stage.runner();
    const { taskId } = await runner.acquire(graph.template);
    const gone = new AbortController();
    const ended = fetch(`${api.url}/api/v2/runner/tasks/${taskId}/complete`, {
      method: 'PUT',
      headers: {
        authorization: `Bearer ${token}`,
        'x-platform-runner-instance': runner.instanceId,
        'content-type': 'application/json',
      },
      body: JSON.stringify({ ...none, next: { waitSeconds: 30, templates: [graph.template] } }),
      signal: gone.signal,
    });
    ended.catch(() => undefined);
    await eventually('it waits', () => api.composed.services.runners.waiters.idleCount === 1);
    await database.transaction(async (tx) => {
      // The claim then waits for this row, in the middle of its statement.
      await tx.query('select 1 from runner_instance where instance_id = $1 for update', [runner.instanceId]);
      await upload(database, graph, 'input');
      await eventually('the claim is under way', async () => {
        const waiting = `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
        return (await database.query(waiting)).length > 0;
      });
      gone.abort();
      await expect(ended).rejects.toThrow();
    });
    const next = await stage.runner().claim(graph.template, 10);
    expect(next.body).toMatchObject({ attempt: 1, reason: 'input' });
    expect(await openClaims(runner)).toEqual([]);
  });

  test('a drained instance ends its task and gets none', async () => {
    const graph = await queued(2);
    const runner = stage.runner();
    const { taskId } = await runner.acquire(graph.template);
    await database.query('update runner_instance set drained = true where instance_id = $1', [
      runner.instanceId,
    ]);
    const { body } = await runner.end(taskId, 'complete', {
      ...none,
      next: { templates: [graph.template] },
    });
    expect(body).toMatchObject({ nodeState: 'Succeeded', next: null });
  });

  test('a token that is revoked while it waits: the end is answered, and the next call is 401', async () => {
    let answer: Answer;
    // The round of each second may end the waiting call before the upload wakes it: then the case has not occurred.
    do answer = await endedAsRevoked();
    while (answer.status === 401);
    expect([answer.status, answer.body.next]).toEqual([200, null]);
  });

  /** The answer to an end that waits for the next task when its token is revoked and an upload wakes it. */
  async function endedAsRevoked(): Promise<Answer> {
    const { graph, made, runner: newRunner } = await tokenStage(stage);
    await stage.upload(graph, 'input', 'a');
    const runner = newRunner();
    const { taskId } = await runner.acquire(graph.template);
    const ended = runner.end(taskId, 'complete', {
      ...none,
      next: { waitSeconds: 30, templates: [graph.template] },
    });
    await eventually('it waits', () => api.composed.services.runners.waiters.idleCount === 1);
    // It is answered a second later, when the call that waits has ended.
    const revoked = ask(api.url, 'DELETE', `/api/v2/admin/runner-tokens/${made.id}`, { token });
    await eventually('it is revoked', async () => {
      const query = 'select 1 from runner_token where id = $1 and revoked_at is not null';
      return (await stage.database.query(query, [made.id])).length > 0;
    });
    await stage.upload(graph, 'input', 'b');
    const answer = await ended;
    await revoked;
    expect((await runner.claim(graph.template)).status).toBe(401);
    expect(await openClaims(runner)).toEqual([]);
    return answer;
  }

  test('a claim of the instance that waits is replaced', async () => {
    const graph = await queued(1);
    const runner = stage.runner();
    const { taskId } = await runner.acquire(graph.template);
    await runner.end(taskId, 'complete', none);
    const waiting = runner.claim(graph.template, 30);
    await eventually('it waits', () => api.composed.services.runners.waiters.idleCount === 1);
    const next = { waitSeconds: 1, templates: [graph.template] };
    const { body } = await runner.end(taskId, 'complete', { ...none, next });
    expect(body.next).toBeNull();
    expect((await waiting).status).toBe(204);
  });

  test('a server that stops answers at once', async () => {
    const graph = await queued(1);
    const runner = stage.runner();
    const { taskId } = await runner.acquire(graph.template);
    await runner.end(taskId, 'complete', none);
    const next = { waitSeconds: 30, templates: [graph.template] };
    const ended = runner.end(taskId, 'complete', { ...none, next });
    const { waiters } = api.composed.services.runners;
    await eventually('it waits', () => waiters.idleCount === 1);
    await waiters.stop();
    expect((await ended).body.next).toBeNull();
  });
});
