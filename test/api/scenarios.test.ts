import { beforeAll, describe, expect, test } from 'vitest';
import { projectRoutes } from '../../api/projects/routes.ts';
import { scenarioRoutes } from '../../api/scenarios/routes.ts';
import { sessionTemplateRoutes } from '../../api/session-templates/routes.ts';
import { sessionRoutes } from '../../api/sessions/routes.ts';
import { limits } from '../../domain/limits.ts';
import { apiStage, ask } from '../support/api.ts';
import { inputNode, ship, templateFile } from '../support/templates.ts';

const routes = [...projectRoutes, ...sessionTemplateRoutes, ...sessionRoutes, ...scenarioRoutes];
const { api, people } = await apiStage({ routes });
let sessionId: string;
let otherId: string;
let fullId: string;
const unknownId = '00000000-0000-4000-8000-00000000abcd';

beforeAll(async () => {
  await ship(api.composed.services.database);
  const project = await call('/projects', { Title: 'p' });
  const template = await call('/api/v2/admin/session-templates', templateFile('t', [inputNode('a')]));
  const json = { ProjectId: project.body.id, SessionTemplateId: template.body.id };
  sessionId = (await call('/session', json)).body.id;
  otherId = (await call('/session', json)).body.id;
  fullId = (await call('/session', json)).body.id;
});

const call = (path: string, json?: unknown, token = people.Developer.token) =>
  ask(api.url, 'POST', path, { token, json });
const post = (json: unknown, id = sessionId, token?: string) =>
  call(`/${id}/scenario_instances`, json, token);
const refusal = (status: number, message: string) => ({ status, body: { status: 'error', message } });
const nameRequired = refusal(400, 'Invalid request. Scenarion name is required.');

describe('POST /{sessionId}/scenario_instances', () => {
  test('creates a scenario with every field of the contract, under every form of the path', async () => {
    const json = {
      simulationId: 'sim-7',
      scenarioName: ' Landing ',
      from: '2026-03-01T10:00:00+02:00',
      to: '2026-03-01T09:00:00.5Z',
    };
    for (const prefix of ['', '/api/v2', '/api/v2.0']) {
      const { status, body } = await call(`${prefix}/${sessionId}/scenario_instances`, json);
      expect(status).toBe(200);
      expect(body).toEqual({
        status: true,
        message: 'OK',
        template: {
          simulationId: 'sim-7',
          sessionId,
          scenarioName: 'Landing',
          scenarioInstanceId: expect.stringMatching(/^[0-9a-f-]{36}$/),
          from: '2026-03-01T08:00:00.000Z',
          to: '2026-03-01T09:00:00.500Z',
          dimensions: [],
          createdAt: expect.stringMatching(/Z$/),
        },
      });
    }
  });

  test('updates the scenario of this session that has the id sent, and shows it in the session', async () => {
    const scenarioInstanceId = '0192B6A0-0000-7000-8000-00000000BEEF';
    const made = await post({
      scenarioName: 'one',
      simulationId: 's',
      scenarioInstanceId,
      from: '2026-01-01',
    });
    expect(made.body.template).toMatchObject({
      scenarioInstanceId: scenarioInstanceId.toLowerCase(),
      to: null,
    });
    const changed = await post({ scenarioName: 'two', scenarioInstanceId, to: '2026-01-02' });
    expect(changed.body.template).toEqual({
      ...made.body.template,
      scenarioName: 'two',
      to: '2026-01-02T00:00:00.000Z',
    });
    const cleared = await post({ scenarioName: 'two', scenarioInstanceId, from: null });
    expect(cleared.body.template.from).toBeNull();
    const session = await ask(api.url, 'GET', `/api/v2/sessions/${sessionId}`, { token: people.adminToken });
    const { dimensions: _, ...shown } = cleared.body.template;
    expect(
      session.body.scenarios.filter((item: { scenarioName: string }) => item.scenarioName === 'two'),
    ).toEqual([shown]);
  });

  test('creates one scenario for concurrent requests with the same id', async () => {
    const scenarioInstanceId = '0192b6a0-0000-7000-8000-00000000cafe';
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, index) => post({ scenarioName: `n${index}`, scenarioInstanceId })),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 8 }, () => 200));
    const session = await ask(api.url, 'GET', `/api/v2/sessions/${sessionId}`, { token: people.adminToken });
    const same = session.body.scenarios.filter(
      (item: { scenarioInstanceId: string }) => item.scenarioInstanceId === scenarioInstanceId,
    );
    expect(same).toHaveLength(1);
  });

  test.each([
    ['no body', undefined],
    ['a list', []],
    ['no name', { simulationId: 's' }],
    ['a blank name', { scenarioName: ' ' }],
    ['a name that is a number', { scenarioName: 1 }],
    ['a name that is too long', { scenarioName: 'x'.repeat(256) }],
  ])('requires the name when there is %s', async (_, json) => {
    expect(await post(json)).toMatchObject(nameRequired);
  });

  test.each([
    ['an end before the begin', { from: '2026-01-02', to: '2026-01-01' }],
    ['a date that does not exist', { from: '2026-02-30' }],
    ['a date that is a number', { to: 1 }],
    ['an id that is none', { scenarioInstanceId: 'abc' }],
    ['a simulation id that is too long', { simulationId: 'x'.repeat(256) }],
  ])('refuses %s', async (_, json) => {
    expect(await post({ scenarioName: 'x', ...json })).toMatchObject(refusal(400, 'Invalid request.'));
  });

  test('refuses an end before the stored begin, and an id of another session', async () => {
    const scenarioInstanceId = '0192b6a0-0000-7000-8000-00000000f00d';
    const json = { scenarioName: 'x', scenarioInstanceId };
    expect((await post({ ...json, from: '2026-01-02', to: '2026-01-02' })).status).toBe(200);
    expect(await post({ ...json, to: '2026-01-01' })).toMatchObject(refusal(400, 'Invalid request.'));
    expect(await post(json, otherId)).toMatchObject(refusal(400, 'Invalid request.'));
  });

  test('makes no more scenarios of a session than it may have, and still changes one', async () => {
    const { database } = api.composed.services;
    await database.query(
      `insert into scenario_instance (id, session_id, scenario_name)
       select gen_random_uuid(), $1, 's' from generate_series(1, $2 - 1)`,
      [fullId, limits.scenariosPerSession],
    );
    const last = await post({ scenarioName: 'last' }, fullId);
    expect(last.status).toBe(200);
    const message = `A session has at most ${limits.scenariosPerSession} scenario instances.`;
    expect(await post({ scenarioName: 'x' }, fullId)).toMatchObject(refusal(400, message));
    const { scenarioInstanceId } = last.body.template;
    const changed = await post({ scenarioName: 'changed', scenarioInstanceId }, fullId);
    expect(changed).toMatchObject({ status: 200, body: { template: { scenarioName: 'changed' } } });
  });

  test('makes no more than the limit of calls at the same moment', async () => {
    const { database } = api.composed.services;
    await database.query('delete from scenario_instance where session_id = $1', [fullId]);
    await database.query(
      `insert into scenario_instance (id, session_id, scenario_name)
       select gen_random_uuid(), $1, 's' from generate_series(1, $2 - 2)`,
      [fullId, limits.scenariosPerSession],
    );
    const calls = Array.from({ length: 20 }, () => post({ scenarioName: 'x' }, fullId));
    const made = (await Promise.all(calls)).filter(({ status }) => status === 200);
    expect(made).toHaveLength(2);
  });

  test('answers an unknown or malformed session id as missing', async () => {
    for (const id of [unknownId, 'abc', '1'])
      expect(await post({ scenarioName: 'x' }, id)).toMatchObject(refusal(404, 'SessionId not found.'));
  });

  test('is for every role and for offline tokens', async () => {
    for (const token of [
      people.Administrator.token,
      people.Instructor.token,
      people.Trainee.token,
      people.offlineToken,
    ])
      expect((await post({ scenarioName: 'x' }, sessionId, token)).status).toBe(200);
    expect((await ask(api.url, 'POST', `/${sessionId}/scenario_instances`, { json: {} })).status).toBe(401);
  });
});
