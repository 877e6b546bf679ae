/** One run with what it was given, what it wrote and who acted on it; and the task of one of its attempts. */
import { limits } from '../../domain/limits.ts';
import type { Database, Queryable } from '../connection/database.ts';
import { type InputBounds, wasIncremental } from '../runners/lease.ts';
import type { ClaimedTask } from '../runs/claims.ts';
import { runConfiguration } from '../runs/configuration-check.ts';
import { findNodeRun, type NodeRunRow } from '../runs/node-runs.ts';
import { stateAtClaim } from '../runs/state-history.ts';
import {
  countPendingInputs,
  type InputMode,
  listInputs,
  newestOutputAtClaim,
  type TaskInput,
} from '../runs/task-inputs.ts';

interface RunOutput {
  readonly outputId: number;
  readonly outputIdentifier: string;
  readonly contentType: string | null;
  readonly sizeBytes: number;
  readonly sha256: string | null;
  readonly metadata: Readonly<Record<string, unknown>> | null;
  readonly isPublished: boolean;
  readonly createdAt: Date;
}

interface RunAction {
  readonly at: Date;
  readonly attempt: number;
  readonly action: 'cancel' | 'retry';
  readonly userId: string;
}

export interface RunDetails {
  readonly run: NodeRunRow;
  /** Json-string. */
  readonly configuration: string;
  readonly configurationRevision: number;
  readonly inputs: readonly TaskInput[];
  readonly inputsRemoved: number;
  readonly outputs: readonly RunOutput[];
  readonly actions: readonly RunAction[];
}

/** Undefined when there is no such run. */
export async function findRunDetails(database: Database, runId: string): Promise<RunDetails | undefined> {
  const [run, first, [configured], outputs, actions] = await Promise.all([
    findNodeRun(database, runId),
    findTask(database, runId, 'first'),
    database.query<Pick<RunDetails, 'configuration' | 'configurationRevision'>>(
      `select ${runConfiguration('r')} as configuration,
              coalesce(r.configuration_revision, n.configuration_revision) as configuration_revision
         from node_run r join node_instance n on n.id = r.node_instance_id where r.id = $1`,
      [runId],
    ),
    database.query<RunOutput>(
      `select id as output_id, output_identifier, content_type, size_bytes, sha256, metadata,
              position is not null as is_published, created_at
         from node_output where run_id = $1 order by position, id limit ${limits.nodeRunFilesMax}`,
      [runId],
    ),
    database.query<RunAction>(
      `select at, attempt, action, user_id from node_run_action
        where run_id = $1 order by at limit ${limits.logFacts}`,
      [runId],
    ),
  ]);
  if (run === undefined) return undefined;
  const inputs = first === undefined ? [] : withoutRepeats(await givenInputs(database, first));
  const left = first === undefined ? 0 : await countPendingInputs(database, first);
  return { run, ...configured!, inputs, inputsRemoved: removedInputs(first, left), outputs, actions };
}

/** The task of a claim, as it was claimed, with the bounds of its inputs. */
interface PastTask extends ClaimedTask, InputBounds {
  /** Inputs above the watermark at the claim; null: not recorded. */
  readonly pendingAtClaim: number | null;
}

export interface Replay {
  readonly task: PastTask;
  readonly inputs: readonly TaskInput[];
  /** Output ids of the inputs that each mode lists. */
  readonly modes: Readonly<Record<InputMode, readonly number[]>>;
  /** More inputs than {@link limits.nodeRunFilesMax}. */
  readonly isCut: boolean;
  readonly inputsRemoved: number;
  readonly state: Record<string, unknown> | null;
  readonly previousOutput: TaskInput | undefined;
}

/**
 * What an attempt got: its task as its last claim answered it, and its inputs as that run sees them.
 * @param attempt default: the last that was claimed
 * @param maxInputsPerTask how many inputs since the watermark a task lists at most
 * @returns undefined when the run, or the attempt, was never claimed
 */
export async function findReplay(
  database: Database,
  runId: string,
  attempt: number | undefined,
  maxInputsPerTask: number,
): Promise<Replay | undefined> {
  const found = await findTask(database, runId, attempt ?? 'last');
  if (found === undefined) return undefined;
  const [listed, pendingInputs, state, previousOutput] = await Promise.all([
    replayedInputs(database, found, maxInputsPerTask),
    countPendingInputs(database, found),
    stateAtClaim(database, found.nodeInstanceId, found.claimedAt),
    newestOutputAtClaim(database, found),
  ]);
  const inputsRemoved = removedInputs(found, pendingInputs);
  return { task: { ...found, pendingInputs }, ...listed, inputsRemoved, state, previousOutput };
}

/** How many new inputs of a task the platform has no more: retention removes outputs, newer bytes replace versions. */
function removedInputs(task: PastTask | undefined, left: number): number {
  return Math.max(0, (task?.pendingAtClaim ?? left) - left);
}

/** Any input that the run could read, for its bytes: undefined when the run was never claimed. */
export async function boundsOfRun(database: Queryable, runId: string): Promise<InputBounds | undefined> {
  return findTask(database, runId, 'last');
}

/** The attempts that a run `r` had at its claim `c`: the first retry after it knows, else nothing has changed them. */
const attemptsAtClaim = `
  coalesce((select a.max_attempts_before from node_run_action a
             where a.run_id = r.id and a.action = 'retry' and a.attempt > c.attempt order by a.attempt limit 1),
           r.max_attempts)`;

const pastTask = (which: string) => `
  select c.task_id, r.id as run_id, c.attempt, ${attemptsAtClaim} as max_attempts, r.reason, s.project_id, s.id as session_id,
         s.name as session_name, n.id as node_instance_id, n.name as node_name, r.template_name as node_template,
         r.runner_type, ${runConfiguration('r')} as configuration,
         coalesce((select json_agg(json_build_object('nodeInstanceId', p.id, 'name', p.name) order by p.ordinal)
                     from node_instance p where p.id = any (n.parent_ids)), '[]') as parents,
         c.claimed_at, c.claimed_at + make_interval(secs => c.lease_seconds) as lease_expires_at, c.lease_seconds,
         ${wasIncremental('c')} as incremental, t.reprocess, t.timeout_seconds, c.watermark_output_id, c.watermark_position,
         c.watermark_position as claim_watermark_position, r.upper_position, r.input_ids, n.parent_ids, 0 as pending_inputs,
         c.pending_inputs as pending_at_claim,
         null as traceparent, null as waited_seconds, c.redelivered
    from node_claim c join node_run r on r.id = c.run_id join node_instance n on n.id = r.node_instance_id
    join node_template t on t.id = n.node_template_id join session s on s.id = r.session_id
   where c.run_id = $1 and r.upper_position is not null ${which} limit 1`;
const firstTask = pastTask('order by c.claimed_at');
const lastTask = pastTask('order by c.claimed_at desc');
const taskOfAttempt = pastTask('and c.attempt = $2 order by c.claimed_at desc');

async function findTask(
  database: Queryable,
  runId: string,
  which: 'first' | 'last' | number,
): Promise<PastTask | undefined> {
  const [task] =
    typeof which === 'number'
      ? await database.query<PastTask>(taskOfAttempt, [runId, which])
      : await database.query<PastTask>(which === 'first' ? firstTask : lastTask, [runId]);
  return task;
}

/** Reads one more than are shown, to know whether there are more. */
const listed = { afterPosition: 0, limit: limits.nodeRunFilesMax + 1, cap: limits.nodeRunFilesMax + 1 };

/** What a runner lists without asking for all. */
const givenInputs = async (database: Database, task: PastTask): Promise<readonly TaskInput[]> =>
  (
    await Promise.all([
      listInputs(database, task, { ...listed, mode: 'since-watermark' }),
      listInputs(database, task, { ...listed, mode: 'latest' }),
    ])
  ).flat();

/** Where not all fit, those that are new to the node and the latest come before the others. */
async function replayedInputs(
  database: Database,
  task: PastTask,
  maxInputsPerTask: number,
): Promise<Pick<Replay, 'inputs' | 'modes' | 'isCut'>> {
  const [since, latest, all] = await Promise.all([
    listInputs(database, task, { ...listed, mode: 'since-watermark', cap: maxInputsPerTask }),
    listInputs(database, task, { ...listed, mode: 'latest' }),
    listInputs(database, task, { ...listed, mode: 'all' }),
  ]);
  const inputs = withoutRepeats([...since, ...latest, ...all]);
  const shown = new Set(inputs.map(({ outputId }) => outputId));
  const idsOf = (some: readonly TaskInput[]) =>
    some.map(({ outputId }) => outputId).filter((id) => shown.has(id));
  const modes = {
    'since-watermark': idsOf(since),
    latest: idsOf(latest),
    all: inputs.map(({ outputId }) => outputId),
  };
  return { inputs, modes, isCut: all.length > limits.nodeRunFilesMax };
}

/** The first that fit, oldest first. */
function withoutRepeats(inputs: readonly TaskInput[]): readonly TaskInput[] {
  return [...new Map(inputs.map((input) => [input.outputId, input])).values()]
    .slice(0, limits.nodeRunFilesMax)
    .sort((a, b) => a.position - b.position);
}
