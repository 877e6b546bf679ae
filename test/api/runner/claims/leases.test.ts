import { randomUUID } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, expect, test } from 'vitest';
import { Database } from '../../../../store/connection/database.ts';
import { startTestApi, tokenOf } from '../../../support/api.ts';
import { eventually } from '../../../support/eventually.ts';
import { chain, claim, makeGraph, upload } from '../../../support/graph.ts';
import { runnerStage } from '../../../support/runner.ts';
import { testEnvironment } from '../../../support/stack.ts';

const stage = await runnerStage();
const { api, database, people } = stage;

async function held() {
  const graph = await stage.chainOf(1, { leaseSeconds: 10 });
  const sent = await stage.upload(graph, 'input', Buffer.alloc(48 * 1024 * 1024, 'x'));
  const runner = stage.runner();
  const task = await runner.acquire(graph.template);
  return { runner, taskId: task.taskId as string, inputId: sent.body.id as number };
}

/** How far the lease reaches beyond its first end, in seconds. */
async function prolongedSeconds(taskId: string): Promise<number> {
  const [row] = await database.query<{ seconds: number }>(
    `select extract(epoch from lease_until - claimed_at)::float8 - lease_seconds as seconds
       from node_claim where task_id = $1`,
    [taskId],
  );
  return row!.seconds;
}

function open(method: string, path: string, instanceId: string, length: number): Socket {
  const { port, hostname } = new URL(api.url);
  const socket = connect(Number(port), hostname);
  socket.write(
    `${method} /api/v2/runner${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${people.Developer.token}\r\n` +
      `x-platform-runner-instance: ${instanceId}\r\ncontent-length: ${length}\r\n\r\n`,
  );
  return socket;
}

describe('the lease', () => {
  test('is renewed during the transfer of an output', async () => {
    const { runner, taskId } = await held();
    const socket = open('POST', `/tasks/${taskId}/outputs`, runner.instanceId, 1_000);
    const drip = setInterval(() => socket.write('x'), 100);
    await eventually('it is renewed', async () => (await prolongedSeconds(taskId)) > 2.5);
    clearInterval(drip);
    socket.destroy();
  });

  test('that is lost in the middle of an output aborts it with 404', async () => {
    const { runner, taskId } = await held();
    const socket = open('POST', `/tasks/${taskId}/outputs`, runner.instanceId, 1_000);
    const drip = setInterval(() => socket.write('x'), 100);
    await eventually(
      'its bytes flow',
      async () => (await database.query('select 1 from pending_object')).length === 1,
    );
    await database.query(`update node_claim set lease_until = now() where task_id = $1`, [taskId]);
    const answer = await new Promise<string>((resolve) => {
      socket.once('data', (bytes) => resolve(bytes.toString()));
    });
    clearInterval(drip);
    socket.destroy();
    expect(answer).toMatch(/^HTTP\/1\.1 404 /);
    expect(answer).toContain('task_not_found');
    await eventually(
      'its object is gone',
      async () => (await database.query('select 1 from pending_object')).length === 0,
    );
  });

  test('is renewed during the transfer of an input', async () => {
    const { runner, taskId, inputId } = await held();
    const socket = open('GET', `/tasks/${taskId}/inputs/${inputId}/data`, runner.instanceId, 0);
    let bytes = 0;
    socket.on('data', async (chunk) => {
      bytes += chunk.length;
      socket.pause();
      await sleep(8);
      socket.resume();
    });
    await eventually('it is renewed', async () => (await prolongedSeconds(taskId)) > 2.5);
    expect(bytes).toBeLessThan(48 * 1024 * 1024);
    socket.destroy();
  });
});

describe('after a time without any API process', () => {
  test('leases that were valid at the last heartbeat are prolonged before the first call is served', async () => {
    const platform = await testEnvironment();
    const own = await Database.open({ databaseUrl: platform.databaseUrl, poolSize: 2 });
    afterAll(() => own.close());
    const graph = await makeGraph(own, chain(1));
    await upload(own, graph, 'input');
    const first = await startTestApi(platform.environment);
    const token = await tokenOf(first.url, platform.administrator.username, platform.administrator.password);
    const [user] = await own.query<{ id: string }>('select id from auth.users limit 1');
    await first.stop();
    const instanceId = randomUUID();
    const task = await claim(own, { holder: `user:${user!.id}`, instanceId });
    await own.query(`update node_claim set lease_until = now() - interval '10 s' where task_id = $1`, [
      task!.taskId,
    ]);
    await own.query(`update platform_process set heartbeat_at = now() - interval '20 s'`);
    const second = await startTestApi(platform.environment);
    afterAll(() => second.stop());
    const heartbeat = await stage
      .runner({ instanceId, token, url: second.url })
      .call('PUT', `/tasks/${task!.taskId}/heartbeat`, {});
    expect(heartbeat.status).toBe(200);
  });

  test('each process sends a heartbeat once a second', async () => {
    const heartbeatAt = async () => {
      const [row] = await database.query<{ at: Date }>(
        'select max(heartbeat_at) as at from platform_process',
      );
      return row!.at.getTime();
    };
    const before = await heartbeatAt();
    await eventually('it beats again', async () => (await heartbeatAt()) > before);
  });
});
