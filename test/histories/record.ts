/**
 * Records histories of real workflows of sessions and windows, which `test/workflows/replay.test.ts` replays against the present code.
 *
 * `node_modules/.bin/node test/histories/record.ts [name ...]` writes those named, or all, in this folder. It starts
 * its own servers. To be run for a new kind of history, or when a change of a workflow is meant to break with the
 * old ones: then operators must end running session workflows at the update, which loses nothing.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { Client, Connection } from '@temporalio/client';
import proto from '@temporalio/proto';
import { DefaultLogger, Runtime } from '@temporalio/worker';
import { pino } from 'pino';
import { removeData, startStack } from '../../local/stack.ts';
import { Database } from '../../store/connection/database.ts';
import { objectSettings } from '../../store/objects/object-store.ts';
import { ObjectStores } from '../../store/objects/object-stores.ts';
import { startWorker } from '../../worker/main.ts';
import { WorkflowClient } from '../../workflows/client.ts';
import { sessionWorkflowId } from '../../workflows/contract.ts';
import { eventually } from '../support/eventually.ts';
import { temporaryDataFolder } from '../support/global-setup.ts';
import { cloneTemplate } from '../support/template.ts';
import { ship } from '../support/templates.ts';
import { scenarios } from './scenarios.ts';
import { type Scenario, type Stage, taskQueue } from './stage.ts';
import { withoutMachine } from './without-machine.ts';

/** Larger ones are packed. */
const plainCharacters = 200_000;

/** The history of the first execution. */
async function record(stage: Stage, name: string, scenario: Scenario): Promise<void> {
  const { sessionId, workflowId = sessionWorkflowId(sessionId) } = await scenario(stage);
  const { workflow } = stage.operator;
  await eventually(
    'the workflow ends',
    async () => (await workflow.getHandle(workflowId).describe()).status.name === 'COMPLETED',
  );
  const executions: { runId: string; startTime: Date }[] = [];
  for await (const one of stage.operator.workflow.list({ query: `WorkflowId = "${workflowId}"` }))
    executions.push(one);
  executions.sort((left, right) => left.startTime.getTime() - right.startTime.getTime());
  const first = stage.operator.workflow.getHandle(workflowId, executions[0]!.runId);
  const history = await first.fetchHistory();
  // The SDK's own form in JSON needs one copy of its protobuf library; an installation may well have two.
  const plain = proto.temporal.api.history.v1.History.toObject(
    history as proto.temporal.api.history.v1.History,
    {
      longs: String,
      enums: String,
      bytes: String,
    },
  );
  const text = `${JSON.stringify(withoutMachine(plain), null, 1)}\n`;
  const isLarge = text.length > plainCharacters;
  const file = `${name}.json${isLarge ? '.gz' : ''}`;
  writeFileSync(join(import.meta.dirname, file), isLarge ? gzipSync(text, { level: 9 }) : text);
  console.log(`${file}: ${history.events?.length} events`);
}

async function main(names: readonly string[]): Promise<void> {
  Runtime.install({ logger: new DefaultLogger('ERROR') });
  const dataDir = temporaryDataFolder();
  const stack = await startStack({ dataDir, log: console.error, temporary: true });
  try {
    const environment = {
      ...stack.environment,
      DATABASE_URL: await cloneTemplate(stack.environment),
      TEMPORAL_TASK_QUEUE: taskQueue,
      LOG_LEVEL: 'warn',
    };
    const database = await Database.open({ databaseUrl: environment.DATABASE_URL, poolSize: 8 });
    await ship(database);
    const objects = new ObjectStores(objectSettings.parse(environment));
    const { TEMPORAL_ADDRESS = '' } = stack.environment;
    const workflows = new WorkflowClient(
      { TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE: 'default', TEMPORAL_TASK_QUEUE: taskQueue },
      pino({ level: 'warn' }),
    );
    database.onSessionChanged = workflows.sessionChanged;
    const connection = await Connection.connect({ address: TEMPORAL_ADDRESS });
    const worker = await startWorker(environment, 'all');
    const stage = { database, objects, workflows, operator: new Client({ connection }) };
    for (const [name, scenario] of Object.entries(scenarios))
      if (names.length === 0 || names.includes(name)) await record(stage, name, scenario);
    await worker.stop();
    await workflows.close();
    await connection.close();
    objects.close();
    await database.close();
  } finally {
    await stack.stop();
    await removeData(dataDir);
  }
}

await main(process.argv.slice(2));
