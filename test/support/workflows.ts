/** Temporal as tests see it: the platform's own worker and client, and a raw client to act as an operator. */
import { Client, Connection } from '@temporalio/client';
import { DefaultLogger, Runtime } from '@temporalio/worker';
import { pino } from 'pino';
import { afterAll } from 'vitest';
import { type RunningWorker, startWorker, type WorkerQueue } from '../../worker/main.ts';
import { WorkflowClient } from '../../workflows/client.ts';
import { sessionWorkflowId } from '../../workflows/contract.ts';

export interface TestWorkflows {
  readonly workflows: WorkflowClient;
  /** Actions of an operator in the UI. */
  readonly operator: Client;
  startWorker(queue: WorkerQueue): Promise<RunningWorker>;
  /** Called by itself after the file's last test. */
  stop(): Promise<void>;
  /** Status name of the session's workflow, e.g. `RUNNING`. */
  statusOf(sessionId: string): Promise<string>;
}

let isRuntimeQuiet = false;

/** Keeps Temporal's own lines, also those of its native core, out of the tests' output, but for errors. Once a process. */
export function quietRuntime(): void {
  if (isRuntimeQuiet) return;
  isRuntimeQuiet = true;
  Runtime.install({
    logger: new DefaultLogger('ERROR'),
    telemetryOptions: { logging: { filter: { core: 'ERROR', other: 'ERROR' }, forward: {} } },
    shutdownSignals: [],
  });
}

/** Everything is stopped after the file's last test; what a test makes for itself, it stops itself. */
export async function testWorkflows(environment: Record<string, string>): Promise<TestWorkflows> {
  quietRuntime();
  const connection = await Connection.connect({ address: environment.TEMPORAL_ADDRESS! });
  const operator = new Client({ connection, namespace: 'default' });
  const workflows = new WorkflowClient(
    {
      TEMPORAL_ADDRESS: environment.TEMPORAL_ADDRESS!,
      TEMPORAL_NAMESPACE: 'default',
      TEMPORAL_TASK_QUEUE: environment.TEMPORAL_TASK_QUEUE!,
    },
    pino({ level: 'silent' }),
  );
  const workers: RunningWorker[] = [];
  async function stop() {
    await Promise.all(workers.map((worker) => worker.stop()));
    await workflows.close();
    await connection.close();
  }
  afterAll(stop);
  return {
    stop,
    workflows,
    operator,
    async startWorker(queue) {
      const worker = await startWorker({ LOG_LEVEL: 'silent', ...environment }, queue);
      workers.push(worker);
      return worker;
    },
    async statusOf(sessionId) {
      return (await operator.workflow.getHandle(sessionWorkflowId(sessionId)).describe()).status.name;
    },
  };
}
