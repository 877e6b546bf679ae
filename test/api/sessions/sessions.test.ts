import { describe, expect, test } from 'vitest';
import { diamondWorld } from './diamond-world.ts';

const { api, people, projectId, templateId, call, create, keyOf, stored } = await diamondWorld();

describe('POST /session', () => {
  test('creates a session with every field of the contract and its own nodes', async () => {
    const { status, body } = await create({
      Name: ' Flight 1 ',
      SimulationName: 'sim',
      Metadata: { logoUrl: '/l.png', a: [1] },
    });
    expect(status).toBe(201);
    const { body: template } = await call('GET', `/api/v2/session/session_templates/${templateId}`);
    const { body: whole } = await call('GET', `/projects/${projectId}`);
    const { pinnedMetadata: _, priority: _priority, ...project } = whole;
    const [a, b, both, last] = body.nodeInstances.map((node: { id: number }) => node.id);
    expect(body).toEqual({
      id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7/),
      name: 'Flight 1',
      email: people.Developer.email,
      projectId,
      project: {
        ...project,
        owner: {
          id: project.ownerId,
          name: expect.stringMatching(/^Developer No/),
          email: people.Developer.email,
        },
      },
      sessionTemplateId: templateId,
      sessionTemplate: template,
      simulationName: 'sim',
      scenarios: [],
      dimensions: [],
      logoUrl: '/l.png',
      userId: people.Developer.userId,
      metadata: { logoUrl: '/l.png', a: [1] },
      sessionUsers: [{ id: expect.any(Number), userId: people.Developer.userId, createdAt: body.createdAt }],
      nodeInstances: [
        nodeForm(a, 'a', 'input-node', []),
        nodeForm(b, 'b', 'input-node', []),
        nodeForm(both, 'both', 'system-tabular-to-dataservice', [b, a]),
        nodeForm(last, 'last', 'system-tabular-to-dataservice', [both, a]),
      ],
      templateChanged: false,
      createdAt: expect.stringMatching(/Z$/),
    });
    const children = await api.composed.services.database.query<{ childIds: number[] }>(
      'select child_ids from node_instance where session_id = $1 order by ordinal',
      [body.id],
    );
    expect(children.map((row) => row.childIds)).toEqual([[both, last], [both], [last], []]);
    const ownNodeIds = new Set(template.nodes.map((node: { id: number }) => node.id));
    expect(ownNodeIds.size).toBe(4);
    const again = await create();
    expect(again.body.nodeInstances[0].id).not.toBe(a);
  });

  const nodeForm = (id: number, name: string, nodeTemplateName: string, parentIds: number[]) => ({
    id,
    name,
    nodeTemplateId: expect.any(Number),
    nodeTemplateName,
    state: 'NeverBegan',
    stateCode: 0,
    statusDetails: '',
    lastProcessed: null,
    currentOutputId: null,
    rejectedInputs: 0,
    parentIds,
    configuration: expect.stringMatching(/^\{/),
  });

  test("defaults to the name of the template with the time, and to the caller's address", async () => {
    const { body } = await create({ Name: '', Email: null }, people.Trainee.token);
    expect(body.name).toMatch(/^diamond \d{4}-\d\d-\d\dT/);
    expect([body.email, body.simulationName, body.metadata, body.logoUrl]).toEqual([
      people.Trainee.email,
      null,
      null,
      '',
    ]);
    expect(await stored(body.id)).toMatchObject({
      emailIdentifier: people.Trainee.userId,
      emailKey: keyOf(people.Trainee.email),
    });
  });

  test('accepts camelCase names and offline tokens, and answers under /api/v2', async () => {
    const json = { projectId, sessionTemplateId: templateId, name: 'x' };
    expect((await call('POST', '/api/v2/session', json, people.offlineToken)).body.name).toBe('x');
  });

  test.each<[string, object]>([
    ['no project', { ProjectId: undefined }],
    ['no template', { SessionTemplateId: null }],
    ['a project that is text', { ProjectId: '1' }],
    ['a template that is no integer', { SessionTemplateId: 1.5 }],
    ['both wrong and a wrong address', { ProjectId: 0, SessionTemplateId: -1, Email: 'x' }],
  ])('refuses %s with the message of the contract', async (_, json) => {
    expect(await create(json)).toMatchObject({
      status: 400,
      body: { status: 'error', message: 'Invalid session request. ProjectId and TemplateId are required.' },
    });
  });

  test.each<[string, object, string]>([
    ['metadata that is a list', { Metadata: [] }, 'Metadata must be'],
    ['metadata that is too large', { Metadata: { a: 'x'.repeat(66_000) } }, 'Metadata must be'],
    ['a name of 256 characters', { Name: 'x'.repeat(256) }, 'Name must hold'],
    ['a name with a control character', { Name: 'a\u0007' }, 'Name must hold'],
    ['a name that is a number', { Name: 5 }, 'Name must hold'],
    ['a simulation name that is a number', { SimulationName: 5 }, 'SimulationName must hold'],
    [
      'participants beyond number',
      { Metadata: { participants: Array.from({ length: 501 }, () => 'a@b.cd') } },
      'Metadata may name at most 500 participants',
    ],
  ])('refuses %s, and says so', async (_, json, reason) => {
    const { status, body } = await create(json);
    expect([status, body.status, body.message]).toEqual([
      400,
      'error',
      expect.stringMatching(`^Invalid session request\\. ${reason}.*\\.$`),
    ]);
  });

  test.each(['nobody', 'a@', '@b', 'a b@c.de', 5])('refuses the address %j', async (Email) => {
    const { status, body } = await create({ Email });
    expect(status).toBe(400);
    expect(body.message).toBe('Invalid session request. Email is not valid.');
  });

  test('answers an unknown project or template as missing', async () => {
    const missing = (message: string) => ({ status: 404, body: { status: 'error', message } });
    expect(await create({ ProjectId: 999_999 })).toMatchObject(missing('Project not found.'));
    expect(await create({ SessionTemplateId: 999_999 })).toMatchObject(
      missing('Session template not found.'),
    );
  });

  test('keeps keys like __proto__ as data', async () => {
    const json = `{"ProjectId":${projectId},"SessionTemplateId":${templateId},"Metadata":{"__proto__":{"a":1},"openedBy":"x"}}`;
    const response = await fetch(`${api.url}/session`, {
      method: 'POST',
      body: json,
      headers: { 'content-type': 'application/json', authorization: `Bearer ${people.Developer.token}` },
    });
    expect(await response.text()).toContain('"metadata":{"openedBy":"x","__proto__":{"a":1}}');
  });
});

describe('GET /api/v2/sessions/{id}', () => {
  test('returns the created session to every role', async () => {
    const { body } = await create();
    for (const token of [people.Developer.token, people.adminToken]) {
      expect((await call('GET', `/api/v2/sessions/${body.id}`, undefined, token)).body).toEqual({
        ...body,
        state: 'notStarted',
        frozen: false,
        priority: 0,
        nodeCounts: { NeverBegan: 4 },
        outputBytes: 0,
        lastActivityAt: expect.stringMatching(/Z$/),
        owner: { id: people.Developer.userId, name: expect.any(String) },
        pinnedMetadata: [],
        dashboardUrl: null,
      });
    }
    for (const token of [people.Trainee.token, people.Instructor.token, people.offlineToken]) {
      expect((await call('GET', `/api/v2/sessions/${body.id.toUpperCase()}`, undefined, token)).status).toBe(
        200,
      );
    }
  });

  test.each(['018f0000-0000-7000-8000-000000000001', 'abc', '5'])('answers %s as missing', async (id) => {
    const missing = { status: 404, body: { status: 'error', message: 'Session not found.' } };
    expect(await call('GET', `/api/v2/sessions/${id}`)).toMatchObject(missing);
    expect(await call('GET', `/api/v2/session/${id}/node-instances`)).toMatchObject(missing);
  });
});

describe('GET /api/v2/session/{id}/node-instances', () => {
  test('shows nodes and summary as the states are', async () => {
    const { database } = api.composed.services;
    const { body } = await create();
    const path = `/api/v2/session/${body.id}/node-instances`;
    const [a, b, both, last] = body.nodeInstances.map((node: { id: number }) => node.id);
    const first = await call('GET', path, undefined, people.offlineToken);
    const withoutConfiguration = body.nodeInstances.map(
      ({ configuration: _, ...item }: { configuration: string }) => item,
    );
    expect(first.body).toEqual({
      sessionId: body.id,
      nodeInstances: withoutConfiguration,
      summary: { total: 4, counts: { NeverBegan: 4 }, allSucceeded: false, anyFailed: false },
    });
    await database.query(
      `update node_instance set state = case id when $1 then 3 when $2 then 2 when $3 then 77 else 5 end,
              status_details = case id when $2 then 'error: broken' else '' end,
              last_processed = '2026-01-02T03:04:05.678Z', newest_output_id = 9
        where session_id = $4`,
      [a, b, both, body.id],
    );
    const run = '018f0000-0000-7000-8000-00000000000a';
    await database.query(
      `insert into node_run (id, session_id, node_instance_id, template_name, runner_type, reason, state, max_attempts, queue_time)
       values ($1, $2, $3, 't', 'system', 'input', 'held', 3, now())`,
      [run, body.id, last],
    );
    await database.query(
      `insert into node_claim (task_id, run_id, attempt, holder, instance_id, claimed_at, lease_seconds, lease_until,
                               watermark_position, phase, message)
       values ($1, $1, 1, 'h', 'i', now(), 30, now() + interval '30 s', 0, 'reading', 'row 10')`,
      [run],
    );
    const then = (await call('GET', path)).body;
    expect(then.nodeInstances).toMatchObject([
      { state: 'Succeeded', stateCode: 3, lastProcessed: '2026-01-02T03:04:05.678Z', currentOutputId: 9 },
      { state: 'Failed', stateCode: 2, statusDetails: 'error: broken' },
      { state: 'Unknown', stateCode: 77 },
      { state: 'Processing', stateCode: 1, statusDetails: 'reading: row 10' },
    ]);
    expect(then.summary).toEqual({
      total: 4,
      counts: { Succeeded: 1, Failed: 1, Unknown: 1, Processing: 1 },
      allSucceeded: false,
      anyFailed: true,
    });
    await database.query("update node_run set state = 'done' where id = $1", [run]);
    await database.query('update node_instance set state = 3 where session_id = $1', [body.id]);
    expect((await call('GET', path)).body.summary).toEqual({
      total: 4,
      counts: { Succeeded: 4 },
      allSucceeded: true,
      anyFailed: false,
    });
  });
});
