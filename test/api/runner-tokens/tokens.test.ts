import { describe, expect, test } from 'vitest';
import { tokenFamily } from '../../../domain/access/token-format.ts';
import { ask, makePerson } from '../../support/api.ts';
import { runnerStage } from '../../support/runner.ts';
import { expectNowhereStored } from '../../support/stored-text.ts';
import { newRunnerType, newToken, requestToken, revoke, tokenStage, tokensPath } from './support.ts';

const stage = await runnerStage();
const { api, people, database } = stage;
const hourMs = 3_600_000;
const list = (token: string) => ask(api.url, 'GET', tokensPath, { token });

describe('making a runner token', () => {
  test('shows its value once, with id, end and scopes', async () => {
    const type = await newRunnerType(stage);
    const before = Date.now();
    const answer = await requestToken(stage, {
      runnerTypes: [type, type],
      scopes: ['tasks', 'debug:read', 'tasks'],
      ttlHours: 24,
      label: ' Laboratory 3 ',
    });
    expect(answer).toMatchObject({
      status: 201,
      body: { id: expect.stringMatching(/^[0-9a-f-]{36}$/), scopes: ['tasks', 'debug:read'] },
    });
    expect(Object.keys(answer.body).sort()).toEqual(['expiresAt', 'id', 'scopes', 'token']);
    expect(tokenFamily(answer.body.token)).toBe('runner');
    expect(answer.headers.get('cache-control')).toBe('no-store');
    const lifeMs = Date.parse(answer.body.expiresAt) - before;
    expect(lifeMs).toBeGreaterThan(24 * hourMs - 1_000);
    expect(lifeMs).toBeLessThan(24 * hourMs + 60_000);
    const { body } = await list(people.Developer.token);
    expect(body.at(-1)).toEqual({
      id: answer.body.id,
      label: 'Laboratory 3',
      runnerTypes: [type],
      scopes: ['tasks', 'debug:read'],
      createdBy: people.Developer.userId,
      createdAt: expect.stringMatching(/Z$/),
      expiresAt: answer.body.expiresAt,
      lastUsedAt: null,
      revoked: false,
      tokenHint: answer.body.token.slice(-4),
    });
  });

  test('defaults to thirty days and the scope tasks', async () => {
    const made = await requestToken(stage, { runnerTypes: [await newRunnerType(stage)] });
    expect(made.body.scopes).toEqual(['tasks']);
    const lifeMs = Date.parse(made.body.expiresAt) - Date.now();
    expect(Math.round(lifeMs / hourMs)).toBe(720);
  });

  test('stores no value anywhere', async () => {
    const { token } = await newToken(stage, [await newRunnerType(stage)]);
    await expectNowhereStored(database, token.slice(4, 30));
  });

  test('may name deployed types and last a year only for an Administrator', async () => {
    const deployed = await newRunnerType(stage, 'sdk');
    const type = await newRunnerType(stage);
    const administrator = people.Administrator.token;
    expect((await requestToken(stage, { runnerTypes: [deployed] }, administrator)).status).toBe(201);
    expect((await requestToken(stage, { runnerTypes: [type], ttlHours: 8760 }, administrator)).status).toBe(
      201,
    );
    expect((await requestToken(stage, { runnerTypes: [type], ttlHours: 720 })).status).toBe(201);
    expect((await requestToken(stage, { runnerTypes: [type], ttlHours: 8761 }, administrator)).status).toBe(
      400,
    );
    const long = await requestToken(stage, { runnerTypes: [type], ttlHours: 721 });
    expect([long.status, long.body.message]).toEqual([400, 'ttlHours must be between 1 and 720.']);
    const forbidden = await requestToken(stage, { runnerTypes: [type, deployed] });
    expect([forbidden.status, forbidden.body.message]).toEqual([
      403,
      `The role of this account does not allow tokens for the deployed runner type '${deployed}'.`,
    ]);
  });

  test('refuses invalid requests', async () => {
    const type = await newRunnerType(stage);
    const refused: object[] = [
      {},
      { runnerTypes: [] },
      { runnerTypes: type },
      { runnerTypes: [''] },
      { runnerTypes: [null] },
      { runnerTypes: ['nobody'] },
      { runnerTypes: ['__proto__'] },
      { runnerTypes: ['constructor'] },
      { runnerTypes: [type, "x' or true --"] },
      { runnerTypes: ['\u0000'] },
      { runnerTypes: ['\ud800'] },
      { runnerTypes: ['system'] },
      { runnerTypes: Array.from({ length: 101 }, (_, at) => `t${at}`) },
      { runnerTypes: [type], scopes: [] },
      { runnerTypes: [type], scopes: ['admin'] },
      { runnerTypes: [type], scopes: 'tasks' },
      { runnerTypes: [type], ttlHours: 0 },
      { runnerTypes: [type], ttlHours: -1 },
      { runnerTypes: [type], ttlHours: 1.5 },
      { runnerTypes: [type], ttlHours: '24' },
      { runnerTypes: [type], ttlHours: 1e300 },
      { runnerTypes: [type], label: 'x'.repeat(256) },
      { runnerTypes: [type], label: 'a\u0000b' },
      { runnerTypes: [type], label: 'a\nb' },
      { runnerTypes: [type], label: 7 },
    ];
    await database.query(
      `insert into runner_type (name, runtime) values ('system', 'system') on conflict do nothing`,
    );
    for (const json of refused) {
      for (const by of [people.Administrator.token, people.Developer.token]) {
        const { status, body } = await requestToken(stage, json, by);
        expect([json, status, body.status]).toEqual([json, 400, 'error']);
      }
    }
  });
});

describe('the list', () => {
  test('shows Developers their own tokens and Administrators all', async () => {
    const other = await makePerson(api.url, people.adminToken, 'Developer');
    const types = [await newRunnerType(stage)];
    const one = await newToken(stage, types);
    const two = await newToken(stage, types, { by: other.token });
    const idsOf = async (token: string) => (await list(token)).body.map((item: { id: string }) => item.id);
    expect(await idsOf(other.token)).toEqual([two.id]);
    expect(await idsOf(people.Developer.token)).toContain(one.id);
    expect(await idsOf(people.Developer.token)).not.toContain(two.id);
    const all = await idsOf(people.Administrator.token);
    expect(all).toContain(one.id);
    expect(all.indexOf(two.id)).toBeGreaterThan(all.indexOf(one.id));
  });

  test('has each of any number of tokens once, oldest first, also of tokens of one moment', async () => {
    const other = await makePerson(api.url, people.adminToken, 'Developer');
    const { id } = await newToken(stage, [await newRunnerType(stage)], { by: other.token });
    await database.query(
      `insert into runner_token (id, digest, hint, label, runner_types, scopes, created_by, created_at, expires_at)
       select gen_random_uuid(), sha256(n::text::bytea), hint, n::text, runner_types, scopes, created_by,
              created_at + make_interval(secs => n / 150 * 0.000001), expires_at
         from runner_token, generate_series(1, 300) n where id = $1`,
      [id],
    );
    const made = (await list(other.token)).body as { id: string; label: string }[];
    expect(new Set(made.map((token) => token.id)).size).toBe(301);
    const moments = made.map(({ label }) => (label === 'test' ? 0 : Math.floor(Number(label) / 150)));
    expect(moments).toEqual([...moments].sort());
  });

  test('shows when a token was last used, written at most once a minute', async () => {
    const { made, runner } = await tokenStage(stage);
    // A check is remembered for a second, and the use is written with the next one.
    const lastUsedOf = async () =>
      (await list(people.Developer.token)).body.find((item: { id: string }) => item.id === made.id)
        .lastUsedAt;
    expect(await lastUsedOf()).toBeNull();
    const used = async () => {
      expect((await runner().call('GET', '/whoami')).status).toBe(200);
      return lastUsedOf();
    };
    await expect.poll(used).not.toBeNull();
    const first = await lastUsedOf();
    for (let round = 0; round < 5; round += 1) expect(await used()).toBe(first);
    await database.query(`update runner_token set last_used_at = now() - interval '61 s' where id = $1`, [
      made.id,
    ]);
    const old = await lastUsedOf();
    await expect.poll(used).not.toBe(old);
  });
});

describe('revoking', () => {
  test('ends the token at once; a repeat is accepted; unknown and foreign tokens are 404', async () => {
    const { made, runner } = await tokenStage(stage);
    const other = await makePerson(api.url, people.adminToken, 'Developer');
    expect((await revoke(stage, made.id, other.token)).status).toBe(404);
    expect((await runner().call('GET', '/whoami')).status).toBe(200);
    expect((await revoke(stage, made.id, people.Developer.token)).status).toBe(204);
    const answer = await runner().call('GET', '/whoami');
    expect([answer.status, answer.body.code, answer.headers.get('www-authenticate')]).toEqual([
      401,
      'unauthorized',
      'Bearer',
    ]);
    expect((await revoke(stage, made.id, people.Developer.token)).status).toBe(204);
    expect((await revoke(stage, made.id)).status).toBe(204);
    for (const id of ['00000000-0000-4000-8000-000000000000', 'abc', "'", '%00']) {
      const { status, body } = await revoke(stage, id);
      expect([id, status, body.message]).toEqual([id, 404, 'Token not found.']);
    }
  });

  test('appears in the list, and does not affect other tokens', async () => {
    const types = [await newRunnerType(stage)];
    const [one, two] = [await newToken(stage, types), await newToken(stage, types)];
    await revoke(stage, one.id);
    const { body } = await list(people.Developer.token);
    const revokedOf = (id: string) => body.find((item: { id: string }) => item.id === id).revoked;
    expect([revokedOf(one.id), revokedOf(two.id)]).toEqual([true, false]);
    expect((await stage.runner({ token: two.token }).call('GET', '/whoami')).status).toBe(200);
  });
});
