import { describe, expect, test } from 'vitest';
import { formatToken } from '../../../domain/access/token-format.ts';
import { eventually } from '../../support/eventually.ts';
import { upload } from '../../support/graph.ts';
import { runnerStage } from '../../support/runner.ts';
import { newRunnerType, newToken, tokenStage } from './support.ts';

const stage = await runnerStage();
const { people, database } = stage;

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

  test('is refused from the moment of its end on, although the process has just checked it', async () => {
    const { made } = await tokenStage(stage);
    const whoami = async () =>
      (await stage.runner({ token: made.token }).call('GET', '/whoami')).status as number;
    const expiresAt = await eventually('it is accepted shortly before its end', async () => {
      const [row] = await database.query<{ expiresAt: Date }>(
        `update runner_token set expires_at = clock_timestamp() + interval '300 ms' where id = $1
         returning expires_at`,
        [made.id],
      );
      stage.api.composed.services.runners.tokens.forget();
      return (await whoami()) === 200 && row!.expiresAt.getTime();
    });
    const late: number[] = [];
    await eventually('it is refused', async () => {
      const isLate = Date.now() > expiresAt;
      const status = await whoami();
      if (isLate) late.push(status);
      return status === 401;
    });
    expect(late.filter((status) => status !== 401)).toEqual([]);
  });

  test('gets its permissions from whoami, with templates only of its own runner types', async () => {
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
    const first = await runner.acquire(graph.template);
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

  test('owns its tasks: no other token, nor its creator, can change them', async () => {
    const { graph, runner: newRunner, runnerType } = await tokenStage(stage);
    await upload(database, graph, 'input');
    const runner = newRunner();
    const task = await runner.acquire(graph.template);
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
