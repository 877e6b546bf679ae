/** Calls of tasks that have ended, and work that falls due by an end in a frozen session. */
import { describe, expect, test } from 'vitest';
import { ask } from '../../support/api.ts';
import { runnerStage } from '../../support/runner.ts';

const stage = await runnerStage();
const { api, people } = stage;

async function held(inputs = 1, options: { incremental?: boolean; maxAttempts?: number } = {}) {
  const graph = await stage.chainOf(1, options);
  const ids: number[] = [];
  for (let at = 0; at < inputs; at += 1) ids.push((await stage.upload(graph, 'input', `${at}`)).body.id);
  const runner = stage.runner();
  const task = await runner.acquire(graph.template);
  return { graph, ids, runner, taskId: task.taskId as string };
}

describe('after the end', () => {
  const ends: ['complete' | 'fail' | 'release', unknown, unknown][] = [
    [
      'complete',
      { outcome: 'no-output', statusDetails: 'x', state: { b: 1, a: 2 } },
      { outcome: 'suspended' },
    ],
    ['fail', { reason: 'x', category: 'error' }, { reason: 'y', category: 'error' }],
    ['release', { reason: 'x' }, { reason: 'y' }],
  ];
  test.each(ends)(
    'a repeated %s by its holder gets the same reply, another outcome 409',
    async (how, body, different) => {
      const { graph, runner, taskId } = await held();
      const first = await runner.end(taskId, how, body);
      expect(first.status).toBe(200);
      // Another runner may hold the work by now: that changes nothing.
      await stage.runner().claim(graph.template);
      const reordered = Object.fromEntries(Object.entries(body as object).reverse());
      for (const repeat of [body, reordered, { ...reordered, unknownField: 1 }]) {
        const again = await runner.end(taskId, how, repeat);
        expect([again.status, again.body]).toEqual([200, first.body]);
      }
      const other = await runner.end(taskId, how, different);
      expect([other.status, other.body.code]).toEqual([409, 'task_finished']);
      for (const kind of (['complete', 'fail', 'release'] as const).filter((kind) => kind !== how)) {
        const json = kind === 'complete' ? { outcome: 'no-output' } : { reason: 'x', category: 'error' };
        const answer = await runner.end(taskId, kind, json);
        expect([answer.status, answer.body.code]).toEqual([409, 'task_finished']);
      }
      const stranger = await stage.runner().end(taskId, how, body);
      expect([stranger.status, stranger.body.code]).toEqual([404, 'task_not_found']);
      expect((await runner.call('PUT', `/tasks/${taskId}/heartbeat`, {})).status).toBe(404);
      expect((await runner.write(taskId, 'x')).status).toBe(404);
    },
  );

  test('ten concurrent repeats all get the same reply', async () => {
    const { runner, taskId } = await held();
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => runner.end(taskId, 'complete', { outcome: 'no-output' })),
    );
    const expected = { taskId, outcome: 'no-output', nodeState: 'Succeeded', followUp: false };
    for (const answer of answers) expect([answer.status, answer.body]).toEqual([200, expected]);
  });
});

describe('the instance header', () => {
  test('is required: 400 instance_header_missing; of a wrong form: 400 invalid_request', async () => {
    const { taskId, ids } = await held();
    const paths: [string, string][] = [
      ['PUT', 'heartbeat'],
      ['GET', 'inputs'],
      ['GET', `inputs/${ids[0]}/data`],
      ['GET', 'state'],
      ['POST', 'outputs'],
      ['PUT', 'watermark'],
      ['PUT', 'complete'],
      ['PUT', 'fail'],
      ['PUT', 'release'],
    ];
    const bodies: Record<string, unknown> = {
      watermark: { inputId: 1 },
      complete: { outcome: 'no-output' },
      fail: { reason: 'x', category: 'error' },
    };
    for (const [method, path] of paths) {
      const call = async (headers: Record<string, string>) => {
        const answer = await ask(api.url, method, `/api/v2/runner/tasks/${taskId}/${path}`, {
          token: people.Developer.token,
          headers,
          ...(path in bodies ? { json: bodies[path] } : {}),
        });
        return [answer.status, answer.body.code, path];
      };
      expect(await call({})).toEqual([400, 'instance_header_missing', path]);
      expect(await call({ 'x-platform-runner-instance': '' })).toEqual([
        400,
        'instance_header_missing',
        path,
      ]);
      for (const value of ['a b', 'a/b', "'; --", 'x'.repeat(129), '\u00e9']) {
        expect(await call({ 'x-platform-runner-instance': value })).toEqual([400, 'invalid_request', path]);
      }
    }
  });
});

const { token } = people.Developer;

test('work that falls due in a frozen session is Pending and waits: a follow-up, and the child of an output', async () => {
  const graph = await stage.chainOf(2, { incremental: true });
  const inputs = [await stage.upload(graph, 'input', '1'), await stage.upload(graph, 'input', '2')];
  const progress = async () => {
    const { body } = await ask(api.url, 'GET', `/api/v2/session/${graph.sessionId}/node-instances`, {
      token,
    });
    return { nodes: body.nodeInstances.map((node: { state: string }) => node.state), ...body.summary };
  };
  const freeze = (how: string) =>
    ask(api.url, 'POST', `/api/v2/sessions/${graph.sessionId}/${how}`, { token });
  const runner = stage.runner();
  const task = await runner.acquire(graph.template);
  await freeze('freeze');
  await runner.write(task.taskId, 'o', { 'x-platform-watermark': String(inputs[0]!.body.id) });
  expect((await progress()).nodes).toEqual(['Succeeded', 'Processing', 'Pending']);
  const ended = await runner.end(task.taskId, 'complete', { outcome: 'completed', hasMore: true });
  expect(ended.body).toMatchObject({ nodeState: 'Pending', followUp: true });
  expect(await progress()).toMatchObject({
    nodes: ['Succeeded', 'Pending', 'Pending'],
    allSucceeded: false,
  });
  const { body: session } = await ask(api.url, 'GET', `/api/v2/sessions/${graph.sessionId}`, { token });
  expect(session).toMatchObject({ state: 'running', frozen: true });
  expect((await runner.claim(graph.template)).status).toBe(204);
  const waiting = runner.claim(graph.template, 20);
  await freeze('unfreeze');
  const first = await waiting;
  expect([first.status, first.body.nodeName]).toEqual([200, 'n2']);
  const second = await stage.runner().acquire(graph.template);
  expect(second).toMatchObject({ nodeName: 'n1', reason: 'follow-up' });
});
