/** Freezing sessions. Run by change.test.ts in its world. */
import { describe, expect, test } from 'vitest';
import { refused, type SessionWorld, sessionCreator } from './support.ts';

export function freezeTests(world: SessionWorld): void {
  const create = sessionCreator(world);

  describe('freezing', () => {
    const freeze = (id: string, token?: string) =>
      world.call('POST', `/api/v2/sessions/${id}/freeze`, undefined, token);
    const unfreeze = (id: string, token?: string) =>
      world.call('POST', `/api/v2/sessions/${id}/unfreeze`, undefined, token);

    test('answers with the session as it is then, however often, and refuses uploads until it is undone', async () => {
      const session = await create();
      const input = session.nodeInstances[0].id;
      for (let times = 0; times < 2; times++) {
        const { status, body } = await freeze(session.id);
        const read = await world.call('GET', `/api/v2/sessions/${session.id}`);
        expect([status, body]).toEqual([200, read.body]);
        expect(body).toMatchObject({ ...session, frozen: true });
        expect(await world.upload(input)).toMatchObject(refused(400, 'Session is frozen.'));
      }
      for (let times = 0; times < 2; times++) {
        expect(await unfreeze(session.id)).toMatchObject({ status: 200, body: { frozen: false } });
        expect((await world.upload(input)).status).toBe(201);
      }
    });

    test('is for staff with access tokens', async () => {
      const { people } = world;
      const session = await create();
      for (const change of [freeze, unfreeze]) {
        for (const person of [people.Administrator, people.Instructor, people.Developer])
          expect((await change(session.id, person.token)).status).toBe(200);
        expect((await change(session.id, people.Trainee.token)).status).toBe(401);
        expect((await change(session.id, people.offlineToken)).status).toBe(403);
        for (const id of ['abc', '018f0000-0000-7000-8000-000000000001'])
          expect(await change(id)).toMatchObject(refused(404, 'Session not found.'));
      }
    });
  });
}
