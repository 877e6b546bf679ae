import { describe, expect, test } from 'vitest';
import { diamondWorld } from './diamond-world.ts';

const { people, call, create, keyOf, stored } = await diamondWorld();

describe('participants', () => {
  test('are stored as identifiers and shown as addresses to those who may see them', async () => {
    const { body } = await create({ Email: ` ${people.Instructor.email.toUpperCase()}` });
    expect(body.email).toBe(people.Instructor.email);
    expect(await stored(body.id)).toMatchObject({
      emailIdentifier: people.Instructor.userId,
      emailKey: keyOf(people.Instructor.email),
    });
    expect(body.sessionUsers.map((user: { userId: string }) => user.userId)).toEqual([
      people.Developer.userId,
      people.Instructor.userId,
    ]);
    const path = `/api/v2/sessions/${body.id}`;
    expect((await call('GET', path, undefined, people.Trainee.token)).body.email).toBe(
      people.Instructor.userId,
    );
    expect((await call('GET', path, undefined, people.offlineToken)).body.email).toBe(
      people.Instructor.userId,
    );
    expect((await call('GET', path, undefined, people.adminToken)).body.email).toBe(people.Instructor.email);
  });

  test('unknown people, and all whom a device names, become the same one-way key every time', async () => {
    const key = keyOf('stranger@example.org');
    expect(key).toMatch(/^anon:[0-9a-f]{32}$/);
    for (const Email of ['Stranger@example.org', ' stranger@EXAMPLE.org ']) {
      expect((await create({ Email })).body.email).toBe(key);
    }
    const { body } = await create({ Email: people.Instructor.email }, people.offlineToken);
    expect(body.email).toBe(keyOf(people.Instructor.email));
  });

  test('in metadata are treated the same way', async () => {
    const Metadata = {
      openedBy: people.Instructor.email,
      closedBy: 'stranger@example.org',
      participants: [
        people.Trainee.email,
        { email: people.Instructor.email, startTimeUtc: 'x' },
        'seat 4',
        7,
      ],
      other: people.Instructor.email,
    };
    const { body } = await create({ Metadata });
    expect((await stored(body.id)).metadata).toEqual({
      openedBy: people.Instructor.userId,
      closedBy: keyOf('stranger@example.org'),
      participants: [people.Trainee.userId, { id: people.Instructor.userId, startTimeUtc: 'x' }, 'seat 4', 7],
      other: people.Instructor.email,
    });
    expect(body.metadata).toEqual({
      ...Metadata,
      closedBy: keyOf('stranger@example.org'),
      participants: [
        people.Trainee.email,
        { id: people.Instructor.userId, email: people.Instructor.email, startTimeUtc: 'x' },
        'seat 4',
        7,
      ],
    });
    const row = (await call('GET', `/api/v2/session?search=${body.id}`)).body.sessions[0];
    expect(row.metadata.openedBy).toBe(people.Instructor.userId);
  });
});
