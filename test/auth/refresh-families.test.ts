import { describe, expect, test } from 'vitest';
import { authWorld, type SignedIn } from './support.ts';

const world = await authWorld();
const { auth, people, database, isAccepted, newPerson, refresh, remember, waiting } = world;

/** The next member of a family. */
async function next(of: SignedIn): Promise<SignedIn> {
  const answer = await refresh(of.refreshToken);
  expect(answer.status).toBe(200);
  return answer.body;
}

describe('a family of refresh tokens', () => {
  test('ends whole when any replaced member is used again, however far back, and no other sign-in does', async () => {
    const person = await newPerson();
    const first = await remember(person);
    const other = await remember(person);
    const second = await next(first);
    const third = await next(second);
    expect(await isAccepted(first.accessToken)).toBe(true);
    expect((await refresh(first.refreshToken)).status).toBe(401);
    for (const { accessToken } of [first, second, third]) expect(await isAccepted(accessToken)).toBe(false);
    for (const { refreshToken } of [first, second, third])
      expect((await refresh(refreshToken)).status).toBe(401);
    expect(await isAccepted(other.accessToken)).toBe(true);
    expect(await isAccepted(person.token)).toBe(true);
    await next(other);
  });

  test('ends with the logout of any of its access tokens', async () => {
    const first = await remember(await newPerson());
    const second = await next(first);
    expect((await auth('POST', '/logout', { token: first.accessToken })).status).toBe(204);
    expect(await isAccepted(second.accessToken)).toBe(false);
    expect((await refresh(second.refreshToken)).status).toBe(401);
  });

  test.each<[string, (person: { userId: string; username: string; password: string }) => Promise<number>]>([
    [
      'its user is deactivated',
      async ({ userId }) =>
        (await auth('PATCH', `/users/${userId}`, { token: people.adminToken, json: { isActive: false } }))
          .status,
    ],
    [
      'its user is deleted',
      async ({ userId }) => (await auth('DELETE', `/users/${userId}`, { token: people.adminToken })).status,
    ],
    [
      'its user gets another password',
      async ({ userId }) => {
        const json = { newPassword: 'another good password' };
        return (await auth('POST', `/users/${userId}/password`, { token: people.adminToken, json })).status;
      },
    ],
    [
      'all tokens of its user are revoked',
      async ({ username }) =>
        (await auth('POST', '/revoke', { token: people.adminToken, json: { username } })).status,
    ],
  ])('ends at once when %s', async (_, end) => {
    const person = await newPerson();
    const first = await remember(person);
    const second = await next(first);
    expect(await end(person)).toBeLessThan(300);
    expect((await refresh(second.refreshToken)).status).toBe(401);
    for (const { accessToken } of [first, second]) expect(await isAccepted(accessToken)).toBe(false);
  });

  test('returns tokens of the current role and the current duty to change the password', async () => {
    const person = await newPerson('Developer');
    const first = await remember(person);
    const json = { role: 'Trainee', forceChangePasswordNextSignin: true };
    await auth('PATCH', `/users/${person.userId}`, { token: people.adminToken, json });
    const answer = await refresh(first.refreshToken);
    expect(answer.body.user).toMatchObject({ role: 'Trainee', forceChangePasswordNextSignin: true });
    expect(await isAccepted(answer.body.accessToken)).toBe(false);
  });

  test('that has expired is refused, also as an access token', async () => {
    const { refreshToken } = await remember(await newPerson());
    expect(await isAccepted(refreshToken)).toBe(false);
    expect((await auth('POST', '/validate', { json: { token: refreshToken } })).status).toBe(401);
    await database.query('update auth.tokens set expires_at = now() where hint = $1', [
      refreshToken.slice(-4),
    ]);
    expect((await refresh(refreshToken)).status).toBe(401);
  });
});

describe('what is under way while tokens end', () => {
  /** Holds rows while `during` starts what must then wait. */
  async function whileHeld<T>(statement: string, values: unknown[], during: () => Promise<T>): Promise<T> {
    await database.query('begin');
    try {
      await database.query(statement, values);
      return await during();
    } finally {
      await database.query('commit');
    }
  }

  test('a refresh leaves no token alive that the revocation has not seen', async () => {
    const person = await newPerson();
    const { refreshToken } = await remember(person);
    const json = { username: person.username };
    const [refreshing, revoking] = await whileHeld(
      'select 1 from auth.tokens where hint = $1 for update',
      [refreshToken.slice(-4)],
      async () => {
        const one = refresh(refreshToken);
        await waiting(1);
        const other = auth('POST', '/revoke', { token: people.adminToken, json });
        await waiting(2);
        return [one, other] as const;
      },
    );
    const [refreshed, revoked] = await Promise.all([refreshing, revoking]);
    expect([refreshed.status, revoked.status]).toEqual([200, 200]);
    expect(await isAccepted(refreshed.body.accessToken)).toBe(false);
    expect((await refresh(refreshed.body.refreshToken)).status).toBe(401);
  });

  test.each([
    ['deactivated', 'update auth.users set is_active = false where id = $1'],
    ['given another password', "update auth.users set password_hash = 'x' where id = $1"],
  ])('a sign-in of a user who is being %s returns no token', async (_, change) => {
    const person = await newPerson();
    const { username, password } = person;
    const signingIn = await whileHeld(change, [person.userId], async () => {
      const one = auth('POST', '/token', { json: { username, password } });
      await waiting(1);
      return [one] as const;
    });
    expect((await signingIn[0]).status).toBe(401);
  });

  test('many of them end without waiting for each other for ever', async () => {
    const person = await newPerson();
    const json = { username: person.username };
    const families = await Promise.all(Array.from({ length: 6 }, () => remember(person)));
    const answers = await Promise.all(
      families.flatMap(({ accessToken, refreshToken }) => [
        refresh(refreshToken),
        refresh(refreshToken),
        auth('POST', '/logout', { token: accessToken }),
        auth('POST', '/revoke', { token: people.adminToken, json }),
      ]),
    );
    expect(answers.filter(({ status }) => status >= 500)).toEqual([]);
    await auth('POST', '/revoke', { token: people.adminToken, json });
    const { rows } = await database.query(
      'select 1 from auth.tokens where user_id = $1 and revoked_at is null',
      [person.userId],
    );
    expect(rows).toEqual([]);
  });
});
