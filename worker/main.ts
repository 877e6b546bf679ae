/**
 * The worker process. `worker/main.ts` runs workflows, their short activities, the healer and the lease loop;
 * `worker/main.ts --queue builtin` runs built-in nodes and is scaled by them; `--queue all` does both on one machine, in
 * the memory of one process. Each conversion of a recording has a process of its own in any case.
 */
import { flushCompileCache } from 'node:module';
import { Runtime, Worker } from '@temporalio/worker';
import { createIngestActivities } from '../activities/ingest.ts';
import { createReportActivities } from '../activities/scheduled-reports.ts';
import type { ActivityServices } from '../activities/services.ts';
import { createSessionActivities } from '../activities/session-graph.ts';
import { createWindowActivities } from '../activities/window.ts';
import { readCall } from '../settings/program-call.ts';
import { readSettings, SettingsError } from '../settings/read.ts';
import { planAgainAfterClockStep } from '../store/administration/clock-steps.ts';
import { Database } from '../store/connection/database.ts';
import { checkSchema } from '../store/connection/schema-check.ts';
import { databaseSettings } from '../store/connection/settings.ts';
import { ensureDefaultDataSource, ensurePlatformDataSource } from '../store/objects/data-sources.ts';
import { PendingObjects } from '../store/objects/held-objects.ts';
import { objectSettings } from '../store/objects/object-store.ts';
import { ObjectStores } from '../store/objects/object-stores.ts';
import { openStaging, stagingSettings } from '../store/objects/staging-settings.ts';
import { seedBuiltins } from '../store/registry/builtins.ts';
import { orderChangedProjects } from '../store/runs/claim-order.ts';
import { createLog } from '../telemetry/log.ts';
import { temporalCalled } from '../telemetry/metrics.ts';
import { telemetrySettings } from '../telemetry/settings.ts';
import { startTelemetry } from '../telemetry/start.ts';
import { currentTraceparent } from '../telemetry/trace.ts';
import { endOnUnexpected } from '../telemetry/unexpected.ts';
import { WorkflowClient } from '../workflows/client.ts';
import { builtinQueueOf } from '../workflows/contract.ts';
import { temporalSettings } from '../workflows/settings.ts';
import { workflowBundle } from './bundle.ts';
import { healOnce } from './healer.ts';
import { startLeaseLoop } from './lease-loop.ts';
import { type Loop, startLoop } from './loop.ts';
import { touchRegularly } from './ready-file.ts';
import { startRetention } from './retention.ts';
import { runToEnd } from './run-to-end.ts';
import { runtimeLog } from './runtime-log.ts';
import { type WorkerSettings, workerSettings } from './settings.ts';
import { startRunnerSweeper, startSweeper } from './sweeper.ts';
import { temporalTelemetry } from './telemetry.ts';
import { connectTemporal, ensureNamespace } from './temporal.ts';
import { traceActivities } from './trace-activities.ts';
import { startUploadFinisher } from './upload-finisher.ts';
import { createWebhookWorker, startWebhookLoops } from './webhooks.ts';

const settingsParts = {
  database: databaseSettings,
  objects: objectSettings,
  staging: stagingSettings,
  temporal: temporalSettings,
  worker: workerSettings,
  telemetry: telemetrySettings,
};
type Settings = ReturnType<typeof readSettings<typeof settingsParts>>;

/** What a process may work on: the workers that it creates, and what it is in metrics; traces bear the first name. */
const queues = {
  workflows: { create: [workflowWorkers], names: ['worker'] },
  builtin: { create: [builtinWorkers], names: ['worker-builtin'] },
  all: { create: [workflowWorkers, builtinWorkers], names: ['worker', 'worker-builtin'] },
} as const;

export type WorkerQueue = keyof typeof queues;

export interface RunningWorker {
  /** Lets work under way finish for a while, then ends. */
  stop(): Promise<void>;
  /** Rejects when the worker fails. */
  readonly ended: Promise<void>;
}

interface Process extends ActivityServices {
  readonly settings: Settings;
  readonly workflows: WorkflowClient;
  /** Aborted when the worker gets a signal to stop. */
  readonly stopping: AbortController;
}

/** @throws SettingsError; when the database's schema is another */
async function openProcess(
  environment: Readonly<Record<string, string | undefined>>,
  queue: WorkerQueue,
): Promise<Process> {
  const settings = readSettings(settingsParts, environment);
  const log = createLog({ process: `worker-${queue}` }, settings.worker.LOG_LEVEL);
  const database = await Database.open({ databaseUrl: settings.database.DATABASE_URL, poolSize: 12 });
  try {
    await checkSchema(database);
  } catch (error) {
    await database.close();
    throw error;
  }
  const workflows = new WorkflowClient(settings.temporal, log, {
    called: temporalCalled,
    traceparent: currentTraceparent,
  });
  database.onSessionChanged = workflows.sessionChanged;
  const objects = new ObjectStores(settings.objects, openStaging(settings.staging));
  const pending = new PendingObjects(database, objects);
  return { settings, database, objects, pending, workflows, log, stopping: new AbortController() };
}

/** Starts one worker with what it needs; resolves when it polls. */
export async function startWorker(
  environment: Readonly<Record<string, string | undefined>>,
  queue: WorkerQueue,
): Promise<RunningWorker> {
  const parts = await openProcess(environment, queue);
  const { settings, database, objects, workflows, log, stopping } = parts;
  // What needs no Temporal comes first: with `npm start` it still starts.
  const createWorkers = await Promise.all(queues[queue].create.map((prepare) => prepare(parts)));
  const connection = await connectTemporal(settings.temporal, log, stopping.signal);
  const taskWorkers = (await Promise.all(createWorkers.map((create) => create(connection)))).flat();
  const loops = queue === 'builtin' ? [] : startLoops(parts, connection);
  // One that fails ends the others, and with them the process.
  const shutdown = () => {
    for (const worker of taskWorkers) if (worker.getState() === 'RUNNING') worker.shutdown();
  };
  const running = taskWorkers.map((worker) => runToEnd(worker).finally(shutdown));
  log.info({ queue }, 'the worker is ready');
  const ended = Promise.allSettled(running).then(async (ends) => {
    await Promise.all(loops.map((loop) => loop.stop()));
    await workflows.close();
    objects.close();
    // A worker that failed keeps its hold on the connection, which then refuses to close.
    if (ends.every(({ status }) => status === 'fulfilled')) await connection.close();
    await database.close();
    await Promise.all(running);
  });
  return {
    ended,
    async stop() {
      log.info('stopping');
      stopping.abort();
      shutdown();
      await ended;
    },
  };
}

type Connection = Awaited<ReturnType<typeof connectTemporal>>;

/**
 * A cached workflow takes half a mebibyte. Any other is made and replayed for each of its tasks, at four times the
 * processor time; and the memory of those that come and go is more than that of as many that stay.
 */
const maxCachedWorkflows = 1_200;

type CreateWorkers = (connection: Connection) => Promise<Worker[]>;

async function workflowWorkers(parts: Process): Promise<CreateWorkers> {
  const { settings, database } = parts;
  const bundle = await workflowBundle(settings.worker.WORKFLOW_CACHE_DIR);
  return async (connection) => [
    await Worker.create({
      connection,
      namespace: settings.temporal.TEMPORAL_NAMESPACE,
      taskQueue: settings.temporal.TEMPORAL_TASK_QUEUE,
      workflowBundle: bundle,
      activities: {
        ...createSessionActivities({ database }),
        ...createWindowActivities({ database }),
        ...createIngestActivities(parts),
      },
      interceptors: { activity: [traceActivities] },
      maxConcurrentLocalActivityExecutions: 10,
      maxConcurrentActivityTaskExecutions: 50,
      maxCachedWorkflows,
      // How long workflows cached by a killed worker wait for it before another worker gets them.
      stickyQueueScheduleToStartTimeout: '5s',
      shutdownGraceTime: '10s',
    }),
    await webhookWorkerOf(parts, connection),
  ];
}

async function builtinWorkers(parts: Process): Promise<CreateWorkers> {
  const { settings, database, objects, stopping } = parts;
  // Only this process loads what built-in nodes need: the database engine for tables is large.
  const { builtinNodes, createBuiltinActivities, shippedTemplate } = await import(
    '../activities/run-builtin.ts'
  );
  await seedBuiltins(database, { nodes: builtinNodes, template: shippedTemplate });
  await ensurePlatformDataSource(database, objects.platformAccess);
  // A registered data source has keys of its own, which the platform's own store may do without.
  if (settings.worker.REGISTER_DEFAULT_DATA_SOURCE && !objects.platformAccess.usesOwnIdentity) {
    await ensureDefaultDataSource(database, objects.secrets, objects.platformAccess);
  }
  return async (connection) => [
    await Worker.create({
      connection,
      namespace: settings.temporal.TEMPORAL_NAMESPACE,
      taskQueue: builtinQueueOf(settings.temporal.TEMPORAL_TASK_QUEUE),
      activities: {
        ...createBuiltinActivities(parts, stopping.signal, diskOf(settings.worker)),
        ...createReportActivities(parts),
      },
      interceptors: { activity: [traceActivities] },
      maxConcurrentActivityTaskExecutions: 2,
      shutdownGraceTime: '20s',
    }),
  ];
}

function webhookWorkerOf(parts: Process, connection: Connection) {
  const { temporal, worker } = parts.settings;
  const [namespace, taskQueue] = [temporal.TEMPORAL_NAMESPACE, temporal.TEMPORAL_TASK_QUEUE];
  const settings = { namespace, taskQueue, allowlist: worker.WEBHOOK_ALLOWLIST };
  return createWebhookWorker(parts, parts.objects.secrets, settings, connection);
}

function diskOf({ BUILTIN_TEMP_MB, BUILTIN_TEMP_RESERVE_MB, BUILTIN_UNPACK_RATIO }: WorkerSettings) {
  const [budgetBytes, reserveBytes] = [BUILTIN_TEMP_MB * 1024 ** 2, BUILTIN_TEMP_RESERVE_MB * 1024 ** 2];
  return { room: { budgetBytes, reserveBytes }, unpackRatio: BUILTIN_UNPACK_RATIO };
}

function startLoops(parts: Process, connection: Connection): Loop[] {
  const { settings, database, objects, workflows, log } = parts;
  return [
    ...startWebhookLoops(parts),
    ...startUploadFinisher(parts),
    startLeaseLoop(database, log),
    startSweeper(database, objects, log, {
      objectHours: settings.worker.DELETED_OBJECTS_KEPT_HOURS,
      logDays: settings.worker.RUN_LOG_DAYS,
    }),
    startRunnerSweeper(database, log),
    startRetention(database, objects, log, {
      everyHours: settings.worker.RETENTION_EVERY_HOURS,
      removesOrphans: settings.worker.RETENTION_REMOVES_ORPHANS,
    }),
    startLoop('healer', 2_000, log, () => healOnce(database, workflows, log)),
    startLoop('clock', 60_000, log, async () => {
      const rows = await planAgainAfterClockStep(database);
      if (rows > 0)
        log.warn({ rows }, 'the clock of the database was put back; what waited for it is planned again');
    }),
    startLoop('claim order', 2_000, log, () => orderChangedProjects(database)),
    startLoop('namespace', 60_000, log, async () => {
      await ensureNamespace(connection, settings.temporal.TEMPORAL_NAMESPACE);
    }),
  ];
}

const usage = `Usage: node worker/main.ts [--queue ${Object.keys(queues).join('|')}]
Runs workflows (default), built-in nodes, or both. Its settings are variables: docs/reference/configuration.md.`;

if (import.meta.main) {
  const values = readCall(usage, { queue: { type: 'string', default: 'workflows' } });
  try {
    const queue = queueNamed(values.queue);
    const { telemetry: asked, worker } = readSettings(settingsParts, process.env);
    const log = createLog({ process: `worker-${queue}` }, worker.LOG_LEVEL);
    let running: RunningWorker | undefined;
    endOnUnexpected(log, async () => await running?.stop());
    const telemetry = await startTelemetry(queues[queue].names, asked, log);
    const telemetryOptions = await temporalTelemetry(asked);
    const logger = runtimeLog(createLog({ process: 'worker' }, 'warn'));
    Runtime.install({ logger, shutdownSignals: [], telemetryOptions });
    running = await startWorker(process.env, queue);
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => void running?.stop());
    if (process.env.READY_FILE) touchRegularly(process.env.READY_FILE);
    flushCompileCache();
    await running.ended;
    await telemetry.stop();
  } catch (error) {
    const lines = error instanceof SettingsError ? error.lines : [String(error)];
    for (const line of lines) process.stderr.write(`${line}\n`);
    // What it has opened by then, such as connections, would keep it alive for a minute and more.
    process.exit(1);
  }
}

/** @throws SettingsError */
function queueNamed(name: string): WorkerQueue {
  if (Object.hasOwn(queues, name)) return name as WorkerQueue;
  throw new SettingsError([`--queue: unknown queue "${name}"; use ${Object.keys(queues).join(', ')}.`]);
}
