/** A claim that comes with an end keeps the rules of every claim. */
import { describe, expect, test } from 'vitest';
import { type Answer, ask } from '../../../support/api.ts';
import { eventually, statementsWait } from '../../../support/eventually.ts';
import { upload } from '../../../support/graph.ts';
import { tokenStage } from '../../runner-tokens/support.ts';
import { nextStage } from './next-stage.ts';

const { stage, api, database, queued, none, openClaims, token } = await nextStage();
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
      await statementsWait(database);
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
