import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makePerson } from '../../support/api.ts';
import { eventually } from '../../support/eventually.ts';
import { testEnvironment } from '../../support/stack.ts';
import { inputNode, tabularNode } from '../../support/templates.ts';
import { deleteTests } from './change-delete.ts';
import { freezeTests } from './change-freeze.ts';
import { refused, sessionCreator, sessionWorld } from './support.ts';

const platform = await testEnvironment();
const world = await sessionWorld(platform);
afterAll(() => world.api.stop());

const create = sessionCreator(world);
const patch = (id: string, json: unknown, token?: string) =>
  world.call('PATCH', `/api/v2/sessions/${id}`, json, token);
const invalid = refused(400, 'Invalid session data');

describe('PATCH /api/v2/sessions/{id}', () => {
  test('answers with every field of the contract in snake_case, and no other', async () => {
    const session = await create({ Name: 'Before', Metadata: { a: 1 } });
    const { body: project } = await world.call('GET', `/projects/${world.projectId}`);
    const { status, body } = await patch(session.id, {
      name: ' After ',
      simulation_name: 'sim',
      metadata: { logoUrl: '/logo.png', b: [2] },
    });
    expect(status).toBe(200);
    const [input, out] = session.nodeInstances;
    expect(body).toEqual({
      id: session.id,
      name: 'After',
      email: world.people.Developer.email,
      simulation_name: 'sim',
      project_id: world.projectId,
      project: {
        hex_id: project.hexId,
        title: 'Flights',
        description: project.description,
        icon: project.icon,
        owner_id: project.ownerId,
        default_session_template_id: null,
        created_at: project.createdAt,
      },
      session_template_id: world.templateId,
      session_template: {
        name: 'one input',
        description: session.sessionTemplate.description,
        configuration: session.sessionTemplate.configuration,
      },
      metadata: { logoUrl: '/logo.png', b: [2] },
      logo_url: '/logo.png',
      node_instances: [
        {
          id: input.id,
          name: 'in',
          node_template_id: input.nodeTemplateId,
          node_template_name: 'input-node',
          state: 'NeverBegan',
          state_code: 0,
          status_details: '',
          last_processed: null,
          current_output_id: null,
          rejected_inputs: 0,
          parent_ids: [],
          configuration: input.configuration,
        },
        expect.objectContaining({ id: out.id, name: 'out', parent_ids: [input.id] }),
      ],
      default_ingestion_node_id: input.id,
      session_users: [{ id: expect.any(Number), user_id: session.userId, created_at: session.createdAt }],
      dimensions: [],
      scenarios: [],
    });
  });

  test.each(['{}', '{"unknown":1}', '{"Name":"no"}', '{"name":null,"email":null,"project_id":null}'])(
    'with %s changes nothing and answers 200',
    async (text) => {
      const session = await create({ Metadata: { a: 1 } });
      const before = await world.query('select * from session where id = $1', [session.id]);
      const { status, body } = await patch(session.id, JSON.parse(text));
      expect([status, body.name, body.metadata]).toEqual([200, session.name, { a: 1 }]);
      expect(await world.query('select * from session where id = $1', [session.id])).toEqual(before);
    },
  );

  test.each<[string, unknown]>([
    ['metadata that is text', { metadata: '{}' }],
    ['metadata that is a list', { metadata: [] }],
    ['metadata that is null', { metadata: null }],
    ['metadata that is a number', { metadata: 5 }],
    ['metadata above 64 KB', { metadata: { a: 'x'.repeat(66_000) } }],
    ['metadata with a NUL', { metadata: { a: '\u0000' } }],
    ['an address that is none', { email: 'nobody' }],
    ['an empty address', { email: '' }],
    ['an empty name', { name: ' ' }],
    ['a name that is a number', { name: 5 }],
    ['a name of 256 characters', { name: 'x'.repeat(256) }],
    ['a simulation that is a number', { simulation_name: 5 }],
    ['a template that is text', { session_template_id: 'x' }],
    ['a template that does not exist', { session_template_id: 999_999 }],
    ['a project that does not exist', { project_id: 999_999 }],
    ['a project below 1', { project_id: 0 }],
    ['a list', []],
    ['text', 'x'],
  ])('refuses %s', async (_, json) => {
    const session = await create();
    expect(await patch(session.id, json)).toMatchObject({ status: 400, body: { status: 'error' } });
    if (!JSON.stringify(json).includes('\\u0000'))
      expect(await patch(session.id, json)).toMatchObject(invalid);
  });

  test.each(['018f0000-0000-7000-8000-000000000001', 'abc'])('answers %s as missing', async (id) => {
    const missing = refused(404, 'Session not found');
    expect(await patch(id, {})).toMatchObject(missing);
    expect(await patch(id, {}, world.people.Trainee.token)).toMatchObject(missing);
  });

  test('is for staff, devices, and, but for the priority, Trainees who are participants', async () => {
    const { people } = world;
    const session = await create({ Email: people.Trainee.email });
    for (const token of [
      people.adminToken,
      people.Instructor.token,
      people.offlineToken,
      people.Trainee.token,
    ])
      expect((await patch(session.id, {}, token)).status).toBe(200);
    expect((await patch(session.id, { priority: 5 }, people.Trainee.token)).status).toBe(403);
    expect((await patch(session.id, { priority: 5 })).status).toBe(200);
    const other = await makePerson(world.api.url, people.adminToken, 'Trainee');
    const forbidden = refused(403, 'The caller is not a participant of this session.');
    expect(await patch(session.id, { name: 'x' }, other.token)).toMatchObject(forbidden);
    expect((await patch(session.id, { email: other.email })).status).toBe(200);
    expect((await patch(session.id, {}, other.token)).status).toBe(200);
    expect(await patch(session.id, {}, people.Trainee.token)).toMatchObject(forbidden);
  });

  test('admits a Trainee whom a device added, by the address only', async () => {
    const { people } = world;
    const { body } = await world.join({ name: 'trainees', email: people.Trainee.email });
    expect((await patch(body.id, { metadata: { seat: 4 } }, people.Trainee.token)).status).toBe(200);
    const other = await makePerson(world.api.url, people.adminToken, 'Trainee');
    expect((await patch(body.id, {}, other.token)).status).toBe(403);
  });

  test('replaces addresses by identifiers before anything is written', async () => {
    const { people, keyOf } = world;
    const session = await create();
    const { body } = await patch(session.id, {
      email: people.Instructor.email,
      metadata: {
        openedBy: people.Trainee.email,
        participants: ['stranger@example.org'],
        closedBy: 'seat 4',
      },
    });
    expect(body).toMatchObject({
      email: people.Instructor.email,
      metadata: {
        openedBy: people.Trainee.email,
        participants: [keyOf('stranger@example.org')],
        closedBy: 'seat 4',
      },
    });
    const [row] = await world.query('select * from session where id = $1', [session.id]);
    expect(row).toMatchObject({
      emailIdentifier: people.Instructor.userId,
      emailKey: keyOf(people.Instructor.email),
      metadata: { openedBy: people.Trainee.userId },
    });
    expect(JSON.stringify(row)).not.toContain('@');
    expect(body.session_users.map((user: { user_id: string }) => user.user_id)).toEqual([
      people.Developer.userId,
      people.Instructor.userId,
    ]);
    const next = await patch(session.id, { email: people.Trainee.email });
    expect(next.body.session_users.map((user: { user_id: string }) => user.user_id)).toEqual([
      people.Developer.userId,
      people.Trainee.userId,
    ]);
  });

  test('moves a session to another project, and its logo with its metadata', async () => {
    const session = await create({ Metadata: { logoUrl: '/a.png' } });
    const project = await world.call('POST', '/projects', { Title: 'Other' });
    const moved = await patch(session.id, { project_id: project.body.id, metadata: { other: true } });
    expect(moved.body).toMatchObject({
      project_id: project.body.id,
      project: { title: 'Other' },
      logo_url: '',
    });
    const kept = await patch(session.id, { simulation_name: null });
    expect(kept.body).toMatchObject({ simulation_name: null, metadata: { other: true } });
  });

  test('names the default ingestion node: the only input, the one of the template, or none', async () => {
    const both = [inputNode('a'), inputNode('b'), tabularNode('c', 'a', 'b')];
    const named = await world.importTemplate('named', both, { Configuration: { defaultIngestionNode: 'b' } });
    const unnamed = await world.importTemplate('unnamed', both);
    const wrong = await world.importTemplate('wrong', both, { Configuration: { defaultIngestionNode: 'x' } });
    const idOf = async (SessionTemplateId: number) => {
      const session = await create({ SessionTemplateId });
      const { default_ingestion_node_id: id } = (await patch(session.id, {})).body;
      return session.nodeInstances.find((node: { id: number }) => node.id === id)?.name ?? id;
    };
    expect([await idOf(named), await idOf(unnamed), await idOf(wrong), await idOf(world.templateId)]).toEqual(
      ['b', null, null, 'in'],
    );
  });
});

describe('another template', () => {
  let other: number;
  beforeAll(async () => {
    other = await world.importTemplate('other', [
      inputNode('x'),
      tabularNode('y', 'x'),
      tabularNode('z', 'y'),
    ]);
  });

  test('recreates the nodes while none has received data', async () => {
    const session = await create();
    const { status, body } = await patch(session.id, { session_template_id: other });
    expect(status).toBe(200);
    expect(body.session_template_id).toBe(other);
    expect(body.node_instances.map((node: { name: string }) => node.name)).toEqual(['x', 'y', 'z']);
    const progress = await world.call('GET', `/api/v2/session/${session.id}/node-instances`);
    expect(progress.body.summary).toMatchObject({ total: 3, counts: { NeverBegan: 3 } });
    expect((await world.upload(session.nodeInstances[0].id)).status).toBe(404);
    expect((await world.upload(body.node_instances[0].id)).status).toBe(201);
  });

  test('is refused after data arrived, except for the current template', async () => {
    const session = await create();
    expect((await world.upload(session.nodeInstances[0].id)).status).toBe(201);
    expect(await patch(session.id, { session_template_id: other })).toMatchObject(invalid);
    expect((await patch(session.id, { session_template_id: world.templateId })).status).toBe(200);
  });

  test('is refused during an upload, and accepted after an aborted one', async () => {
    const session = await create();
    const socket = connect(Number(new URL(world.api.url).port), '127.0.0.1');
    socket.on('error', () => {});
    socket.write(
      `POST /api/v2/node-instance/${session.nodeInstances[0].id}/outputs/data HTTP/1.1\r\nHost: x\r\n` +
        `Authorization: Bearer ${world.people.offlineToken}\r\nContent-Type: text/csv\r\nContent-Length: 100000\r\n\r\nabc`,
    );
    await eventually('the upload has begun', async () => {
      const rows = await world.query('select 1 from pending_object where node_instance_id = $1', [
        session.nodeInstances[0].id,
      ]);
      return rows.length > 0;
    });
    expect(await patch(session.id, { session_template_id: other })).toMatchObject(invalid);
    expect((await patch(session.id, { name: 'still works' })).status).toBe(200);
    socket.destroy();
    await eventually(
      'the upload is forgotten',
      async () => (await patch(session.id, { session_template_id: other })).status === 200,
    );
  });

  test('raced by uploads leaves either the old nodes with the data, or new ones without', async () => {
    for (let round = 0; round < 10; round++) {
      const session = await create();
      const node = session.nodeInstances[0].id;
      const [uploaded, patched] = await Promise.all([
        world.upload(node),
        patch(session.id, { session_template_id: other }),
      ]);
      const outcome = [uploaded.status, patched.status];
      expect([
        [201, 400],
        [404, 200],
      ]).toContainEqual(outcome);
    }
  });
});

freezeTests(world);
deleteTests(world, platform);
