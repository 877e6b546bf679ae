/** Opening and joining shared sessions. Run by shared.test.ts in its world. */
import { describe, expect, test } from 'vitest';
import { ask } from '../../support/api.ts';
import { inputNode } from '../../support/templates.ts';
import { exercise, sharedCalls } from './shared-calls.ts';
import { at, refused, type SessionWorld, windowStart } from './support.ts';

export function joinTests(world: SessionWorld): void {
  const { close } = sharedCalls(world);

  describe('create or join', () => {
    test('the first request opens the session with every field and key of the contract', async () => {
      const name = exercise();
      const { status, body } = await world.join({ name, machineGroup: -3 });
      const key = world.keyOf('machine-1@example.org');
      expect(status).toBe(201);
      expect(body).toMatchObject({
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        name,
        email: key,
        projectId: world.projectId,
        project: { id: world.projectId, title: 'Flights' },
        sessionTemplateId: world.templateId,
        sessionTemplate: { id: world.templateId },
        simulationName: 'sim',
        scenarios: [],
        dimensions: [],
        logoUrl: '',
        metadata: {
          status: 'open',
          startTimeUtc: windowStart,
          timeWindowSeconds: 300,
          machineGroup: -3,
          openedBy: key,
          participants: [
            { id: key, email: null, startTimeUtc: windowStart, joinedAt: expect.stringMatching(/Z$/) },
          ],
        },
        node_instances: [
          { name: 'in', state: 'NeverBegan', parentIds: [], configuration: expect.stringMatching(/^\{/) },
          { name: 'out', state: 'NeverBegan', parentIds: [expect.any(Number)] },
        ],
      });
      expect(body).not.toHaveProperty('nodeInstances');
      expect(Object.keys(body.metadata)).toHaveLength(6);
      expect(body.sessionUsers.map((user: { userId: string }) => user.userId)).toEqual([body.userId, key]);
    });

    test('later ones join it and are listed as participants, each once', async () => {
      const name = exercise();
      const opened = await world.join({ name });
      const joined = await world.join({ name, email: 'machine-2@example.org', startTimeUtc: at(10) });
      expect([joined.status, joined.body.id]).toEqual([200, opened.body.id]);
      const again = await world.join({ name, email: ' MACHINE-2@example.org', startTimeUtc: at(20) });
      expect(again.status).toBe(200);
      expect(again.body.metadata).toMatchObject({
        startTimeUtc: windowStart,
        openedBy: world.keyOf('machine-1@example.org'),
        participants: [
          { id: world.keyOf('machine-1@example.org'), startTimeUtc: windowStart },
          { id: world.keyOf('machine-2@example.org'), startTimeUtc: at(10) },
        ],
      });
      expect(again.body.sessionUsers).toHaveLength(3);
      const row = (await world.call('GET', `/api/v2/session?search=${opened.body.id}`)).body.sessions[0];
      expect(row.metadata.participants).toEqual(
        again.body.metadata.participants.map(({ email: _, ...rest }: { email: null }) => rest),
      );
    });

    test.each([
      ['name', { name: 'other' }],
      ['name in another case', { name: 'EXERCISE' }],
      ['simulation', { simulationName: 'other' }],
      ['machine group', { machineGroup: 2 }],
      ['window length', { timeWindowSeconds: 301 }],
    ])('another %s is another session', async (_, fields) => {
      const simulationName = exercise();
      const opened = await world.join({ simulationName });
      const other = await world.join({ simulationName, ...fields });
      expect(other.status).toBe(201);
      expect(other.body.id).not.toBe(opened.body.id);
    });

    test('another template or project is another session', async () => {
      const name = exercise();
      await world.join({ name });
      const sessionTemplateId = await world.importTemplate('second revision', [inputNode('in')]);
      expect((await world.join({ name, sessionTemplateId })).status).toBe(201);
      const project = await world.call('POST', '/projects', { Title: 'Other' });
      const other = await world.call('POST', `/api/v2/session/shared_session?projectId=${project.body.id}`, {
        name,
        simulationName: 'sim',
        email: 'machine-1@example.org',
        sessionTemplateId: world.templateId,
        startTimeUtc: windowStart,
        machineGroup: 1,
      });
      expect(other.status).toBe(201);
    });

    test.each([
      ['the same start', 0, 200],
      ['a start before, overlapping', -299.999, 200],
      ['a window that ends where this begins', -300, 201],
      ['a window that begins where this ends', 300, 201],
      ['a start just before the end', 299.999, 200],
      ['long before', -4000, 201],
    ])('windows are half-open: %s', async (_, seconds, status) => {
      const name = exercise();
      await world.join({ name });
      expect((await world.join({ name, startTimeUtc: at(seconds) })).status).toBe(status);
    });

    test('offsets and zones of a start are the same time', async () => {
      const name = exercise();
      const opened = await world.join({ name, startTimeUtc: '2026-03-01T12:00:00+02:00' });
      expect(opened.body.metadata.startTimeUtc).toBe(windowStart);
    });

    test('of several open sessions that overlap the newest wins', async () => {
      const name = exercise();
      const later = await world.join({ name, startTimeUtc: at(300) });
      const earlier = await world.join({ name, startTimeUtc: at(0) });
      expect(earlier.status).toBe(201);
      const between = await world.join({ name, startTimeUtc: at(150) });
      expect([between.status, between.body.id]).toEqual([200, earlier.body.id]);
      await close(earlier.body.id, {}, world.people.adminToken);
      const afterwards = await world.join({ name, startTimeUtc: at(150) });
      expect([afterwards.status, afterwards.body.id]).toEqual([200, later.body.id]);
    });

    test('a closed session is joined no more', async () => {
      const name = exercise();
      const opened = await world.join({ name });
      await close(opened.body.id, { email: 'machine-1@example.org' });
      const next = await world.join({ name });
      expect(next.status).toBe(201);
      expect(next.body.id).not.toBe(opened.body.id);
    });

    test('a session that was not opened by this route is never joined', async () => {
      const name = exercise();
      const fields = { Name: name, SimulationName: 'sim', ProjectId: world.projectId };
      await world.call('POST', '/session', {
        ...fields,
        SessionTemplateId: world.templateId,
        Metadata: { machineGroup: 1, startTimeUtc: windowStart, timeWindowSeconds: 300, status: 'open' },
      });
      expect((await world.join({ name })).status).toBe(201);
    });

    test('every role and offline tokens may join; a token is required', async () => {
      const name = exercise();
      const { people } = world;
      for (const token of [people.Trainee, people.Instructor, people.Developer, people.Administrator])
        expect([200, 201]).toContain((await world.join({ name }, token.token)).status);
      const anonymous = await ask(world.api.url, 'POST', '/api/v2/session/shared_session?projectId=1', {
        json: {},
      });
      expect(anonymous.status).toBe(401);
    });

    test('a frozen match is refused', async () => {
      const name = exercise();
      const opened = await world.join({ name });
      expect((await world.call('POST', `/api/v2/sessions/${opened.body.id}/freeze`)).status).toBe(200);
      expect(await world.join({ name })).toMatchObject(refused(400, 'Session is frozen.'));
      await world.call('POST', `/api/v2/sessions/${opened.body.id}/unfreeze`);
      expect((await world.join({ name })).status).toBe(200);
    });

    test('an unknown project or template is missing', async () => {
      expect(await world.join({ sessionTemplateId: 999_999 })).toMatchObject(
        refused(404, 'Session template not found.'),
      );
      const path = '/api/v2/session/shared_session?projectId=999999';
      const { body: opened } = await world.join({ name: exercise() });
      const json = {
        name: opened.name,
        simulationName: 'sim',
        email: 'a@example.org',
        sessionTemplateId: world.templateId,
        startTimeUtc: windowStart,
        machineGroup: 1,
      };
      expect(await world.call('POST', path, json)).toMatchObject(refused(404, 'Project not found.'));
    });

    test.each<[string, object]>([
      ['no name', { name: undefined }],
      ['an empty name', { name: ' ' }],
      ['a name of 256 characters', { name: 'x'.repeat(256) }],
      ['a name with a NUL', { name: 'a\u0000' }],
      ['no simulation', { simulationName: null }],
      ['no email', { email: undefined }],
      ['an email that is none', { email: 'nobody' }],
      ['no template', { sessionTemplateId: undefined }],
      ['a template that is text', { sessionTemplateId: '1' }],
      ['no start', { startTimeUtc: undefined }],
      ['a start that is no time', { startTimeUtc: '2026-02-30T00:00:00Z' }],
      ['a start that is a number', { startTimeUtc: 1 }],
      ['no machine group', { machineGroup: undefined }],
      ['a machine group that is no integer', { machineGroup: 1.5 }],
      ['a machine group beyond 32 bits', { machineGroup: 2 ** 31 }],
      ['a window of nothing', { timeWindowSeconds: 0 }],
      ['a window above a day', { timeWindowSeconds: 86_401 }],
      ['a window that is text', { timeWindowSeconds: '300' }],
    ])('refuses %s', async (_, fields) => {
      expect(await world.join({ name: 'refused', ...fields })).toMatchObject(
        refused(400, expect.any(String)),
      );
    });

    test.each(['', '?projectId=', '?projectId=abc', '?projectId=0', '?projectId=1.5'])(
      'refuses %j as the project',
      async (query) => {
        const json = {
          name: 'x',
          simulationName: 'x',
          email: 'a@example.org',
          sessionTemplateId: world.templateId,
          startTimeUtc: windowStart,
          machineGroup: 1,
        };
        expect(await world.call('POST', `/api/v2/session/shared_session${query}`, json)).toMatchObject(
          refused(400, expect.any(String)),
        );
      },
    );

    test('windows at both ends of time work', async () => {
      for (const startTimeUtc of ['1970-01-01T00:00:00.000Z', '9999-12-31T23:59:59.999Z']) {
        const { status, body } = await world.join({
          name: exercise(),
          startTimeUtc,
          timeWindowSeconds: 86_400,
        });
        expect([status, body.metadata.startTimeUtc]).toEqual([201, startTimeUtc]);
      }
    });
  });
}
