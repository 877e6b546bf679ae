import { createHash, randomBytes } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { describe, expect, test } from 'vitest';
import { eventually } from '../../../support/eventually.ts';
import { testProcesses } from '../../../support/processes.ts';
import { runnerStage } from '../../../support/runner.ts';
import { allRows, bucketContents, sweepAll, taskUploads } from '../../../support/task-uploads.ts';

const stage = await runnerStage();
const { api, database, people, platform } = stage;
const processes = testProcesses(platform.environment);
const minPart = 5 * 1024 * 1024;

async function held() {
  const graph = await stage.chainOf(1, { leaseSeconds: 300 });
  await stage.upload(graph, 'input', 'x');
  const runner = stage.runner();
  const task = await runner.acquire(graph.template);
  const uploads = taskUploads(api.url, people.Developer.token, runner.instanceId);
  const taskId = task.taskId as string;
  return { graph, runner, uploads, taskId, handle: await uploads.begin(taskId) };
}
type Held = Awaited<ReturnType<typeof held>>;

/** A part of 1,000 bytes that the test sends piece by piece. */
function openPart({ taskId, handle, runner }: Held): Socket {
  const { port, hostname } = new URL(api.url);
  const socket = connect(Number(port), hostname);
  socket.write(
    `PUT /api/v2/runner/tasks/${taskId}/outputs/uploads/${handle}/parts/1 HTTP/1.1\r\nhost: x\r\n` +
      `authorization: Bearer ${people.Developer.token}\r\nx-platform-runner-instance: ${runner.instanceId}\r\n` +
      'content-length: 1000\r\n\r\n',
  );
  return socket;
}

const renewedSeconds = async (taskId: string) => {
  const [row] = await database.query<{ seconds: number }>(
    `select extract(epoch from lease_until - claimed_at)::float8 - lease_seconds as seconds
       from node_claim where task_id = $1`,
    [taskId],
  );
  return row!.seconds;
};

describe('a part in transfer', () => {
  test('renews the lease', async () => {
    const world = await held();
    const before = await renewedSeconds(world.taskId);
    const socket = openPart(world);
    const drip = setInterval(() => socket.write('x'), 100);
    await eventually('it is renewed', async () => (await renewedSeconds(world.taskId)) > before + 2.5);
    clearInterval(drip);
    socket.destroy();
  });

  test('is aborted with 404 when its task is lost, and changes nothing', async () => {
    const world = await held();
    await world.uploads.put(world.taskId, world.handle, 1, 'before');
    const socket = openPart(world);
    const answer = new Promise<string>((resolve) => {
      socket.once('data', (bytes) => resolve(bytes.toString()));
    });
    const drip = setInterval(() => socket.write('x'), 100);
    const used = await renewedSeconds(world.taskId);
    await eventually('its bytes flow', async () => (await renewedSeconds(world.taskId)) > used + 2.5);
    await database.query('update node_claim set lease_until = now() where task_id = $1', [world.taskId]);
    const rows = await allRows(database);
    expect(await answer).toMatch(/^HTTP\/1\.1 404 [\s\S]*task_not_found/);
    clearInterval(drip);
    socket.destroy();
    expect(await allRows(database)).toBe(rows);
  });

  test('that is interrupted keeps the earlier part', async () => {
    const world = await held();
    const { uploads, taskId, handle } = world;
    await uploads.put(taskId, handle, 1, 'before');
    const before = await renewedSeconds(taskId);
    const socket = openPart(world);
    socket.write('half');
    await eventually('it has begun', async () => (await renewedSeconds(taskId)) > before);
    socket.destroy();
    const completed = await uploads.complete(taskId, handle);
    expect([completed.status, completed.body.sizeBytes]).toEqual([201, 6]);
  });
});

describe('an API process is killed', () => {
  for (const [failpoint, place, repeated] of [
    ['task-output-stored', 'after the store completed an upload and before its row', 201],
    ['task-output-committed', 'after the commit of a completed upload and before the reply', 200],
  ] as const) {
    const diesInComplete = async (bytes: readonly Buffer[]) => {
      const world = await held();
      for (const [at, part] of bytes.entries())
        await world.uploads.put(world.taskId, world.handle, at + 1, part);
      const dying = await processes.startApi({ failpoint });
      const there = taskUploads(dying.url, people.Developer.token, world.runner.instanceId);
      await expect(there.complete(world.taskId, world.handle)).rejects.toThrow('fetch failed');
      expect(await dying.ended).toBe('SIGKILL');
      return world;
    };

    test(`${place}: the repeat finds it, and there is one`, async () => {
      const bytes = [randomBytes(minPart), randomBytes(99)];
      const { graph, runner, uploads, taskId, handle } = await diesInComplete(bytes);
      const again = await uploads.complete(taskId, handle);
      expect([again.status, again.body.sizeBytes]).toEqual([repeated, minPart + 99]);
      expect((await runner.end(taskId, 'complete', { outcome: 'completed' })).status).toBe(200);
      const path = `/api/v2/node-instance/${graph.nodes.n1}/outputs/latest/data`;
      const read = await fetch(api.url + path, {
        headers: { authorization: `Bearer ${people.Developer.token}` },
      });
      const sha256 = (buffer: Uint8Array) => createHash('sha256').update(buffer).digest('hex');
      expect(sha256(new Uint8Array(await read.arrayBuffer()))).toBe(sha256(Buffer.concat(bytes)));
    });

    test(`${place}: without a repeat the sweeper leaves only what outputs refer to`, async () => {
      const { runner, taskId } = await diesInComplete([Buffer.from('x')]);
      const [upload] = await database.query<{ key: string }>(
        'select object_key as key from task_upload where task_id = $1',
        [taskId],
      );
      const isStored = async () =>
        (await bucketContents(platform)).objects.some((line) => line.startsWith(upload!.key));
      expect(await isStored()).toBe(true);
      await sweepAll(platform, database);
      expect(await isStored()).toBe(true);
      await runner.end(taskId, 'complete', { outcome: 'no-output' });
      await sweepAll(platform, database);
      expect(await isStored()).toBe(false);
    });
  }
});
