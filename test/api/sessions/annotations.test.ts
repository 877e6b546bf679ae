/** Annotations: moments and ranges of a session with words, of people and of runners. */
import { describe, expect, test } from 'vitest';
import { limits } from '../../../domain/limits.ts';
import type { TaskHolder } from '../../../store/runners/holder.ts';
import { createAnnotation, stageAnnotations } from '../../../store/sessions/annotations.ts';
import { ask } from '../../support/api.ts';
import { statementsWait } from '../../support/eventually.ts';
import { runnerStage, type StageGraph } from '../../support/runner.ts';

const stage = await runnerStage();
const { api, people } = stage;
const at = '2026-03-14T09:33:54.560Z';
const later = '2026-03-14T09:34:00.000Z';

const call = (method: string, path: string, json?: unknown, token = people.Developer.token) =>
  ask(api.url, method, path, { token, json });
const pathOf = ({ sessionId }: StageGraph) => `/api/v2/session/${sessionId}/annotations`;
const labelsOf = async (graph: StageGraph, query = '') => {
  const { body } = await call('GET', pathOf(graph) + query);
  return body.annotations.map(({ label }: { label: string }) => label);
};
const made = (label: string, from = at) => ({ from, label });

describe('annotations of people', () => {
  test('are made, listed in the order of time, changed and deleted', async () => {
    const graph = await stage.chainOf(1);
    const path = pathOf(graph);
    const full = { from: at, to: later, label: ' Brake lock ', text: 'Turn 3', tags: ['brakes', 'brakes'] };
    const first = await call('POST', path, { ...full, channel: 'speed' });
    expect(first.status).toBe(201);
    const { id } = first.body;
    const brakeLock = {
      id,
      from: at,
      to: later,
      label: 'Brake lock',
      text: 'Turn 3',
      tags: ['brakes'],
      channel: 'speed',
      source: 'person',
      createdBy: people.Developer.userId,
      createdByName: expect.any(String),
      createdAt: expect.stringMatching(/Z$/),
    };
    expect(first.body).toEqual(brakeLock);
    const second = await call('POST', path, made('Start', '2026-03-14T09:30:00+00:00'));
    expect(second.body).toMatchObject({ to: null, text: '', tags: [], channel: null });
    const list = await call('GET', path);
    expect(list).toMatchObject({ status: 200, body: { page: 1, totalCount: 2, totalPages: 1 } });
    expect(list.body.annotations).toEqual([second.body, brakeLock]);
    expect(await labelsOf(graph, `?from=${later}`)).toEqual(['Brake lock']);
    expect(await labelsOf(graph, `?from=${later}&to=${later}`)).toEqual(['Brake lock']);
    const reversed = await call('GET', `${path}?from=${later}&to=${at}`);
    expect([reversed.status, reversed.body.message]).toEqual([400, 'from must not be after to.']);
    expect(await labelsOf(graph, '?to=2026-03-14T09:30:00Z')).toEqual(['Start']);
    const trigger = await call('POST', path, made('Before the trigger', '1969-12-31T23:59:58.000Z'));
    expect(trigger).toMatchObject({ status: 201, body: { from: '1969-12-31T23:59:58.000Z' } });
    expect(await labelsOf(graph, '?to=1969-12-31T23:59:59Z')).toEqual(['Before the trigger']);
    expect((await call('DELETE', `${path}/${trigger.body.id}`)).status).toBe(204);
    expect(await labelsOf(graph, '?tag=brakes')).toEqual(['Brake lock']);
    expect(await labelsOf(graph, '?label=Start')).toEqual(['Start']);

    const changed = await call('PATCH', `${path}/${id}`, { text: '', to: null, tags: [] });
    expect(changed).toMatchObject({ status: 200, body: { ...brakeLock, text: '', to: null, tags: [] } });
    expect(await call('PATCH', `${path}/${id}`, { unknown: 1 })).toMatchObject({ body: changed.body });
    expect((await call('DELETE', `${path}/${id}`)).status).toBe(204);
    expect(await labelsOf(graph)).toEqual(['Start']);
    expect((await call('DELETE', `${path}/${id}`)).status).toBe(404);
  });

  test('are refused where they say nothing or end before they begin', async () => {
    const graph = await stage.chainOf(1);
    const path = pathOf(graph);
    const bad = [
      { label: 'x' },
      { from: at },
      { from: at, label: '' },
      { from: 'yesterday', label: 'x' },
      { from: later, to: at, label: 'x' },
      { from: at, label: 'x', tags: Array.from({ length: 21 }, (_, tag) => `t${tag}`) },
    ];
    for (const json of bad) expect((await call('POST', path, json)).status).toBe(400);
    const { id } = (await call('POST', path, made('x'))).body;
    expect((await call('PATCH', `${path}/${id}`, { to: '2026-03-14T09:00:00Z' })).status).toBe(400);
    const other = await stage.chainOf(1);
    for (const wrong of [`${pathOf(other)}/${id}`, `${path}/no-id`, path.replace(graph.sessionId, id)]) {
      expect((await call('PATCH', wrong, { text: 'y' })).status).not.toBe(200);
      expect((await call('DELETE', wrong)).status).not.toBe(204);
    }
    expect(await labelsOf(graph)).toEqual(['x']);
    expect((await call('GET', path.replace(graph.sessionId, id))).status).toBe(404);
  });

  test('are written by every role, and by Trainees of the session alone', async () => {
    const graph = await stage.chainOf(1);
    const path = pathOf(graph);
    for (const role of ['Administrator', 'Developer', 'Instructor'] as const)
      expect((await call('POST', path, made(role), people[role].token)).status).toBe(201);
    const { token } = people.Trainee;
    const { annotations } = (await call('GET', path, undefined, token)).body;
    const one = `${path}/${annotations[0].id}`;
    const notOne = { status: 403, body: { message: expect.stringContaining('participant') } };
    expect(await call('POST', path, made('Trainee'), token)).toMatchObject(notOne);
    expect(await call('PATCH', one, { label: 'Trainee' }, token)).toMatchObject(notOne);
    expect(await call('DELETE', one, undefined, token)).toMatchObject(notOne);
    expect((await call('GET', path, undefined, token)).body.annotations).toEqual(annotations);
  });

  test('are found by a session query', async () => {
    const graph = await stage.chainOf(1);
    const label = `Lock ${graph.sessionId}`;
    await call('POST', pathOf(graph), { ...made(label), tags: ['wet lap'] });
    const found = async (path: string, op: string, value: unknown) => {
      const filter = {
        and: [
          { path: 'id', op: 'eq', value: graph.sessionId },
          { path, op, value },
        ],
      };
      const { status, body } = await call('POST', '/api/sessions/query', { filter });
      return status === 200 ? body.template.sessions.length : status;
    };
    expect(await found('annotation.label', 'eq', label)).toBe(1);
    expect(await found('annotation.label', 'contains', graph.sessionId)).toBe(1);
    expect(await found('annotation.label', 'ne', label)).toBe(0);
    expect(await found('annotation.label', 'eq', 'nothing')).toBe(0);
    expect(await found('annotation.tags', 'eq', 'wet lap')).toBe(1);
    expect(await found('annotation.tags', 'startsWith', 'wet')).toBe(1);
    expect(await found('annotation.tags', 'eq', 'wet')).toBe(0);
    expect(await found('annotation.tags', 'gt', 'wet')).toBe(400);
    expect(await found('annotation.label', 'eq', 5)).toBe(400);
  });
});

describe('annotations of runners', () => {
  async function held(options: { incremental?: boolean } = {}) {
    const graph = await stage.chainOf(1, options);
    const input = (await stage.upload(graph, 'input', 'x')).body.id;
    const runner = stage.runner();
    const { taskId } = await runner.acquire(graph.template);
    const annotate = (...annotations: unknown[]) =>
      runner.call('POST', `/tasks/${taskId}/annotations`, { annotations });
    return { graph, input, runner, taskId, annotate };
  }

  test('are seen when the outputs of the run are, each once', async () => {
    const { graph, runner, taskId, annotate } = await held();
    const lap = { from: at, to: later, label: 'Lap 3', tags: ['lap'], channel: 'speed' };
    expect(await annotate(lap, made('Pit'))).toMatchObject({ status: 200, body: { staged: 2 } });
    expect((await annotate(lap)).status).toBe(200);
    expect(await labelsOf(graph)).toEqual([]);
    const [unseen] = await stage.database.query<{ id: string }>(
      'select id from annotation where session_id = $1',
      [graph.sessionId],
    );
    const one = `${pathOf(graph)}/${unseen!.id}`;
    expect((await call('PATCH', one, { text: 'seen' })).status).toBe(404);
    expect((await call('DELETE', one)).status).toBe(404);
    await runner.write(taskId, 'laps');
    await runner.end(taskId, 'complete', { outcome: 'completed' });
    const { body } = await call('GET', pathOf(graph));
    // Annotations of one moment come in any order.
    const [lap3, pit] = ['Lap 3', 'Pit'].map((label) =>
      body.annotations.find((one: { label: string }) => one.label === label),
    );
    expect(body.annotations).toHaveLength(2);
    expect([lap3, pit]).toMatchObject([
      { label: 'Lap 3', to: later, source: 'runner', createdByName: 'n1' },
      { label: 'Pit', to: null, source: 'runner' },
    ]);
    const changed = await call('PATCH', `${pathOf(graph)}/${lap3.id}`, { text: 'Best lap' });
    expect(changed.body).toMatchObject({ text: 'Best lap', source: 'runner', label: 'Lap 3' });
  });

  test('are published by a move of the watermark, and dropped with what a failed run staged', async () => {
    const { graph, input, runner, taskId, annotate } = await held({ incremental: true });
    await annotate(made('first'));
    expect((await runner.call('PUT', `/tasks/${taskId}/watermark`, { inputId: input })).status).toBe(200);
    expect(await labelsOf(graph)).toEqual(['first']);
    await annotate(made('second'));
    await runner.end(taskId, 'fail', { category: 'validation', reason: 'Broken.' });
    expect(await labelsOf(graph)).toEqual(['first']);
    const rows = await stage.database.query('select 1 from annotation where session_id = $1', [
      graph.sessionId,
    ]);
    expect(rows).toHaveLength(1);
  });

  test('are made once, also where a reprocess of the node makes the same, and stay as people changed them', async () => {
    const { graph, runner, taskId, annotate } = await held();
    await annotate(made('Too fast'), made('Pit'));
    await runner.write(taskId, 'laps');
    await runner.end(taskId, 'complete', { outcome: 'completed' });
    const [{ id }] = (await call('GET', `${pathOf(graph)}?label=Pit`)).body.annotations;
    await call('PATCH', `${pathOf(graph)}/${id}`, { label: 'Pit stop' });
    await call('POST', `/api/v2/node-instance/${graph.nodes.n1}/reprocess`);
    const again = (await runner.acquire(graph.template)).taskId;
    const annotations = [made('Too fast'), made('Pit'), made('Slow')];
    const { status } = await runner.call('POST', `/tasks/${again}/annotations`, { annotations });
    expect(status).toBe(200);
    await runner.write(again, 'laps again');
    await runner.end(again, 'complete', { outcome: 'completed' });
    expect((await labelsOf(graph)).sort()).toEqual(['Pit stop', 'Slow', 'Too fast']);
  });

  /** Annotations of people, as many as leave room for so many. */
  async function leaveRoom({ sessionId }: StageGraph, room: number) {
    await stage.database.query(
      `insert into annotation (id, session_id, from_at, label, body, tags)
       select gen_random_uuid(), $1, clock_timestamp(), 'filler', '', '{}' from generate_series(1, $2::int)`,
      [sessionId, limits.annotationsPerSession - room],
    );
  }

  test('may be sent again when the session has as many as it may, and are refused beyond', async () => {
    const { graph, annotate } = await held();
    await leaveRoom(graph, 2);
    expect((await annotate(made('one'), made('two'))).status).toBe(200);
    expect((await annotate(made('one'), made('two'))).status).toBe(200);
    expect(await annotate(made('two'), made('three'))).toMatchObject({
      status: 400,
      body: { code: 'too_many_annotations' },
    });
  });

  test('of many calls at once are no more than the session may have', async () => {
    const { graph, runner, taskId } = await held();
    await leaveRoom(graph, 3);
    const { database } = api.composed.services;
    const fields = { from: new Date(at), to: null, label: 'x', text: '', tags: [], channel: null };
    const [caller] = await stage.database.query<TaskHolder>(
      'select task_id, holder, instance_id from node_claim where task_id = $1',
      [taskId],
    );
    const all = () => [
      stageAnnotations(database, caller!, [fields]),
      ...Array.from({ length: 12 }, () =>
        createAnnotation(database, graph.sessionId, fields, people.Developer.userId),
      ),
    ];
    // Those that count what is there do so at the same moment, when its lock goes.
    const { calls } = await database.transaction(async (tx) => {
      await tx.query('select 1 from session where id = $1 for update', [graph.sessionId]);
      const calls = all();
      await statementsWait(stage.database, 3);
      return { calls };
    });
    const results = await Promise.all(calls);
    const refused = results.filter(
      (result) => result === 'too-many' || Object(result).outcome === 'too-many',
    );
    expect(refused).toHaveLength(10);
    await runner.end(taskId, 'complete', { outcome: 'no-output' });
  });

  test('are refused from who does not hold the task', async () => {
    const { taskId, annotate } = await held();
    const json = { annotations: [made('x')] };
    const refused = await stage.runner().call('POST', `/tasks/${taskId}/annotations`, json);
    expect(refused).toMatchObject({ status: 404, body: { code: 'task_not_found' } });
    expect((await annotate()).status).toBe(400);
    expect((await annotate({ label: 'no time' })).status).toBe(400);
  });
});
