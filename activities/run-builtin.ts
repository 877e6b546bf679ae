/**
 * Runs built-in nodes: claims the run through the same claim as an outside runner (lease, fence), so that a second
 * execution after a stall or a wipe of Temporal finds it held or ended and never writes twice.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { ApplicationFailure, Context } from '@temporalio/activity';
import { limits } from '../domain/limits.ts';
import { isDatabaseAway } from '../domain/network/database-fault.ts';
import { leaseTimes } from '../domain/runs/lease-times.ts';
import { startOf } from '../domain/text.ts';
import { builtinHolder, type TaskHolder } from '../store/runners/holder.ts';
import { isClaimOpen } from '../store/runners/lease.ts';
import { type ClaimedTask, claimRun } from '../store/runs/claims.ts';
import { type EndRefusal, type EndResult, endTask, type TaskEnd } from '../store/runs/end-task.ts';
import { attemptOutcome } from '../store/runs/reconcile-session.ts';
import { countReleases } from '../store/runs/task-inputs.ts';
import { isRunFrozen } from '../store/sessions/freeze-session.ts';
import { traced } from '../telemetry/trace.ts';
import { activityNames } from '../workflows/contract.ts';
import { DataSourceFault, DataSources } from './builtin/data-sources.ts';
import { NoRoomError, type RoomSettings, workFolderPrefix } from './builtin/disk-room.ts';
import { type BuiltinTools, ClaimLostError, InvalidInputError } from './builtin/node.ts';
import { builtinNodes } from './builtin/nodes.ts';
import { letOthersFirst } from './builtin-order.ts';
import { keepAlive, mustRelease } from './keep-alive.ts';
import { RunLog } from './run-log.ts';
import type { ActivityServices } from './services.ts';

export { builtinNodes, shippedTemplate } from './builtin/nodes.ts';

export interface BuiltinActivities {
  /** Executes one attempt of a built-in node and ends it in the database; returns its outcome. */
  [activityNames.runBuiltin](sessionId: string, runId: string, attempt: number): Promise<{ outcome: string }>;
}

const { builtinSeconds: leaseSeconds } = leaseTimes;
const endAgainMs = 500;

/** How much of the worker's disk runs may use. */
export interface BuiltinDisk {
  readonly room: RoomSettings;
  /** How many times its own size a packed file may unpack to. */
  readonly unpackRatio: number;
}

/** Shared by all runs of the process. */
type Tools = BuiltinTools & { readonly stopping: AbortSignal };

/** @param stopping aborts when the process must end */
export function createBuiltinActivities(
  services: ActivityServices,
  stopping: AbortSignal,
  disk: BuiltinDisk,
): BuiltinActivities {
  const slots = new Slots();
  const tools = {
    sources: new DataSources(services.objects),
    fileSeconds: limits.builtinFileSeconds,
    turnSeconds: limits.builtinTurnSeconds,
    stopping,
    ...disk,
  };
  return {
    async [activityNames.runBuiltin](_sessionId, runId, attempt) {
      const identity = { holder: builtinHolder, instanceId: slots.acquire() };
      try {
        await letOthersFirst(services.database, runId);
        const task = await claimRun(services.database, identity, { runId, attempt, leaseSeconds });
        if (!task) return await outcomeElsewhere(services, runId, attempt);
        const caller = { ...identity, taskId: task.taskId };
        const ended = await runClaimed(services, tools, caller, task);
        return ended ?? (await outcomeElsewhere(services, runId, attempt));
      } finally {
        slots.release(identity.instanceId);
      }
    },
  };
}

/** Works on a task and ends it; undefined when its end was decided elsewhere. */
async function runClaimed(
  services: ActivityServices,
  tools: Tools,
  caller: TaskHolder,
  task: ClaimedTask,
): Promise<{ outcome: string } | undefined> {
  const { taskId, sessionId, nodeInstanceId, runId, attempt } = task;
  const ids = { taskId, sessionId, nodeInstanceId, runId, attempt };
  const attributes = Object.fromEntries(Object.entries(ids).map(([name, value]) => [`sdp.${name}`, value]));
  const options = { kind: 'consumer', parent: task.traceparent, attributes } as const;
  return await traced(`run ${task.nodeTemplate}`, options, async () => {
    const startedAtMs = performance.now();
    const end = await execute(task, caller, services, tools);
    const ended = await endHeld(services, tools, caller, end);
    const outcome = ended.kind === 'refused' ? ended.why : String(ended.reply.outcome ?? end.kind);
    const ms = Math.round(performance.now() - startedAtMs);
    services.log.info({ ...ids, nodeTemplate: task.nodeTemplate, outcome, ms }, 'built-in run');
    if (ended.kind !== 'refused') return { outcome };
    if (ended.why !== 'task-not-found') await endHeld(services, tools, caller, failAfterRefusal(ended.why));
    return undefined;
  });
}

/** Ends the task, with retries while the database is unavailable: the lease is prolonged when it is back. */
async function endHeld(
  { database }: ActivityServices,
  { stopping }: Tools,
  caller: TaskHolder,
  end: TaskEnd,
): Promise<EndResult> {
  const context = Context.current();
  for (;;) {
    try {
      const ended = await endTask(database, caller, end, {
        digest: 'builtin',
        jitter: Math.random(),
      });
      const isLapsed = ended.kind === 'refused' && ended.why === 'task-not-found';
      if (!isLapsed || !(await isClaimOpen(database, caller.taskId))) return ended;
    } catch (error) {
      if (!isDatabaseAway(error) || mustRelease(context, stopping)) throw error;
    }
    await delay(endAgainMs);
  }
}

/** The task is still held: left alone, it would only end with its lease, and be tried again in vain. */
function failAfterRefusal(why: EndRefusal): TaskEnd {
  const reason =
    why === 'output-missing'
      ? 'The node finished without writing an output.'
      : `The outcome of the run was refused: ${why}.`;
  return { kind: 'fail', category: 'validation', reason };
}

/**
 * The attempt was ended elsewhere, or another execution holds it: then this one waits for that end. In a frozen session
 * it ends here: the reconcile after the unfreeze starts another.
 */
async function outcomeElsewhere(services: ActivityServices, runId: string, attempt: number) {
  const outcome = await attemptOutcome(services.database, runId, attempt);
  if (outcome === undefined && (await isRunFrozen(services.database, runId))) return { outcome: 'frozen' };
  if (outcome === undefined) throw ApplicationFailure.retryable('The run is held by another execution.');
  return { outcome };
}

async function execute(
  task: ClaimedTask,
  caller: TaskHolder,
  services: ActivityServices,
  tools: Tools,
): Promise<TaskEnd> {
  const node = builtinNodes.find(({ name }) => name === task.nodeTemplate);
  if (!node) {
    return {
      kind: 'fail',
      category: 'validation',
      reason: `This version has no built-in node ${task.nodeTemplate}.`,
    };
  }
  const workDir = await makeWorkDir(services);
  if (workDir === undefined)
    return await endAfterRelease('The worker can make no temporary files.', task.runId, services);
  const keeper = keepAlive(task, caller, services, tools.stopping);
  const runLog = new RunLog(services.database, caller);
  const run = {
    ...tools,
    task,
    caller,
    workDir,
    signal: keeper.signal,
    log: runLog.add.bind(runLog),
    report(phase: string, message: string) {
      keeper.report(phase, message);
      runLog.add('info', `${phase}: ${message}`);
    },
  };
  try {
    const configuration = parseConfiguration(task.configuration);
    return await node.run({ ...run, configuration }, services);
  } catch (error) {
    if (!(error instanceof ClaimLostError)) runLog.add('error', shownError(error));
    if (error instanceof DataSourceFault) return await endAfterSource(error, task.runId, services);
    if (error instanceof NoRoomError) return await endAfterRelease(error.message, task.runId, services);
    return endAfter(error, keeper.signal);
  } finally {
    keeper.stop();
    await runLog.close();
    // What stays is removed later; it must not take the place of the end.
    await rm(workDir, { recursive: true, force: true }).catch((error: unknown) =>
      services.log.warn({ runId: task.runId, err: error }, 'temporary files of a run stay for an hour'),
    );
  }
}

/** Undefined where none can be made, which is not the run's fault: a folder that is gone, a full disk. */
async function makeWorkDir({ log }: ActivityServices): Promise<string | undefined> {
  try {
    return await mkdtemp(join(process.env.TEMP_DIR ?? tmpdir(), workFolderPrefix));
  } catch (error) {
    log.error({ err: error }, 'no temporary folder can be made: check TEMP_DIR and its disk');
    return undefined;
  }
}

/** What a person mends needs no stack. */
function shownError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error instanceof InvalidInputError ? error.message : (error.stack ?? error.message);
}

function parseConfiguration(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      return value as Record<string, unknown>;
  } catch {
    // Reported below: the node's stored configuration is no JSON.
  }
  throw new InvalidInputError('The node configuration is not a JSON object.');
}

/** What a thrown error means for the attempt. A lost or stopped one is released, if the fence finds it ours. */
function endAfter(error: unknown, signal: AbortSignal): TaskEnd {
  if (error instanceof InvalidInputError)
    return { kind: 'fail', category: 'validation', reason: error.message };
  if (error instanceof ClaimLostError || signal.aborted) return { kind: 'release' };
  // A service that the run needs was unavailable: that is not the run's fault and uses up no attempt.
  if (isDatabaseAway(error)) return { kind: 'release', reason: 'The database is unavailable.' };
  const reason = error instanceof Error ? error.message : String(error);
  const category = /out of memory/i.test(reason) ? 'memory' : 'error';
  return { kind: 'fail', category, reason: startOf(reason, 2_000) };
}

/**
 * An unavailable data source is waited for, which uses up no attempt; one that stays unavailable fails the run like any
 * fault, so that operators notice. Without the platform's own store nothing works, and all runs wait until it is back.
 */
async function endAfterSource(
  fault: DataSourceFault,
  runId: string,
  services: ActivityServices,
): Promise<TaskEnd> {
  const { category, message: reason } = fault;
  if (fault.kind === 'refused') return { kind: 'fail', category, reason };
  if (fault.isPlatforms) return { kind: 'release', reason };
  return await endAfterRelease(reason, runId, services, category);
}

/** Released, to be tried later, which uses up no attempt; after a number of releases it fails. */
async function endAfterRelease(
  reason: string,
  runId: string,
  { database }: ActivityServices,
  category: 'error' | 'timeout' = 'error',
): Promise<TaskEnd> {
  const releases = await countReleases(database, runId).catch(() => 0);
  return releases < limits.builtinSourceReturns
    ? { kind: 'release', reason }
    : { kind: 'fail', category, reason };
}

/** Instance names for the activities of this process: one for each that runs at once. */
class Slots {
  readonly #free: string[] = [];
  #made = 0;

  acquire(): string {
    const free = this.#free.pop();
    if (free) return free;
    this.#made += 1;
    return `${hostname()}.${process.pid}.${this.#made}`;
  }

  release(slot: string): void {
    this.#free.push(slot);
  }
}
