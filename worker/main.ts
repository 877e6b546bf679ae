/**
 * The worker process. `worker/main.ts` runs workflows, their short activities, the healer and the lease loop;
 * `worker/main.ts --queue builtin` runs built-in nodes, in a process of their own because of their memory.
 */
import { parseArgs } from 'node:util';
import { Runtime, Worker } from '@temporalio/worker';
import pino, { type Logger } from 'pino';
import { createIngestActivities } from '../activities/ingest.ts';
import { createSessionActivities } from '../activities/session-graph.ts';
import { createWindowActivities } from '../activities/window.ts';
import { redacted } from '../domain/redact.ts';
import { readSettings, SettingsError } from '../settings/read.ts';
import { ensureDefaultDataSource, ensurePlatformDataSource } from '../store/data-sources.ts';
import { Database } from '../store/database.ts';
import { ObjectStores, objectSettings } from '../store/objects.ts';
import { PendingObjects } from '../store/pending-objects.ts';
import { checkSchema } from '../store/schema-check.ts';
import { databaseSettings } from '../store/settings.ts';
import { ensureShipped } from '../store/shipped.ts';
import { temporalCalled } from '../telemetry/metrics.ts';
import { telemetrySettings } from '../telemetry/settings.ts';
import { startTelemetry } from '../telemetry/start.ts';
import { currentTraceIds, currentTraceparent } from '../telemetry/trace.ts';
import { WorkflowClient } from '../workflows/client.ts';
import { builtinQueueOf, searchAttributes } from '../workflows/contract.ts';
import { temporalSettings } from '../workflows/settings.ts';
import { workflowBundle } from './bundle.ts';
import { healOnce } from './healer.ts';
import { startLeaseLoop } from './lease-loop.ts';
import { type Loop, startLoop } from './loop.ts';
import { keepFresh } from './ready-file.ts';
import { startRetention } from './retention.ts';
import { startRunnerSweeper } from './runner-sweeper.ts';
import { workerSettings } from './settings.ts';
import { startSweeper } from './sweeper.ts';
import { temporalTelemetry } from './telemetry.ts';
import { connectTemporal, ensureNamespace } from './temporal.ts';
import { traceActivities } from './trace-activities.ts';

const settingsParts = {
  database: databaseSettings,
  objects: objectSettings,
  temporal: temporalSettings,
  worker: workerSettings,
  telemetry: telemetrySettings,
};
type Settings = ReturnType<typeof readSettings<typeof settingsParts>>;

export interface RunningWorker {
  /** Lets what is under way finish for a while, then ends. */
  stop(): Promise<void>;
  /** Rejects when the worker fails. */
  readonly ended: Promise<void>;
}

interface Process {
  readonly settings: Settings;
  readonly database: Database;
  readonly objects: ObjectStores;
  readonly pending: PendingObjects;
  readonly workflows: WorkflowClient;
  readonly log: Logger;
}

/** JSON lines; a net takes out what has the form of a token or an address, though workers are given neither. */
function workerLog(level: string, process: string): Logger {
  return pino({ level, base: { process }, mixin: currentTraceIds, hooks: { streamWrite: redacted } });
}

/** Starts one worker with what it needs; resolves when it polls. */
export async function startWorker(
  environment: Readonly<Record<string, string | undefined>>,
  queue: 'workflows' | 'builtin',
): Promise<RunningWorker> {
  const settings = readSettings(settingsParts, environment);
  const log = workerLog(settings.worker.LOG_LEVEL, `worker-${queue}`);
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
  const objects = new ObjectStores(settings.objects);
  const pending = new PendingObjects(database, objects);
  const parts = { settings, database, objects, pending, workflows, log };
  const stopping = new AbortController();
  const connection = await connectTemporal(settings.temporal, log, stopping.signal);
  const namespace = settings.temporal.TEMPORAL_NAMESPACE;
  if (!(await ensureNamespace(connection, namespace))) {
    log.warn({ namespace, searchAttributes }, 'Temporal lets us make neither; they must be there');
  }
  const worker = await createWorker(parts, connection, queue);
  const loops = queue === 'workflows' ? startLoops(parts, connection) : [];
  const ended = worker.run().finally(async () => {
    await Promise.all(loops.map((loop) => loop.stop()));
    await workflows.close();
    objects.close();
    await connection.close();
    await database.close();
  });
  return {
    ended,
    async stop() {
      stopping.abort();
      if (worker.getState() === 'RUNNING') worker.shutdown();
      await ended;
    },
  };
}

async function createWorker(
  { settings, database, objects, pending, workflows, log }: Process,
  connection: Awaited<ReturnType<typeof connectTemporal>>,
  queue: 'workflows' | 'builtin',
): Promise<Worker> {
  const namespace = settings.temporal.TEMPORAL_NAMESPACE;
  const taskQueue = settings.temporal.TEMPORAL_TASK_QUEUE;
  if (queue === 'builtin') {
    // Only this process loads what built-in nodes need: the database engine for tables is large.
    const { createBuiltinActivities, tabularConfigurationSchema } = await import(
      '../activities/run-builtin.ts'
    );
    await ensureShipped(database, { tabularConfigurationSchema });
    await ensurePlatformDataSource(database, objects.platformAccess);
    // A registered data source has keys of its own, which the platform's own store may do without.
    if (settings.worker.REGISTER_DEFAULT_DATA_SOURCE && !objects.platformAccess.usesOwnIdentity) {
      await ensureDefaultDataSource(database, objects.secrets, objects.platformAccess);
    }
    return Worker.create({
      connection,
      namespace,
      taskQueue: builtinQueueOf(taskQueue),
      activities: createBuiltinActivities({ database, objects, pending, log }),
      interceptors: { activity: [traceActivities] },
      maxConcurrentActivityTaskExecutions: 2,
      shutdownGraceTime: '20s',
    });
  }
  return Worker.create({
    connection,
    namespace,
    taskQueue,
    workflowBundle: await workflowBundle(settings.worker.WORKFLOW_CACHE_DIR),
    activities: {
      ...createSessionActivities({ database }),
      ...createWindowActivities({ database }),
      ...createIngestActivities({
        database,
        objects,
        pending,
        log,
        afterCommit: (effects) => workflows.afterCommit(effects),
      }),
    },
    interceptors: { activity: [traceActivities] },
    maxConcurrentLocalActivityExecutions: 10,
    maxConcurrentActivityTaskExecutions: 50,
    maxCachedWorkflows: 500,
    // How long workflows that a killed worker had in its memory wait for it before another takes them.
    stickyQueueScheduleToStartTimeout: '5s',
    shutdownGraceTime: '10s',
  });
}

function startLoops(
  { settings, database, objects, workflows, log }: Process,
  connection: Awaited<ReturnType<typeof connectTemporal>>,
): Loop[] {
  return [
    startLeaseLoop(database, workflows, log),
    startSweeper(database, objects, log, settings.worker.DELETED_OBJECTS_KEPT_HOURS),
    startRunnerSweeper(database, log),
    startRetention(database, objects, log, {
      everyHours: settings.worker.RETENTION_EVERY_HOURS,
      removesOrphans: settings.worker.RETENTION_REMOVES_ORPHANS,
    }),
    startLoop('healer', 2_000, log, () => healOnce(database, workflows, log)),
    startLoop('namespace', 60_000, log, async () => {
      await ensureNamespace(connection, settings.temporal.TEMPORAL_NAMESPACE);
    }),
  ];
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { queue: { type: 'string', default: 'workflows' } } });
  try {
    const queue = values.queue === 'builtin' ? 'builtin' : 'workflows';
    const { telemetry: asked, worker } = readSettings(settingsParts, process.env);
    const name = queue === 'builtin' ? 'worker-builtin' : 'worker';
    const telemetry = await startTelemetry(name, asked, workerLog(worker.LOG_LEVEL, `worker-${queue}`));
    const temporal = await temporalTelemetry(asked);
    Runtime.install({ logger: quietRuntimeLogger(), shutdownSignals: [], ...temporal });
    const running = await startWorker(process.env, queue);
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => void running.stop());
    if (process.env.READY_FILE) keepFresh(process.env.READY_FILE);
    await running.ended;
    await telemetry.stop();
  } catch (error) {
    const lines = error instanceof SettingsError ? error.lines : [String(error)];
    for (const line of lines) process.stderr.write(`${line}\n`);
    process.exitCode = 1;
  }
}

/** Temporal's own log lines as ours: JSON, warnings and errors only. */
function quietRuntimeLogger() {
  const log = workerLog('warn', 'worker');
  const line = (level: 'warn' | 'error') => (message: string, meta?: object) =>
    log[level](meta ?? {}, message);
  const nothing = () => {};
  return {
    log: nothing,
    trace: nothing,
    debug: nothing,
    info: nothing,
    warn: line('warn'),
    error: line('error'),
  };
}
