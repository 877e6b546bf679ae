import { randomUUID } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { afterAll, describe, expect, test } from 'vitest';
import { claimNext, registerClaim } from '../../../store/runs/claims.ts';
import { startTestApi } from '../../support/api.ts';
import { eventually } from '../../support/eventually.ts';
import { claim, makeGraph, outsideTemplate, upload } from '../../support/graph.ts';
import { runnerStage, type TestRunner } from '../../support/runner.ts';
import { stretched } from '../../support/stretched.ts';
import { newRunnerType, newToken, revoke, tokenStage } from './support.ts';

const stage = await runnerStage();
const { api, people, database } = stage;
const second = await startTestApi(stage.platform.environment);
afterAll(() => second.stop());
const apis = [api, second];
const { waiters } = api.composed.services.runners;
/** The time that the platform promises. */
const limitMs = 5_000;

interface ClaimRow {
  readonly ending: string | null;
  readonly attempt: number;
}
const claimsOf = (tokenId: string) =>
  database.query<ClaimRow>(
    `select ending, attempt from node_claim where holder = 'token:' || $1::text order by claimed_at`,
    [tokenId],
  );
const heldBy = async (tokenId: string) =>
  (await claimsOf(tokenId)).filter((claim) => claim.ending === null).length;

/** Fails unless `check` holds within the time that the platform promises. */
const promptly = (what: string, check: () => Promise<boolean> | boolean) =>
  eventually(what, check, stretched(limitMs));

describe('the tasks of a revoked token', () => {
  test('are claimable by others when the revocation is answered, and no attempt is counted', async () => {
    const { graph, made, runner: newRunner } = await tokenStage(stage);
    await upload(database, graph, 'input');
    const runner = newRunner();
    const task = await runner.acquire(graph.template);
    await runner.call('PUT', `/tasks/${task.taskId}/heartbeat`, { phase: 'half-way' });
    await runner.write(task.taskId, 'half', { 'x-platform-output-identifier': 'half' });
    expect((await revoke(stage, made.id)).status).toBe(204);
    for (const url of apis.map((one) => one.url)) {
      const late = stage.runner({ token: made.token, instanceId: runner.instanceId, url });
      for (const answer of [
        await late.call('PUT', `/tasks/${task.taskId}/heartbeat`, {}),
        await late.write(task.taskId, 'late'),
        await late.end(task.taskId, 'complete', { outcome: 'completed' }),
        await late.claim(graph.template),
      ])
        expect([answer.status, answer.body.code]).toEqual([401, 'unauthorized']);
    }
    const next = stage.runner();
    const again = await next.acquire(graph.template);
    expect(again).toMatchObject({ runId: task.runId, attempt: 1, reason: 'input' });
    expect((await next.end(again.taskId, 'complete', { outcome: 'completed' })).status).toBe(200);
    expect(await claimsOf(made.id)).toEqual([{ ending: 'token-ended', attempt: 1 }]);
  });

  test('are released by another process when the revoking one died', async () => {
    const { graph, made, runner } = await tokenStage(stage);
    await upload(database, graph, 'input');
    await runner().acquire(graph.template);
    await database.query('update runner_token set revoked_at = clock_timestamp() where id = $1', [made.id]);
    await promptly('nothing is held', async () => (await heldBy(made.id)) === 0);
    expect((await stage.runner().acquire(graph.template)).attempt).toBe(1);
  });

  test('are released when it expires', async () => {
    const { graph, made, runner } = await tokenStage(stage);
    await upload(database, graph, 'input');
    await runner().acquire(graph.template);
    const waiting = runner().claim([], 60);
    await eventually('a claim waits', () => waiters.idleCount === 1);
    await database.query(
      `update runner_token set expires_at = clock_timestamp() + interval '1 s' where id = $1`,
      [made.id],
    );
    expect((await waiting).status).toBe(401);
    await promptly('nothing is held', async () => (await heldBy(made.id)) === 0);
  });

  test('are released, also those of a claim that saw the token valid and commits later', async () => {
    const { graph, made } = await tokenStage(stage);
    await upload(database, graph, 'input');
    const identity = { holder: `token:${made.id}`, instanceId: randomUUID() };
    const { claimSeq } = await registerClaim(database, identity);
    const request = { claimSeq, templates: [graph.template], leaseSeconds: 30 };
    await database.transaction(async (tx) => {
      expect(await claimNext(tx, identity, request)).toBeDefined();
      expect((await revoke(stage, made.id)).status).toBe(204);
    });
    expect(await claimNext(database, identity, request)).toBeUndefined();
    await promptly('nothing is held', async () => (await heldBy(made.id)) === 0);
    expect(await claimsOf(made.id)).toEqual([{ ending: 'token-ended', attempt: 1 }]);
  });

  test('are released in time also when there are hundreds', async () => {
    const runnerType = await newRunnerType(stage);
    const template = `t-${randomUUID()}`;
    await outsideTemplate(database, template, { runnerType });
    const made = await newToken(stage, [runnerType]);
    const nodes = Array.from({ length: 60 }, (_, at) => ({ name: `n${at}`, parents: ['input'], template }));
    for (let session = 0; session < 5; session += 1) {
      const graph = await makeGraph(database, [{ name: 'input', parents: [] }, ...nodes]);
      await upload(database, graph, 'input');
    }
    const acquire = () => claim(database, { holder: `token:${made.id}`, instanceId: randomUUID() }, template);
    for (let taken = 0; taken < 300; taken += 30) await Promise.all(Array.from({ length: 30 }, acquire));
    expect(await heldBy(made.id)).toBe(300);
    await database.query('update runner_token set revoked_at = clock_timestamp() where id = $1', [made.id]);
    await promptly('nothing is held', async () => (await heldBy(made.id)) === 0);
  });

  test('are gone five seconds after a revocation during claims at two processes', async () => {
    const runnerType = await newRunnerType(stage);
    const template = `t-${randomUUID()}`;
    await outsideTemplate(database, template, { runnerType });
    const children = Array.from({ length: 40 }, (_, at) => ({
      name: `n${at}`,
      parents: ['input'],
      template,
    }));
    const graph = await makeGraph(database, [{ name: 'input', parents: [] }, ...children]);
    const made = await newToken(stage, [runnerType]);
    const endless = new AbortController();
    async function work(url: string): Promise<number[]> {
      const statuses: number[] = [];
      const runner = stage.runner({ token: made.token, url });
      while (!endless.signal.aborted && statuses.at(-1) !== 401) {
        const answer = await runner.claim(template, 5);
        statuses.push(answer.status);
        if (answer.status === 200) await runner.end(answer.body.taskId, 'release');
      }
      return statuses;
    }
    const working = Array.from({ length: 12 }, (_, at) => work(apis[at % 2]!.url));
    await upload(database, graph, 'input');
    await eventually('they claim', async () => (await claimsOf(made.id)).length > 20);
    expect((await revoke(stage, made.id)).status).toBe(204);
    const revokedAtMs = performance.now();
    await promptly('every runner is told', async () => {
      await Promise.all(working);
      return true;
    });
    await promptly('nothing is held', async () => (await heldBy(made.id)) === 0);
    expect(performance.now() - revokedAtMs).toBeLessThan(stretched(limitMs));
    endless.abort();
    for (const statuses of await Promise.all(working)) expect(statuses.at(-1)).toBe(401);
    const runs = await database.query<{ attempt: number; state: string }>(
      `select distinct attempt, state from node_run where session_id = $1 and state <> 'waiting'`,
      [graph.sessionId],
    );
    expect(runs).toEqual([{ attempt: 1, state: 'queued' }]);
  });
});

describe('a claim that waits', () => {
  test('ends with 401 when its token is revoked, at any process', async () => {
    const { graph, made, runner } = await tokenStage(stage);
    const waiting = [
      runner().claim(graph.template, 60),
      stage.runner({ token: made.token, url: second.url }).claim([], 60),
    ];
    await eventually('they wait', () =>
      apis.every((one) => one.composed.services.runners.waiters.idleCount === 1),
    );
    await revoke(stage, made.id);
    const revokedAtMs = performance.now();
    for (const answer of await Promise.all(waiting))
      expect([answer.status, answer.body.code]).toEqual([401, 'unauthorized']);
    expect(performance.now() - revokedAtMs).toBeLessThan(stretched(limitMs));
    await eventually('nothing waits', () => waiters.count === 0);
  });

  test('gets no task that becomes ready after the revocation; the wake goes to another at once', async () => {
    const { graph, made, runner } = await tokenStage(stage);
    const revoked = runner().claim(graph.template, 60);
    await eventually('it waits', () => waiters.idleCount === 1);
    const other = stage.runner().claim(graph.template, 60);
    await eventually('both wait', () => waiters.idleCount === 2);
    await database.query('update runner_token set revoked_at = clock_timestamp() where id = $1', [made.id]);
    await upload(database, graph, 'input');
    const readyAtMs = performance.now();
    expect((await other).status).toBe(200);
    expect(performance.now() - readyAtMs).toBeLessThan(stretched(500));
    expect((await revoked).status).toBe(401);
    expect(await claimsOf(made.id)).toEqual([]);
  });
});

describe('a transfer', () => {
  async function held() {
    const { graph, made, runner: newRunner } = await tokenStage(stage);
    const sent = await stage.upload(graph, 'input', Buffer.alloc(64 * 1024 * 1024, 'x'));
    const runner = newRunner();
    const task = await runner.acquire(graph.template);
    return { made, runner, taskId: task.taskId as string, inputId: sent.body.id as number };
  }

  function open(runner: TestRunner, token: string, method: string, path: string, length: number): Socket {
    const { port, hostname } = new URL(api.url);
    const socket = connect(Number(port), hostname);
    socket.write(
      `${method} /api/v2/runner${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${token}\r\n` +
        `x-platform-runner-instance: ${runner.instanceId}\r\ncontent-length: ${length}\r\n\r\n`,
    );
    return socket;
  }

  test('of an output is aborted with 401, and nothing of it is kept', async () => {
    const { made, runner, taskId } = await held();
    const socket = open(runner, made.token, 'POST', `/tasks/${taskId}/outputs`, 10_000);
    const drip = setInterval(() => socket.write('x'.repeat(100)), 100);
    const pending = () => database.query('select 1 from pending_object');
    await eventually('they flow', async () => (await pending()).length === 1);
    const answered = new Promise<string>((resolve) => {
      socket.once('data', (bytes) => resolve(bytes.toString()));
    });
    await revoke(stage, made.id);
    const revokedAtMs = performance.now();
    const answer = await answered;
    expect(performance.now() - revokedAtMs).toBeLessThan(stretched(limitMs));
    expect(answer).toMatch(/^HTTP\/1\.1 401 /);
    expect(answer).toContain('"code":"unauthorized"');
    clearInterval(drip);
    socket.destroy();
    await eventually('nothing is left', async () => (await pending()).length === 0);
  });

  test('of an output that stalls is aborted too', async () => {
    const { made, runner, taskId } = await held();
    const socket = open(runner, made.token, 'POST', `/tasks/${taskId}/outputs`, 10_000);
    await eventually(
      'it has begun',
      async () => (await database.query('select 1 from pending_object')).length === 1,
    );
    const answered = new Promise<string>((resolve) => {
      socket.once('data', (bytes) => resolve(bytes.toString()));
    });
    await revoke(stage, made.id);
    const revokedAtMs = performance.now();
    expect(await answered).toMatch(/^HTTP\/1\.1 401 /);
    expect(performance.now() - revokedAtMs).toBeLessThan(stretched(limitMs));
    socket.destroy();
  });

  test('of an input is aborted, whether or not the reader reads', async () => {
    for (const reads of [true, false]) {
      const { made, runner, taskId, inputId } = await held();
      const socket = open(runner, made.token, 'GET', `/tasks/${taskId}/inputs/${inputId}/data`, 0);
      let bytes = 0;
      socket.on('data', (chunk) => {
        bytes += chunk.length;
        socket.pause();
        if (reads) setTimeout(() => socket.resume(), 20);
      });
      await eventually('they flow', () => bytes > 0);
      const closed = new Promise<void>((resolve) => {
        socket.once('close', () => resolve());
      });
      await revoke(stage, made.id);
      const revokedAtMs = performance.now();
      const cut = eventually(
        'the connection is cut',
        async () => (await openDownloads()) === 0,
        stretched(limitMs),
      );
      await cut;
      expect(performance.now() - revokedAtMs).toBeLessThan(stretched(limitMs));
      socket.removeAllListeners('data');
      socket.on('data', (chunk) => {
        bytes += chunk.length;
      });
      socket.on('error', () => undefined);
      socket.resume();
      await closed;
      expect(bytes).toBeLessThan(64 * 1024 * 1024);
    }
  });

  /** Connections of the API's server with a request under way. */
  async function openDownloads(): Promise<number> {
    return api.composed.services.runners.tokens.openCallCount;
  }
});

test('revoking a token does not affect other tokens of its creator', async () => {
  const { graph, made, runnerType } = await tokenStage(stage);
  const other = await newToken(stage, [runnerType]);
  await upload(database, graph, 'input');
  const runner = stage.runner({ token: other.token });
  const task = await runner.acquire(graph.template);
  await revoke(stage, made.id);
  expect((await runner.call('PUT', `/tasks/${task.taskId}/heartbeat`, {})).status).toBe(200);
  expect((await stage.runner({ token: people.Developer.token }).call('GET', '/whoami')).status).toBe(200);
});
