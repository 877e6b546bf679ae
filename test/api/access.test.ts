import pg from 'pg';
import { beforeAll, describe, expect, test } from 'vitest';
import { type Caller, decideAccess, type RunnerScope, roles } from '../../domain/access/access.ts';
import { formatToken } from '../../domain/access/token-format.ts';
import { type CatalogueEntry, catalogue } from '../../domain/errors.ts';
import { allPaths } from '../../http/paths.ts';
import type { Route } from '../../http/route.ts';
import { apiStage, ask, makePerson, tokenOf } from '../support/api.ts';
import { eventually } from '../support/eventually.ts';
import { allRoutes } from '../support/openapi.ts';

const { api, people, platform } = await apiStage();
const guarded = allRoutes.filter((route) => !route.access.open);
beforeAll(async () => {
  await api.composed.services.database.query(
    `insert into runner_type (name, runtime) values ('own', 'external')`,
  );
});

/** A path of the route with ids that do not exist. */
const someUuid = '00000000-0000-4000-8000-000000000000';
const filled = (path: string) =>
  path.replaceAll(/\{(\w+)\+?\}/g, (_match, name) => (/number|^n$/i.test(name) ? '1' : someUuid));
/** Asks again after a 503: a pause of the machine may have made the authentication service late. */
async function call(route: Route, token: string | undefined, path = route.path) {
  const once = () => ask(api.url, route.method, filled(path), token === undefined ? {} : { token });
  const answer = await once();
  return answer.status === 503 ? await once() : answer;
}

async function runnerToken(by: string, scopes: readonly RunnerScope[] = ['tasks', 'debug:read']) {
  const json = { runnerTypes: ['own'], scopes };
  const { body } = await ask(api.url, 'POST', '/api/v2/admin/runner-tokens', { token: by, json });
  return body as { readonly id: string; readonly token: string };
}

/** Invalid runner tokens: revoked, expired, of a deleted person. */
async function deadRunnerTokens(): Promise<string[]> {
  const { database } = api.composed.services;
  const admin = { token: people.adminToken };
  const [revoked, expired] = [await runnerToken(people.adminToken), await runnerToken(people.adminToken)];
  await ask(api.url, 'DELETE', `/api/v2/admin/runner-tokens/${revoked.id}`, admin);
  await database.query('update runner_token set expires_at = now() where id = $1', [expired.id]);
  const person = await makePerson(api.url, people.adminToken, 'Administrator');
  const orphaned = await runnerToken(person.token);
  await ask(api.url, 'DELETE', `/api/authorization/users/${person.userId}`, admin);
  await database.query(`update runner_token_creator set asked_at = '-infinity' where user_id = $1`, [
    person.userId,
  ]);
  const whoami = () => ask(api.url, 'GET', '/api/v2/runner/whoami', { token: orphaned.token });
  await eventually('its creator is known to be gone', async () => (await whoami()).status === 401);
  return [revoked.token, expired.token, orphaned.token];
}

describe('every route that needs a token', () => {
  test('refuses a missing, malformed, unknown, expired, revoked or orphaned token with 401, under all its paths', async () => {
    const admin = { token: people.adminToken };
    const idle = await makePerson(api.url, people.adminToken, 'Administrator');
    const expired = await makePerson(api.url, people.adminToken, 'Administrator');
    const revoked = await makePerson(api.url, people.adminToken, 'Administrator');
    const deleted = await makePerson(api.url, people.adminToken, 'Administrator');
    const users = '/api/authorization/users';
    await ask(api.url, 'PATCH', `${users}/${idle.userId}`, { ...admin, json: { isActive: false } });
    await ask(api.url, 'DELETE', `${users}/${deleted.userId}`, admin);
    await ask(api.url, 'POST', '/api/authorization/revoke', {
      ...admin,
      json: { username: revoked.username },
    });
    const client = new pg.Client(platform.databaseUrl);
    await client.connect();
    await client.query('update auth.tokens set expires_at = now() where user_id = $1', [expired.userId]);
    await client.end();
    const good = people.Administrator.token;
    const wrongChecksum = good.slice(0, -1) + (good.endsWith('0') ? '1' : '0');
    const tokens = [
      ...[undefined, 'garbage', '\u00e9', wrongChecksum, formatToken('access', Buffer.alloc(32, 1))],
      ...[
        formatToken('runner', Buffer.alloc(32, 1)),
        idle.token,
        expired.token,
        revoked.token,
        deleted.token,
        ...(await deadRunnerTokens()),
      ],
    ];
    for (const route of guarded) {
      for (const path of allPaths(route.path, route.aliases ?? [], route.versions ?? 'versioned')) {
        // All kinds on the listed path, one on each other.
        const refuse = async (token: string | undefined) => {
          const { status, headers, body } = await call(route, token, path);
          const seen = {
            route: route.id,
            path,
            status,
            challenge: headers.get('www-authenticate'),
            is: body.status,
          };
          expect(seen).toEqual({ route: route.id, path, status: 401, challenge: 'Bearer', is: 'error' });
        };
        await Promise.all((path === route.path ? tokens : ['garbage']).map(refuse));
      }
    }
  });

  test('admits the roles and kinds of token of its row, and refuses others with the status of its row', async () => {
    const pending = await makePerson(api.url, people.adminToken, 'Administrator', {
      forceChangePasswordNextSignin: true,
    });
    const runners = await Promise.all(
      (['Administrator', 'Developer'] as const).flatMap((role) =>
        ([['tasks', 'debug:read'], ['tasks'], ['debug:read']] as const).map(async (scopes) => ({
          caller: { kind: 'runner' as const, role, scopes },
          token: (await runnerToken(people[role].token, scopes)).token,
        })),
      ),
    );
    for (const route of guarded) {
      const callers: { caller: Caller; token: string }[] = [
        { caller: { kind: 'offline', role: 'Administrator' }, token: people.offlineToken },
        { caller: { kind: 'access', role: 'Administrator', mustChangePassword: true }, token: pending.token },
      ];
      for (const role of roles) callers.push({ caller: { kind: 'access', role }, token: people[role].token });
      callers.push(...runners);
      const decide = async ({ caller, token }: (typeof callers)[number]) => {
        const decision = decideAccess(route.access, caller);
        // Revokes the token of the call.
        if (decision.allowed && route.id === 'signOut') return;
        const { status, body } = await call(route, token);
        const seen = { route: route.id, ...caller, status };
        if (decision.allowed) {
          expect([401, 405, 500], JSON.stringify({ ...seen, body })).not.toContain(status);
        } else {
          const entry: CatalogueEntry = catalogue[decision.problem];
          expect({ ...seen, message: body.message }).toEqual({
            ...seen,
            status: entry.status,
            message: entry.message,
          });
        }
      };
      await Promise.all(callers.map(decide));
    }
  });
});

describe('a user who must change the password', () => {
  test('may only sign in, validate, sign out and change it', async () => {
    const person = await makePerson(api.url, people.adminToken, 'Developer', {
      forceChangePasswordNextSignin: true,
    });
    const { token, userId } = person;
    const refused = await ask(api.url, 'GET', '/user_data', { token });
    expect([refused.status, refused.body.message]).toEqual([
      401,
      'The password must be changed before this account can be used.',
    ]);
    const valid = await ask(api.url, 'POST', '/api/authorization/validate', { json: { token } });
    expect(valid.body.forceChangePasswordNextSignin).toBe(true);
    const path = `/api/authorization/users/${userId}/password`;
    const json = { currentPassword: person.password, newPassword: 'a completely new password' };
    expect((await ask(api.url, 'POST', path, { token, json })).status).toBe(204);
    expect((await ask(api.url, 'GET', '/user_data', { token })).status).toBe(200);
    const fresh = await tokenOf(api.url, person.username, json.newPassword);
    expect((await ask(api.url, 'POST', '/api/authorization/logout', { token: fresh })).status).toBe(204);
  });
});

describe('GET /user_data', () => {
  test('shows exactly the documented fields, in PascalCase, for every role and for offline tokens', async () => {
    for (const role of roles) {
      const { status, body } = await ask(api.url, 'GET', '/user_data', { token: people[role].token });
      expect(status).toBe(200);
      expect(body).toEqual({
        UserId: people[role].userId,
        Username: people[role].username,
        FirstName: role,
        LastName: expect.stringMatching(/^No \d+$/),
        Title: '',
        Company: '',
        Email: people[role].email,
        Role: role,
        CreatedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        UpdatedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        ForceChangePasswordNextSignin: false,
        IsRegistrationComplete: true,
        HasAcceptedDataPrivacy: false,
        IsActive: true,
      });
    }
    const device = await ask(api.url, 'GET', '/api/v2/user_data', { token: people.offlineToken });
    expect([device.status, device.body.Username]).toEqual([200, 'admin']);
  });

  test('accepts the scheme in any spelling, and no other scheme', async () => {
    const { token } = people.Trainee;
    const status = async (authorization: string) =>
      (await ask(api.url, 'GET', '/user_data', { headers: { authorization } })).status;
    expect(await status(`bearer ${token}`)).toBe(200);
    expect(await status(`BEARER   ${token} `)).toBe(200);
    for (const wrong of [token, `Basic ${token}`, `Bearer${token}`, 'Bearer', `Bearer ${token} x`]) {
      expect([wrong.slice(0, 10), await status(wrong)]).toEqual([wrong.slice(0, 10), 401]);
    }
  });
});

const path = '/api/v2/admin/offline-tokens';

describe('offline tokens on the platform interface', () => {
  test('are created, listed and revoked by Administrators, as in the authentication service', async () => {
    const token = people.Administrator.token;
    const made = await ask(api.url, 'POST', path, { token });
    expect([made.status, Object.keys(made.body).sort()]).toEqual([200, ['expiresAt', 'token']]);
    expect((await ask(api.url, 'GET', '/user_data', { token: made.body.token })).status).toBe(200);
    const list = await ask(api.url, 'GET', path, { token });
    const same = await ask(api.url, 'GET', '/api/authorization/offline_token', { token });
    expect(list.body).toEqual(same.body);
    const hint = made.body.token.slice(-4);
    const { secretId } = list.body.find((item: { tokenHint: string }) => item.tokenHint === hint);
    expect((await ask(api.url, 'DELETE', `${path}/${secretId}`, { token })).status).toBe(204);
    expect((await ask(api.url, 'GET', '/user_data', { token: made.body.token })).status).toBe(401);
    for (const id of ['x', '00000000-0000-4000-8000-000000000000']) {
      expect((await ask(api.url, 'DELETE', `${path}/${id}`, { token })).status).toBe(404);
    }
  });

  test('are closed to offline tokens and other roles with 403', async () => {
    for (const token of [people.offlineToken, people.Instructor.token, people.Developer.token]) {
      expect((await ask(api.url, 'POST', path, { token })).status).toBe(403);
      expect((await ask(api.url, 'GET', path, { token })).status).toBe(403);
      expect((await ask(api.url, 'DELETE', `${path}/x`, { token })).status).toBe(403);
    }
  });
});
