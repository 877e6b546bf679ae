import { describe, expect, test } from 'vitest';
import { ask } from '../../../support/api.ts';
import { outsideTemplate, upload } from '../../../support/graph.ts';
import { runnerStage } from '../../../support/runner.ts';

const stage = await runnerStage();
const { api, people, database } = stage;
const isoMilliseconds = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

describe('whoami', () => {
  test("returns an account's templates of runtime external and the limits", async () => {
    const graph = await stage.chainOf(1);
    const answer = await stage.runner().call('GET', '/whoami');
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({
      kind: 'account',
      tokenId: null,
      label: people.Developer.username,
      scopes: ['tasks', 'debug:read'],
      expiresAt: null,
      limits: {
        maxOutputBytes: 16 * 1024 * 1024,
        maxOutputMetadataBytes: 4096,
        maxOutputIdentifierLength: 100,
        maxWaitSeconds: 60,
        leaseSeconds: 30,
        heartbeatIntervalSeconds: 10,
        upload: { minPartBytes: 5_242_880, maxPartBytes: 104_857_600, maxParts: 10_000 },
        incremental: { maxInputsPerTask: 100 },
      },
    });
    expect(answer.body.runnerTypes).toEqual(['outside-runner']);
    expect(answer.body.templates).toContainEqual({
      name: graph.template,
      runnerType: 'outside-runner',
      type: 'Processing',
    });
    expect(answer.body.templates.map(({ name }: { name: string }) => name)).not.toContain(
      'system-next-dimension',
    );
  });
});

describe('a claim', () => {
  test('hands out the task with everything that the decisions list', async () => {
    const graph = await stage.chainOf(2);
    const runner = stage.runner();
    expect(await runner.claim(graph.template)).toMatchObject({ status: 204, body: '' });
    const { output } = await upload(database, graph, 'input');
    const answer = await runner.claim(graph.template);
    expect(answer.status).toBe(200);
    const { taskId, runId, claimedAt, leaseExpiresAt, ...rest } = answer.body;
    expect(rest).toEqual({
      attempt: 1,
      maxAttempts: 3,
      reason: 'input',
      projectId: graph.projectId,
      sessionId: graph.sessionId,
      sessionName: 'Session',
      nodeInstanceId: graph.nodes.n1,
      nodeName: 'n1',
      nodeTemplate: graph.template,
      runnerType: 'outside-runner',
      configuration: { dataSourceName: 'platform', depth: { a: [1] } },
      parents: [{ nodeInstanceId: graph.nodes.input, name: 'input' }],
      heartbeatIntervalSeconds: 10,
      incremental: { watermark: null, pendingInputs: 1, maxInputsPerTask: 100 },
      traceparent: null,
    });
    expect(output.id).toBeGreaterThan(0);
    expect([taskId, runId].every((id) => /^[0-9a-f-]{36}$/.test(id))).toBe(true);
    expect(claimedAt).toMatch(isoMilliseconds);
    expect(Date.parse(leaseExpiresAt) - Date.parse(claimedAt)).toBe(30_000);
  });

  test('uses the lease and heartbeat interval of the node template', async () => {
    const graph = await stage.chainOf(1, { leaseSeconds: 300 });
    await upload(database, graph, 'input');
    const task = await stage.runner().acquire(graph.template);
    expect(task.heartbeatIntervalSeconds).toBe(100);
    expect(Date.parse(task.leaseExpiresAt) - Date.parse(task.claimedAt)).toBe(300_000);
  });

  test('without templates gets any task of runtime external, never one of a built-in node', async () => {
    const graph = await stage.chainOf(1);
    const outsider = await stage.chainOf(1, { runnerType: 'system' });
    await upload(database, outsider, 'input');
    await upload(database, graph, 'input');
    const runner = stage.runner();
    const templates: string[] = [];
    for (;;) {
      const answer = await runner.call('POST', '/tasks/claim', { instanceId: runner.instanceId });
      if (answer.status !== 200) break;
      templates.push(answer.body.nodeTemplate);
      await runner.end(answer.body.taskId, 'complete', { outcome: 'no-output' });
    }
    expect(templates).toContain(graph.template);
    expect(templates).not.toContain(outsider.template);
  });

  test('for all templates covers one that was just registered', async () => {
    const runner = stage.runner();
    await runner.call('POST', '/tasks/claim', { instanceId: runner.instanceId });
    const graph = await stage.chainOf(1);
    await upload(database, graph, 'input');
    const answer = await runner.call('POST', '/tasks/claim', { instanceId: runner.instanceId });
    expect(answer.body.nodeTemplate).toBe(graph.template);
  });

  test('for an unknown template is 404, for one of the platform itself 403', async () => {
    const runner = stage.runner();
    for (const name of ['nobody', '__proto__', 'constructor', '', 'x'.repeat(255)]) {
      const answer = await runner.claim(name);
      expect([answer.status, answer.body.code]).toEqual([404, 'template_unknown']);
    }
    const builtin = await stage.chainOf(1, { runnerType: 'system' });
    const answer = await runner.claim(builtin.template);
    expect([answer.status, answer.body.code]).toEqual([403, 'template_not_allowed']);
    await database.query(
      `insert into runner_type (name, runtime) values ('deployed', 'sdk') on conflict do nothing`,
    );
    await outsideTemplate(database, 'deployed-template', { runnerType: 'deployed' });
    const deployed = await runner.claim('deployed-template');
    expect([deployed.status, deployed.body.code]).toEqual([403, 'template_not_allowed']);
    expect(deployed.body.message).toContain("node template 'deployed-template'");
  });

  test('with an invalid body is 400 invalid_request', async () => {
    const runner = stage.runner();
    const bodies: unknown[] = [
      undefined,
      [],
      'text',
      {},
      { instanceId: '' },
      { instanceId: 'a b' },
      { instanceId: 'é' },
      { instanceId: 'a\u0000' },
      { instanceId: 'x'.repeat(129) },
      { instanceId: 7 },
      { instanceId: 'a', templates: 'b' },
      { instanceId: 'a', templates: [1] },
      { instanceId: 'a', templates: Array.from({ length: 501 }, () => 'b') },
      { instanceId: 'a', templates: ['x'.repeat(256)] },
      { instanceId: 'a', waitSeconds: -1 },
      { instanceId: 'a', waitSeconds: 61 },
      { instanceId: 'a', waitSeconds: 0.5 },
      { instanceId: 'a', waitSeconds: '1' },
    ];
    for (const body of bodies) {
      const answer = await runner.call('POST', '/tasks/claim', body);
      expect([answer.status, answer.body.code, body], JSON.stringify(body)).toEqual([
        400,
        'invalid_request',
        body,
      ]);
      expect(answer.body.status).toBe('error');
    }
  });

  test('shows a retry and its attempt', async () => {
    const graph = await stage.chainOf(1);
    await upload(database, graph, 'input');
    const [first, second] = [stage.runner(), stage.runner()];
    const task = await first.acquire(graph.template);
    await first.call('PUT', `/tasks/${task.taskId}/heartbeat`, {});
    await first.claim(graph.template); // ends the claim of the used task, which counts, and claims it again
    const again = await second.claim(graph.template);
    expect(again.status).toBe(204);
    const [held] = await database.query<{ attempt: number }>(
      'select attempt from node_claim where run_id = $1 and ended_at is null',
      [task.runId],
    );
    expect(held!.attempt).toBe(2);
  });

  test('releases the task that the same instance holds; an unused task is not counted', async () => {
    const graph = await stage.chainOf(1);
    await upload(database, graph, 'input');
    const runner = stage.runner();
    const first = await runner.acquire(graph.template);
    const second = await runner.acquire(graph.template);
    expect(second).toMatchObject({ runId: first.runId, attempt: 1, reason: 'input' });
    expect(second.taskId).not.toBe(first.taskId);
    expect((await runner.call('PUT', `/tasks/${first.taskId}/heartbeat`, {})).status).toBe(404);
    await runner.call('PUT', `/tasks/${second.taskId}/heartbeat`, {});
    const third = await runner.acquire(graph.template);
    expect(third).toMatchObject({ runId: first.runId, attempt: 2, reason: 'retry' });
  });
});

describe('access', () => {
  const routes: [string, string][] = [
    ['GET', '/whoami'],
    ['POST', '/tasks/claim'],
    ['PUT', '/tasks/00000000-0000-7000-8000-000000000000/heartbeat'],
    ['GET', '/tasks/00000000-0000-7000-8000-000000000000/inputs'],
    ['GET', '/tasks/00000000-0000-7000-8000-000000000000/inputs/1/data'],
    ['GET', '/tasks/00000000-0000-7000-8000-000000000000/state'],
    ['POST', '/tasks/00000000-0000-7000-8000-000000000000/outputs'],
    ['PUT', '/tasks/00000000-0000-7000-8000-000000000000/watermark'],
    ['PUT', '/tasks/00000000-0000-7000-8000-000000000000/complete'],
    ['PUT', '/tasks/00000000-0000-7000-8000-000000000000/fail'],
    ['PUT', '/tasks/00000000-0000-7000-8000-000000000000/release'],
  ];
  test.each(routes)('%s %s: only Administrators and Developers by access token', async (method, path) => {
    const refusal = async (token?: string) => {
      const answer = await ask(
        api.url,
        method,
        `/api/v2/runner${path}`,
        token === undefined ? {} : { token },
      );
      return [answer.status, answer.body.code, answer.body.status];
    };
    expect(await refusal()).toEqual([401, 'unauthorized', 'error']);
    expect(await refusal('nonsense')).toEqual([401, 'unauthorized', 'error']);
    expect(await refusal(people.offlineToken)).toEqual([403, 'offline_token_refused', 'error']);
    expect(await refusal(people.Instructor.token)).toEqual([403, 'forbidden', 'error']);
    expect(await refusal(people.Trainee.token)).toEqual([403, 'forbidden', 'error']);
    for (const token of [people.Administrator.token, people.Developer.token]) {
      expect([401, 403]).not.toContain((await refusal(token))[0]);
    }
  });

  test('unknown paths and methods below the runner routes carry a code too', async () => {
    const runner = stage.runner();
    const unknown = await runner.call('GET', '/nothing');
    expect([unknown.status, unknown.body.code]).toEqual([404, 'not_found']);
    const method = await runner.call('DELETE', '/whoami');
    expect([method.status, method.body.code, method.headers.get('allow')]).toEqual([
      405,
      'method_not_allowed',
      'GET, HEAD',
    ]);
  });
});
