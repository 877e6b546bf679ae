/** Closing sessions. Run by shared.test.ts in its world. */
import { describe, expect, test } from 'vitest';
import { exercise, sharedCalls } from './shared-calls.ts';
import { at, refused, type SessionWorld, windowStart } from './support.ts';

export function closeTests(world: SessionWorld): void {
  const { close, shown } = sharedCalls(world);

  describe('close', () => {
    test('by a participant returns the documented result, and records it', async () => {
      const { body } = await world.join({ name: exercise() });
      await world.join({ name: body.name, email: 'machine-2@example.org' });
      const before = Date.now();
      const closed = await close(
        body.id,
        { email: 'machine-2@example.org', reason: 'done' },
        world.people.offlineToken,
      );
      const key = world.keyOf('machine-2@example.org');
      expect(closed.status).toBe(200);
      expect(closed.body).toEqual({
        id: body.id,
        status: 'closed',
        participantCount: 2,
        closedAt: expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/),
        closedBy: key,
      });
      expect(Math.abs(Date.parse(closed.body.closedAt) - before)).toBeLessThan(10_000);
      expect((await shown(body.id)).metadata).toMatchObject({
        status: 'closed',
        closedBy: key,
        closedAt: closed.body.closedAt,
        closeReason: 'done',
      });
    });

    test.each(['/session/ID/close', '/api/v2/session/ID/close', '/api/v2.0/session/ID/close'])(
      'is answered at %s, without a body too',
      async (path) => {
        const { people } = world;
        const { body } = await world.join({ name: exercise(), email: people.Developer.email });
        const url = path.replace('ID', body.id);
        const first = await world.call('POST', url);
        expect(first).toMatchObject({ status: 200, body: { closedBy: people.Developer.email } });
      },
    );

    test('repeated, by any path and participant, returns the first result', async () => {
      const { body } = await world.join({ name: exercise() });
      await world.join({ name: body.name, email: 'machine-2@example.org' });
      const first = await close(body.id, { email: 'machine-1@example.org' }, world.people.offlineToken);
      for (const json of [
        { email: 'machine-1@example.org' },
        { email: 'machine-2@example.org', reason: 'other', closeAt: '1999-01-01T00:00:00Z' },
      ]) {
        const again = await world.call('POST', `/session/${body.id}/close`, json, world.people.offlineToken);
        expect([again.status, again.body]).toEqual([200, first.body]);
      }
      expect((await shown(body.id)).metadata).not.toHaveProperty('closeReason');
    });

    test('called a hundred times at once closes once', async () => {
      const { body } = await world.join({ name: exercise() });
      const answers = await Promise.all(
        Array.from({ length: 100 }, () => close(body.id, { email: 'machine-1@example.org' })),
      );
      expect(new Set(answers.map((answer) => JSON.stringify([answer.status, answer.body]))).size).toBe(1);
    });

    test("refuses everybody's address that is no participant's, the Administrator's too, repeats included", async () => {
      const { people } = world;
      const { body } = await world.join({ name: exercise() });
      const message = 'The caller is not a participant of this session.';
      const email = people.Administrator.email;
      for (const token of [people.Administrator.token, people.Trainee.token, people.offlineToken])
        expect(await close(body.id, { email }, token)).toMatchObject(refused(403, message));
      for (const person of [people.Trainee, people.Instructor, people.Developer])
        expect(await close(body.id, {}, person.token)).toMatchObject(refused(403, message));
      // The device is the first Administrator's, but no access token.
      expect(await close(body.id, {}, people.offlineToken)).toMatchObject(refused(403, message));
      expect((await close(body.id, {}, people.Administrator.token)).body.closedBy).toBe(email);
      expect(await close(body.id, { email }, people.Administrator.token)).toMatchObject(
        refused(403, message),
      );
      expect(await close(body.id, {}, people.Trainee.token)).toMatchObject(refused(403, message));
    });

    test('of a session created by POST /session is for the person in its email field', async () => {
      const { people, call } = world;
      const { body } = await call('POST', '/session', {
        ProjectId: world.projectId,
        SessionTemplateId: world.templateId,
        Email: people.Trainee.email,
        Metadata: { note: 1 },
      });
      expect((await close(body.id, {}, people.Developer.token)).status).toBe(403);
      const closed = await close(body.id, { reason: 'enough' }, people.Trainee.token);
      expect(closed).toMatchObject({
        status: 200,
        body: { participantCount: 1, closedBy: people.Trainee.email },
      });
      expect((await shown(body.id)).metadata).toEqual({
        note: 1,
        status: 'closed',
        closedBy: people.Trainee.email,
        closedAt: closed.body.closedAt,
        closeReason: 'enough',
      });
    });

    test('accepts a time from the start of the session to 24 hours ahead', async () => {
      const email = 'machine-1@example.org';
      const message = "closeAt must lie between the session's start and 24 hours from now.";
      const inFuture = (seconds: number) => new Date(Date.now() + seconds * 1_000).toISOString();
      const { body } = await world.join({ name: exercise() });
      for (const closeAt of [at(-0.001), inFuture(24 * 3_600 + 60)])
        expect(await close(body.id, { email, closeAt })).toMatchObject(refused(400, message));
      const closed = await close(body.id, { email, closeAt: windowStart });
      expect(closed.body.closedAt).toBe(windowStart);
      const later = await world.join({ name: exercise() });
      const closeAt = inFuture(23 * 3_600);
      expect((await close(later.body.id, { email, closeAt })).body.closedAt).toBe(closeAt);
      expect((await world.join({ name: later.body.name })).status).toBe(201);
      expect((await shown(later.body.id)).metadata).toMatchObject({ status: 'closed', closedAt: closeAt });
    });

    test.each<[string, unknown]>([
      ['an address that is none', { email: 'nobody' }],
      ['a number as address', { email: 5 }],
      ['a time that is none', { closeAt: 'tomorrow' }],
      ['a reason that is too long', { reason: 'x'.repeat(4_001) }],
      ['a list', []],
    ])('refuses %s', async (_, json) => {
      const { body } = await world.join({ name: exercise() });
      expect(await close(body.id, json)).toMatchObject(refused(400, expect.any(String)));
    });

    test.each(['018f0000-0000-7000-8000-000000000001', 'abc'])('answers %s as missing', async (id) => {
      expect(await close(id, {})).toMatchObject(refused(404, 'Session not found.'));
    });

    test('leaves uploads open until the session is frozen', async () => {
      const { body } = await world.join({ name: exercise() });
      await close(body.id, { email: 'machine-1@example.org' });
      const input = body.node_instances[0].id;
      expect((await world.upload(input)).status).toBe(201);
      await world.call('POST', `/api/v2/sessions/${body.id}/freeze`);
      expect(await world.upload(input)).toMatchObject(refused(400, 'Session is frozen.'));
    });
  });
}
