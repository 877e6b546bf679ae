import { randomUUID } from 'node:crypto';
import { BenchClient } from '../support/platform.ts';
import { startJava } from './java-server.ts';
import type { Peer } from './peer.ts';

const taskType = 'peer_task';
/** The server refuses a longer wait than five seconds. */
const maxPollMs = 1_000;

/** Conductor OSS: workers poll for tasks and update them over REST. @param jar `conductor-server-VERSION-boot.jar` */
export async function startConductor(jar: string): Promise<Peer> {
  const server = await startJava({
    jar,
    health: '/health',
    settings: {
      'conductor.db.type': 'postgres',
      'conductor.queue.type': 'postgres',
      'conductor.external-payload-storage.type': 'postgres',
      'conductor.indexing.enabled': 'true',
      'conductor.indexing.type': 'postgres',
      'conductor.elasticsearch.version': '0',
      'conductor.workflow-execution-lock.type': 'local_only',
      'conductor.app.workflowExecutionLockEnabled': 'true',
    },
  });
  const client = new BenchClient(Number(new URL(server.url).port));
  const definition = { name: taskType, retryCount: 0, timeoutSeconds: 0, ownerEmail: 'peer@example.org' };
  await client.expect(200, 'POST', '/api/metadata/taskdefs', [
    { ...definition, responseTimeoutSeconds: 600, timeoutPolicy: 'TIME_OUT_WF' },
  ]);
  return {
    name: 'Conductor',
    settings: `OSS ${/server-([\d.]+)-/.exec(jar)?.[1]}, PostgreSQL for state, queue and index; JSON over HTTP/1.1`,
    async graph(width, length) {
      const name = `peer_${randomUUID()}`;
      await client.expect(200, 'POST', '/api/metadata/workflow', workflowOf(name, width, length));
      return () => client.call('POST', `/api/workflow/${name}`, {});
    },
    async claim(worker, waitSeconds) {
      const deadline = performance.now() + waitSeconds * 1_000;
      do {
        const { status, body } = await client.call<
          readonly [{ taskId: string; workflowInstanceId: string }?]
        >('GET', `/api/tasks/poll/batch/${taskType}?workerid=${worker}&count=1&timeout=${maxPollMs}`);
        // 204: no task.
        if (status !== 200 && status !== 204) throw new Error(`poll: ${status} ${JSON.stringify(body)}`);
        const task = body?.[0];
        if (task !== undefined) return { id: task.taskId, of: task.workflowInstanceId };
      } while (performance.now() < deadline);
      return undefined;
    },
    complete: (workerId, { id, of }, output) =>
      client.expect(200, 'POST', '/api/tasks', {
        taskId: id,
        workflowInstanceId: of,
        workerId,
        status: 'COMPLETED',
        outputData: output === null ? {} : { output },
      }),
    pids: server.pids,
    async stop() {
      client.close();
      await server.stop();
    },
  };
}

function workflowOf(name: string, width: number, length: number) {
  const chain = (column: number) =>
    Array.from({ length }, (_, row) => ({
      name: taskType,
      taskReferenceName: `t${column}_${row}`,
      type: 'SIMPLE',
    }));
  const chains = Array.from({ length: width }, (_, column) => chain(column));
  const joined = chains.map((_, column) => `t${column}_${length - 1}`);
  return {
    name,
    version: 1,
    schemaVersion: 2,
    ownerEmail: 'peer@example.org',
    tasks:
      width === 1
        ? chains[0]
        : [
            { name: 'fork', taskReferenceName: 'fork', type: 'FORK_JOIN', forkTasks: chains },
            { name: 'join', taskReferenceName: 'join', type: 'JOIN', joinOn: joined },
          ],
  };
}
