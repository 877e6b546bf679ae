import { describe, expect, test } from 'vitest';
import { formatToken, tokenFamily } from '../../../domain/token-format.ts';
import { ask, makePerson } from '../../support/api.ts';
import { upload } from '../../support/graph.ts';
import { runnerStage } from '../../support/runner.ts';
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

  test('gives thirty days and the scope tasks where nothing else is said', async () => {
    const made = await requestToken(stage, { runnerTypes: [await newRunnerType(stage)] });
    expect(made.body.scopes).toEqual(['tasks']);
    const lifeMs = Date.parse(made.body.expiresAt) - Date.now();
    expect(Math.round(lifeMs / hourMs)).toBe(720);
  });

  test('stores no value anywhere', async () => {
    const { token } = await newToken(stage, [await newRunnerType(stage)]);
    const tables = await database.query<{ name: string }>(
      `select table_schema || '.' || table_name as name from information_schema.tables
        where table_schema in ('public', 'auth') and table_type = 'BASE TABLE'`,
    );
    for (const { name } of tables) {
      const [found] = await database.query<{ count: number }>(
        `select count(*) as count from ${name} t where t::text like '%' || $1 || '%'`,
        [token.slice(4, 30)],
      );
      expect([name, found!.count]).toEqual([name, 0]);
    }
  });

  test('lets an Administrator alone name deployed types and live for a year', async () => {
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

  test('refuses what cannot be a token', async () => {
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

  test('is for Administrators and Developers with access tokens', async () => {
    const json = { runnerTypes: [await newRunnerType(stage)] };
    const { id } = await newToken(stage, json.runnerTypes);
    for (const [method, path] of [
      ['POST', tokensPath],
      ['GET', tokensPath],
      ['DELETE', `${tokensPath}/${id}`],
    ] as const) {
      for (const token of [people.Instructor.token, people.Trainee.token, people.offlineToken]) {
        const answer = await ask(api.url, method, path, { token, ...(method === 'POST' ? { json } : {}) });
        expect(answer.status).toBe(403);
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

  test('tells when a token was last used, written at most once a minute', async () => {
    const { made, runner } = await tokenStage(stage);
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
  test('ends the token at once; again is fine; unknown and foreign ones are 404', async () => {
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

  test('shows in the list, and leaves other tokens alone', async () => {
    const types = [await newRunnerType(stage)];
    const [one, two] = [await newToken(stage, types), await newToken(stage, types)];
    await revoke(stage, one.id);
    const { body } = await list(people.Developer.token);
    const revokedOf = (id: string) => body.find((item: { id: string }) => item.id === id).revoked;
    expect([revokedOf(one.id), revokedOf(two.id)]).toEqual([true, false]);
    expect((await stage.runner({ token: two.token }).call('GET', '/whoami')).status).toBe(200);
  });
});

describe('a runner token', () => {
  test('that is unknown, malformed or expired is 401 on every runner route', async () => {
    const { made } = await tokenStage(stage);
    const { token } = made;
    const wrongChecksum = token.slice(0, -1) + (token.endsWith('0') ? '1' : '0');
    const unknown = formatToken('runner', Buffer.alloc(32, 9));
    await database.query('update runner_token set expires_at = now() where id = $1', [made.id]);
    for (const value of [token, wrongChecksum, unknown, 'hrt_', `hrt_${'x'.repeat(900)}`, `${token}x`]) {
      const answer = await stage.runner({ token: value }).call('GET', '/whoami');
      expect([value, answer.status, answer.body.code]).toEqual([value, 401, 'unauthorized']);
    }
  });

  test('is told its reach by whoami, with templates of its own runner types alone', async () => {
    const { made, runner, graph, runnerType } = await tokenStage(stage);
    const foreign = await stage.chainOf(1);
    const answer = await runner().call('GET', '/whoami');
    expect(answer.status).toBe(200);
    const { limits, ...own } = answer.body;
    expect(own).toEqual({
      kind: 'runner',
      tokenId: made.id,
      label: 'test',
      runnerTypes: [runnerType],
      scopes: ['tasks', 'debug:read'],
      expiresAt: made.expiresAt,
      templates: [{ name: graph.template, runnerType, type: 'Processing' }],
    });
    expect(limits.maxWaitSeconds).toBe(60);
    expect(own.templates.map(({ name }: { name: string }) => name)).not.toContain(foreign.template);
  });

  test('claims, works and completes tasks of its runner types', async () => {
    const { graph, runner: newRunner } = await tokenStage(stage, { length: 2 });
    await upload(database, graph, 'input');
    const runner = newRunner();
    const first = await runner.take(graph.template);
    expect((await runner.call('PUT', `/tasks/${first.taskId}/heartbeat`, {})).status).toBe(200);
    expect((await runner.write(first.taskId, 'a')).status).toBe(201);
    expect((await runner.end(first.taskId, 'complete', { outcome: 'completed' })).status).toBe(200);
    const claimed = await runner.call('POST', '/tasks/claim', {
      instanceId: runner.instanceId,
      waitSeconds: 5,
    });
    expect(claimed.body).toMatchObject({ nodeName: 'n2', nodeTemplate: graph.template });
    const answer = await runner.end(claimed.body.taskId, 'complete', { outcome: 'no-output' });
    expect(answer.status).toBe(200);
  });

  test('claims nothing outside its runner types: 403 by name, nothing for all', async () => {
    const { runner: newRunner } = await tokenStage(stage);
    const foreign = await stage.chainOf(1);
    const builtin = await stage.chainOf(1, { runnerType: 'system' });
    await upload(database, foreign, 'input');
    const runner = newRunner();
    for (const template of [foreign.template, builtin.template]) {
      const answer = await runner.claim(template);
      expect([answer.status, answer.body.code]).toEqual([403, 'template_not_allowed']);
    }
    expect((await runner.claim('nobody')).body.code).toBe('template_unknown');
    expect((await runner.claim([])).status).toBe(204);
  });

  test('without a scope gets 403 where it is needed', async () => {
    const type = await newRunnerType(stage);
    const { token } = await newToken(stage, [type], { fields: { scopes: ['debug:read'] } });
    const runner = stage.runner({ token });
    expect((await runner.call('GET', '/whoami')).body.scopes).toEqual(['debug:read']);
    const answer = await runner.claim([]);
    expect([answer.status, answer.body.code]).toEqual([403, 'scope_missing']);
  });

  test('owns what it claims: no other token, nor its own creator, can touch the task', async () => {
    const { graph, runner: newRunner, runnerType } = await tokenStage(stage);
    await upload(database, graph, 'input');
    const runner = newRunner();
    const task = await runner.take(graph.template);
    const { token } = await newToken(stage, [runnerType]);
    for (const other of [token, people.Developer.token]) {
      const thief = stage.runner({ token: other, instanceId: runner.instanceId });
      const answer = await thief.call('PUT', `/tasks/${task.taskId}/heartbeat`, {});
      expect([answer.status, answer.body.code]).toEqual([404, 'task_not_found']);
    }
    expect((await runner.call('PUT', `/tasks/${task.taskId}/heartbeat`, {})).status).toBe(200);
  });

  test('checks manifests as publishing does, and changes nothing', async () => {
    const { runner } = await tokenStage(stage);
    const manifest = {
      manifestVersion: 1,
      feature: { name: 'checked', version: '1.0.0', ownershipType: 'ThirdParty' },
      runnerTypes: [{ name: 'checked-runner', runtime: 'external' }],
      nodeTemplates: [
        { name: 'checked-node', runnerType: 'checked-runner', type: 'Processing', configurationSchema: {} },
      ],
    };
    const good = await runner().call('POST', '/manifests/validate', manifest);
    expect([good.status, good.body]).toEqual([
      200,
      {
        published: false,
        runnerTypes: ['checked-runner'],
        templates: ['checked-node'],
        errors: [],
        warnings: [],
      },
    ]);
    const bad = await runner().call('POST', '/manifests/validate', { ...manifest, manifestVersion: 2 });
    expect(bad).toMatchObject({ status: 400, body: { code: 'invalid_request', published: false } });
    expect(bad.body.errors.length).toBeGreaterThan(0);
    const account = await stage.runner().call('POST', '/manifests/validate', manifest);
    expect(account.status).toBe(200);
    expect(await database.query(`select 1 from feature where name = 'checked'`)).toEqual([]);
  });
});
