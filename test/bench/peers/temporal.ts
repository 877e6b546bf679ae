import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { Client, Connection } from '@temporalio/client';
import { removeData, startStack } from '../../../local/stack.ts';
import { temporaryDataFolder } from '../../support/global-setup.ts';
import type { Peer } from './peer.ts';

const activities = 'peer-activities';
const workflows = 'peer-workflows';

/** Temporal alone: a workflow of activities, which outside workers poll and complete over gRPC. */
export async function startTemporal(): Promise<Peer> {
  const dataDir = temporaryDataFolder();
  const stack = await startStack({ dataDir, log: () => undefined });
  const { TEMPORAL_ADDRESS: address = '', TEMPORAL_NAMESPACE: namespace = 'default' } = stack.environment;
  const worker = spawn(
    process.execPath,
    [fileURLToPath(new URL('temporal-worker.ts', import.meta.url)), address, namespace, workflows],
    { stdio: ['ignore', 'pipe', 'ignore'] },
  );
  await once(worker.stdout, 'data');
  const connection = await Connection.connect({ address });
  const client = new Client({ connection, namespace });
  const service = connection.workflowService;
  return {
    name: 'Temporal',
    settings: 'the same server, alone, on its file; a worker in TypeScript for the workflows; gRPC',
    graph: async (width, length) => () =>
      client.workflow.start('peerGraph', {
        taskQueue: workflows,
        workflowId: randomUUID(),
        args: [width, length, activities],
      }),
    async claim(identity, waitSeconds) {
      // A poll ends without a task when its deadline comes. The server refuses one of less than two seconds.
      const deadline = Date.now() + Math.max(waitSeconds, 3) * 1_000;
      const ask = { namespace, taskQueue: { name: activities }, identity };
      try {
        const task = await connection.withDeadline(deadline, () => service.pollActivityTaskQueue(ask));
        if (task.taskToken === undefined || task.taskToken === null || task.taskToken.length === 0)
          return undefined;
        return { id: Buffer.from(task.taskToken).toString('base64'), of: task.activityId ?? '' };
      } catch (error) {
        if ((error as { code?: number }).code === deadlineExceeded) return undefined;
        throw error;
      }
    },
    complete: (identity, { id }, output) =>
      service.respondActivityTaskCompleted({
        namespace,
        identity,
        taskToken: Buffer.from(id, 'base64'),
        result: output === null ? null : { payloads: [payloadOf(output)] },
      }),
    pids: () => [stack.temporal?.pid ?? 0, worker.pid ?? 0],
    async stop() {
      await connection.close();
      worker.kill('SIGTERM');
      await stack.stop();
      await removeData(dataDir);
    },
  };
}

const deadlineExceeded = 4;

const payloadOf = (output: string) => ({
  metadata: { encoding: Buffer.from('json/plain') },
  data: Buffer.from(JSON.stringify(output)),
});
