import { beforeEach, describe, expect, test } from 'vitest';
import type { Role } from '../../../domain/access/access.ts';
import { limits } from '../../../domain/limits.ts';
import { ask } from '../../support/api.ts';
import { dashboardWorld } from './dashboard-world.ts';

const { api, call, dimensionId, get, people, project, template } = await dashboardWorld();
const { database } = api.composed.services;
const path = '/api/v2/dashboard/layouts';
type Who = Role;

const send = (who: Who, method: string, to: string, json?: unknown, headers: Record<string, string> = {}) =>
  ask(api.url, method, `${path}${to}`, { token: people[who].token, json, headers });
const form = { version: 1, panels: [{ channels: ['speed'] }] };
const layout = (scope: string, more: object = {}) => ({ name: `For ${scope}`, scope, layout: form, ...more });
const opens = async (who: Who) => {
  const { body } = await get(`${dimensionId}/layouts`, people[who].token);
  return [body.opens?.name ?? null, body.layouts.map(({ name }: { name: string }) => name)];
};

beforeEach(async () => {
  await database.query('delete from dashboard_layout');
});

describe('layouts of dashboards', () => {
  test('are created with defaults, read, replaced and deleted', async () => {
    const made = await send('Instructor', 'POST', '', layout('everyone'));
    expect(made.status).toBe(201);
    expect(made.body).toEqual({
      id: expect.any(Number),
      name: 'For everyone',
      scope: 'everyone',
      projectId: null,
      sessionTemplateId: null,
      revision: 1,
      mayChange: true,
      updatedAt: expect.any(String),
      layout: {
        version: 1,
        x: null,
        split: null,
        derived: [],
        panels: [{ kind: 'lines', title: '', channels: ['speed'], width: 12, height: 240 }],
      },
    });
    const { id } = made.body;
    expect((await send('Trainee', 'GET', `/${id}`)).body).toEqual({ ...made.body, mayChange: false });
    const panels = [{ kind: 'xy', title: 'Grip', channels: ['speed', '=g'], width: 6, height: 300 }];
    const derived = [{ name: 'g', unit: 'g', expression: 'differentiate(speed) / 9.81' }];
    const changed = await send('Developer', 'PUT', `/${id}`, {
      ...layout('everyone'),
      name: 'Grip',
      layout: { version: 1, x: 'distance', split: 'lap', derived, panels },
    });
    expect([changed.status, changed.body.name]).toEqual([200, 'Grip']);
    expect(changed.body.layout).toEqual({ version: 1, x: 'distance', split: 'lap', derived, panels });
    expect((await send('Trainee', 'GET', `/${id}`)).body.layout).toEqual(changed.body.layout);
    expect((await send('Administrator', 'DELETE', `/${id}`)).status).toBe(204);
    for (const [method, json] of [['GET'], ['PUT', layout('mine')], ['DELETE']] as const)
      expect((await send('Administrator', method, `/${id}`, json)).status).toBe(404);
  });

  test('are changed and deleted only at the revision that If-Match names', async () => {
    const { body, headers } = await send('Developer', 'POST', '', layout('everyone'));
    expect(headers.get('etag')).toBe('"1"');
    const change = (who: Who, method: string, name: string, tag: string) =>
      send(who, method, `/${body.id}`, { ...layout('everyone'), name }, { 'if-match': tag });
    const atOnce = await Promise.all([
      change('Developer', 'PUT', 'Of the developer', '"1"'),
      change('Instructor', 'PUT', 'Of the instructor', '"1"'),
    ]);
    expect(atOnce.map(({ status }) => status).sort()).toEqual([200, 412]);
    const kept = atOnce.find(({ status }) => status === 200)!;
    expect([kept.body.revision, kept.headers.get('etag')]).toEqual([2, '"2"']);
    expect((await change('Developer', 'DELETE', '', '"1"')).body.message).toBe(
      'Another change of the layout came between.',
    );
    expect((await send('Trainee', 'GET', `/${body.id}`)).body).toEqual({ ...kept.body, mayChange: false });
    expect((await send('Developer', 'GET', '')).body.layouts).toMatchObject([{ revision: 2 }]);
    expect((await change('Developer', 'DELETE', '', '"2"')).status).toBe(204);
  });

  test('of scope mine are found by their owner alone, an Administrator included', async () => {
    const { body } = await send('Trainee', 'POST', '', layout('mine'));
    expect((await send('Trainee', 'GET', `/${body.id}`)).status).toBe(200);
    for (const [method, json] of [['GET'], ['PUT', layout('everyone')], ['DELETE']] as const)
      expect([method, (await send('Administrator', method, `/${body.id}`, json)).status]).toEqual([
        method,
        404,
      ]);
    expect((await send('Administrator', 'GET', '')).body).toEqual({ layouts: [] });
    expect((await send('Trainee', 'GET', '')).body.layouts).toMatchObject([{ id: body.id, mayChange: true }]);
    expect(
      (await send('Trainee', 'PUT', `/${body.id}`, { ...layout('mine'), name: 'Better' })).body.name,
    ).toBe('Better');
  });

  test('that others see are written by Administrators, Developers and Instructors', async () => {
    const shared = [
      layout('everyone'),
      layout('project', { projectId: project.id }),
      layout('template', { sessionTemplateId: template.id }),
    ];
    for (const json of shared) {
      const refused = await send('Trainee', 'POST', '', json);
      expect([refused.status, refused.body.message]).toEqual([
        403,
        'The role of this account does not allow this operation.',
      ]);
      const { body } = await send('Instructor', 'POST', '', json);
      for (const [method, given] of [['PUT', layout('mine')], ['DELETE']] as const)
        expect((await send('Trainee', method, `/${body.id}`, given)).status).toBe(403);
      expect((await send('Developer', 'PUT', `/${body.id}`, json)).status).toBe(200);
      // Who takes it back for themself becomes its owner.
      expect((await send('Developer', 'PUT', `/${body.id}`, layout('mine'))).status).toBe(200);
      expect((await send('Developer', 'GET', `/${body.id}`)).status).toBe(200);
      expect((await send('Instructor', 'GET', `/${body.id}`)).status).toBe(404);
    }
    const { body: own } = await send('Trainee', 'POST', '', layout('mine'));
    expect((await send('Trainee', 'PUT', `/${own.id}`, layout('everyone'))).status).toBe(403);
    expect((await send('Trainee', 'GET', `/${own.id}`)).body.scope).toBe('mine');
  });

  test('open a dashboard by rule: mine, template, project, everyone; the narrower and the newer first', async () => {
    expect(await opens('Trainee')).toEqual([null, []]);
    const order: string[] = [];
    for (const [who, json] of [
      ['Instructor', layout('everyone')],
      ['Instructor', layout('project', { projectId: project.id })],
      ['Instructor', layout('template', { sessionTemplateId: template.id })],
      ['Trainee', layout('mine')],
      ['Trainee', { ...layout('mine'), name: 'Mine, newer' }],
      ['Trainee', { ...layout('mine', { projectId: project.id }), name: 'Mine of the project' }],
    ] as const) {
      await send(who, 'POST', '', json);
      order.unshift(json.name);
      expect(await opens('Trainee')).toEqual([json.name, order]);
    }
    expect(await opens('Developer')).toEqual([
      'For template',
      ['For template', 'For project', 'For everyone'],
    ]);
  });

  test('do not fit dashboards of another project or template, or without any of their channels', async () => {
    const { body: elsewhere } = await call('/projects', { Title: 'Flights' });
    await send('Developer', 'POST', '', layout('project', { projectId: elsewhere.id }));
    const panels = [{ channels: ['altitude', '=climb'] }];
    const derived = [{ name: 'climb', expression: 'differentiate(altitude)' }];
    await send('Developer', 'POST', '', { ...layout('everyone'), layout: { version: 1, derived, panels } });
    expect(await opens('Developer')).toEqual([null, []]);
    const fitting = { ...derived[0], expression: 'integrate(speed)' };
    await send('Developer', 'POST', '', {
      ...layout('everyone'),
      name: 'Climb',
      layout: { version: 1, derived: [fitting], panels: [{ channels: ['=climb'] }] },
    });
    await send('Developer', 'POST', '', {
      ...layout('mine'),
      name: 'Key',
      layout: { version: 1, panels: [{ channels: ['7:side'] }] },
    });
    expect(await opens('Developer')).toEqual(['Key', ['Key', 'Climb']]);
    expect((await get('999999/layouts')).status).toBe(404);
  });

  test('of pictures and video alone fit every dashboard', async () => {
    const panels = [{ kind: 'media', output: 'nose', width: 6 }];
    const made = await send('Developer', 'POST', '', layout('mine', { layout: { version: 1, panels } }));
    expect(made.body.layout.panels).toEqual([
      { kind: 'media', title: '', channels: [], output: 'nose', width: 6, height: 240 },
    ]);
    expect(await opens('Developer')).toEqual(['For mine', ['For mine']]);
  });

  test('hold texts with their line breaks, as they were written', async () => {
    const text = 'New front wing.\n\n<b>Turn 3</b> &amp; 速度';
    const panels = [{ kind: 'text', title: 'Notes', text }, { channels: ['speed'] }];
    const made = await send('Developer', 'POST', '', layout('mine', { layout: { version: 1, panels } }));
    const kept = { kind: 'text', title: 'Notes', channels: [], text, width: 12, height: 240 };
    expect((await send('Developer', 'GET', `/${made.body.id}`)).body.layout.panels[0]).toEqual(kept);
    expect(await opens('Developer')).toEqual(['For mine', ['For mine']]);
  });

  test('are removed with their project', async () => {
    const { body: passing } = await call('/projects', { Title: 'Passing' });
    const { body } = await send('Developer', 'POST', '', layout('project', { projectId: passing.id }));
    await database.query('delete from project where id = $1', [passing.id]);
    expect((await send('Developer', 'GET', `/${body.id}`)).status).toBe(404);
  });

  test.each([
    [{ version: 2 }, 'layout.version'],
    [{ panels: [] }, 'layout.panels'],
    [{ panels: [{ channels: [] }] }, 'layout.panels.0.channels'],
    [{ panels: [{ channels: ['a'], kind: 'pie' }] }, 'layout.panels.0.kind'],
    [{ panels: [{ channels: ['a'], width: 13 }] }, 'layout.panels.0.width'],
    [{ panels: [{ channels: ['a'], colour: 'red' }] }, 'layout.panels.0'],
    [
      { panels: [{ channels: ['a'] }, { channels: ['a'], kind: 'xy' }] },
      'layout.panels.1.channels: must hold the channel across',
    ],
    [
      { panels: [{ channels: ['a', 'b', 'c'], kind: 'track' }] },
      'layout.panels.0.channels: must hold latitude and longitude',
    ],
    [{ panels: [{ kind: 'histogram' }] }, 'layout.panels.0.channels: must hold a channel'],
    [{ panels: [{ kind: 'media', channels: ['a'] }] }, 'layout.panels.0.channels: must be empty'],
    [{ panels: [{ kind: 'text', channels: ['a'] }] }, 'layout.panels.0.channels: must be empty'],
    [{ panels: [{ channels: ['a'], text: 'b' }] }, 'layout.panels.0.text: goes with panels of kind text'],
    [{ panels: [{ kind: 'text', text: 'a'.repeat(4001) }] }, 'layout.panels.0.text: must hold at most 4000'],
    [{ panels: [{ channels: ['a', '=b'] }] }, 'layout.panels.0.channels.1: names a derived channel'],
    [{ panels: [{ channels: ['a\nb'] }] }, 'layout.panels.0.channels.0'],
    [{ x: '=b' }, 'layout.x: names a derived channel'],
    [
      { derived: [{ name: 'b', expression: '1 +' }] },
      'layout.derived.0.expression: has a fault at position 3',
    ],
    [
      {
        derived: [
          { name: 'b', expression: '1' },
          { name: 'b', expression: '1' },
        ],
      },
      'layout.derived.1.name: appears more than once',
    ],
    [{ panels: Array.from({ length: 51 }, () => ({ channels: ['a'] })) }, 'layout.panels'],
    [
      { panels: Array.from({ length: 50 }, () => ({ channels: Array(64).fill('a'.repeat(200)) })) },
      'layout: must hold at most 65536 bytes',
    ],
  ])('are refused with the place of the fault %#', async (change, place) => {
    const answer = await send('Developer', 'POST', '', { ...layout('mine'), layout: { ...form, ...change } });
    expect([answer.status, answer.body.message]).toEqual([400, expect.stringContaining(place)]);
    expect((await send('Developer', 'GET', '')).body).toEqual({ layouts: [] });
  });

  test.each([
    [layout('project'), 400, 'projectId: is required for the scope project'],
    [layout('template'), 400, 'sessionTemplateId: is required for the scope template'],
    [layout('everyone', { projectId: 1 }), 400, 'projectId: does not go with the scope everyone'],
    [layout('project', { projectId: 999_999 }), 404, 'Project not found.'],
    [layout('mine', { sessionTemplateId: 999_999 }), 404, 'Session template not found.'],
    [layout('ours'), 400, 'scope'],
    [{ ...layout('mine'), name: ' ' }, 400, 'name'],
  ])('are refused without the object of their scope: %j', async (json, status, message) => {
    const answer = await send('Developer', 'POST', '', json);
    expect([answer.status, answer.body.message]).toEqual([status, expect.stringContaining(message)]);
  });

  test('are bounded in number for each person, also when many are saved at once', async () => {
    const { body: first } = await send('Trainee', 'POST', '', layout('mine'));
    await database.query(
      `insert into dashboard_layout (name, scope, owner_id, channels, layout)
       select 'Made', 'mine', owner_id, '{speed}', '{}' from dashboard_layout, generate_series(1, $2::int)
        where id = $1`,
      [first.id, limits.layoutsPerPerson - 2],
    );
    const answers = await Promise.all(
      Array.from({ length: 4 }, () => send('Trainee', 'POST', '', layout('mine'))),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 400, 400, 400]);
    expect(answers.find(({ status }) => status === 400)!.body.message).toBe(
      'A person has at most 100 layouts, and others see at most 1000.',
    );
    expect((await send('Developer', 'POST', '', layout('mine'))).status).toBe(201);
  });
});
