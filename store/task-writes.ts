/** What the holder of a task writes: outputs and the watermark. Each write repeats the fence in its own transaction. */
import { judgeWatermark } from '../domain/watermark.ts';
import type { RunnerIdentity } from './claims.ts';
import type { Database, Queryable, Tx } from './database.ts';
import { failpoint } from './failpoint.ts';
import { findOutputByIdentifier, insertOutput, type NodeOutputRow, outputColumns } from './outputs.ts';
import { takePendingObject } from './pending-objects.ts';
import { planSession } from './plan-session.ts';
import type { UploadedObject } from './publish.ts';
import { type Effects, type LockedSession, lockSession, nextPosition, saveSession } from './session-lock.ts';
import { countPendingInputs, findInput, type HeldTask, touchTask } from './task-reads.ts';

export type WriteRefusal =
  | 'task-not-found'
  | 'upload-not-found'
  | 'watermark-regression'
  | 'watermark-unknown-input';

/** Thrown inside the transaction: a refused write leaves nothing behind. */
export class Refusal extends Error {
  readonly why: WriteRefusal;
  constructor(why: WriteRefusal) {
    super(why);
    this.why = why;
  }
}

/** Tells a {@link Refusal} that `work` throws as a result. */
export async function refusable<T>(
  work: () => Promise<T>,
): Promise<T | { readonly kind: 'refused'; readonly why: WriteRefusal }> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Refusal) return { kind: 'refused', why: error.why };
    throw error;
  }
}

export type OutputWrite =
  | { readonly kind: 'created' | 'existing'; readonly output: NodeOutputRow; readonly effects?: Effects }
  | { readonly kind: 'refused'; readonly why: WriteRefusal };

/** The run of task $1. It is locked before the claim, as everywhere. */
const runOfTask = 'select c.run_id from node_claim c where c.task_id = $1';

/** Without an identifier it gets `<runId>.<n>`, n counting such outputs of one claim: the next attempt meets the same names. */
export type TaskOutput = Omit<UploadedObject, 'nodeInstanceId'>;

/**
 * Writes an output of a held task whose bytes stand in storage. Without a watermark it is staged until the task
 * completes; with one it is published and the watermark moves, in one transaction, at once (decisions, section 9).
 * An identifier that the node has already gives the existing output, and the object stays with its pending row.
 */
export async function writeTaskOutput(
  database: Database,
  identity: RunnerIdentity,
  taskId: string,
  upload: TaskOutput,
  watermarkInputId?: number,
): Promise<OutputWrite> {
  failpoint('task-output-stored');
  const staged =
    watermarkInputId === undefined ? await stageAlone(database, identity, taskId, upload) : undefined;
  const written =
    staged ??
    (await refusable(() =>
      database.transaction(async (tx): Promise<OutputWrite> => {
        const session = watermarkInputId === undefined ? undefined : await lockSession(tx, 'task', taskId);
        const task = await fence(tx, identity, taskId);
        return writeWithin(tx, session, task, upload, watermarkInputId);
      }),
    ));
  failpoint('task-output-committed');
  return written;
}

/**
 * As {@link writeTaskOutput}, in a transaction that holds the task.
 * @param session locked; needed with a watermark
 */
export async function writeWithin(
  tx: Tx,
  session: LockedSession | undefined,
  task: HeldTask,
  upload: TaskOutput,
  watermarkInputId: number | undefined,
): Promise<Exclude<OutputWrite, { kind: 'refused' }>> {
  const outputIdentifier = upload.outputIdentifier ?? (await nextIdentifier(tx, task));
  const existing = await findOutputByIdentifier(tx, task.nodeInstanceId, outputIdentifier);
  const output = existing ?? (await stage(tx, task, { ...upload, outputIdentifier }));
  await tx.query('update node_run set wrote_output = true where id = $1 and not wrote_output', [task.runId]);
  const kind = existing ? 'existing' : 'created';
  if (!session || watermarkInputId === undefined) return { kind, output };
  const published = await publishOne(tx, session, task, output);
  await moveWatermark(tx, task, watermarkInputId, undefined);
  await planSession(tx, session, task.nodeInstanceId);
  return { kind, output: published, effects: await saveSession(tx, session) };
}

/** $4 is the identifier, or null for the next one that the platform makes. */
const identifierOf = (count: string) => `coalesce($4, c.run_id || '.' || ${count})`;
const stageStatement = `
  with held as materialized (
    select r.id, r.session_id, r.node_instance_id from node_run r where r.id = (${runOfTask}) for update
  ), claim as (
    update node_claim c
       set lease_until = clock_timestamp() + make_interval(secs => c.lease_seconds), used = true,
           unnamed_outputs = c.unnamed_outputs + ($4::text is null)::int
      from held
     where c.task_id = $1 and c.run_id = held.id and c.holder = $2 and c.instance_id = $3 and c.ended_at is null
       and c.lease_until > clock_timestamp()
       and not exists (
         select 1 from node_output o
          where o.node_instance_id = held.node_instance_id
            and o.output_identifier = ${identifierOf('(c.unnamed_outputs + 1)')})
    returning held.*, ${identifierOf('c.unnamed_outputs')} as identifier
  ), pending as (
    delete from pending_object p using claim where p.object_key = $5 returning p.object_key
  ), run as (
    update node_run r set wrote_output = true from claim, pending where r.id = claim.id
  )
  insert into node_output as o
         (session_id, node_instance_id, run_id, output_identifier, object_key, data_source_id, content_type,
          content_encoding, size_bytes, sha256, etag, metadata, configuration)
  select claim.session_id, claim.node_instance_id, claim.id, claim.identifier, pending.object_key, $6, $7, $8, $9, $10,
         $11, $12::jsonb, n.configuration
    from claim, pending, node_instance n where n.id = claim.node_instance_id
  returning ${outputColumns}`;

/**
 * The common write, new and staged, as one statement: nearly every output of a runner takes this way.
 * @returns undefined when it is not that (not held, or the identifier is known): the transaction tells which
 */
async function stageAlone(
  database: Database,
  identity: RunnerIdentity,
  taskId: string,
  upload: TaskOutput,
): Promise<OutputWrite | undefined> {
  const [output] = await database.query<NodeOutputRow>(stageStatement, [
    taskId,
    identity.holder,
    identity.instanceId,
    upload.outputIdentifier,
    upload.objectKey,
    upload.dataSourceId,
    upload.contentType,
    upload.contentEncoding,
    upload.sizeBytes,
    upload.sha256,
    upload.etag,
    upload.metadata === null ? null : JSON.stringify(upload.metadata),
  ]);
  return output && { kind: 'created', output };
}

export type WatermarkWrite =
  | { readonly kind: 'moved'; readonly watermark: number | null; readonly pendingInputs: number }
  | { readonly kind: 'refused'; readonly why: WriteRefusal };

/** Advances the watermark without an output. The present watermark again changes nothing. */
export async function writeWatermark(
  database: Database,
  identity: RunnerIdentity,
  taskId: string,
  inputId: number,
  state: Record<string, unknown> | undefined,
): Promise<WatermarkWrite> {
  return refusable(() =>
    database.transaction(async (tx): Promise<WatermarkWrite> => {
      await lockSession(tx, 'task', taskId);
      const task = await fence(tx, identity, taskId);
      const watermarkPosition = await moveWatermark(tx, task, inputId, state);
      const pendingInputs = await countPendingInputs(tx, { ...task, watermarkPosition });
      return { kind: 'moved', watermark: inputId, pendingInputs };
    }),
  );
}

/** The held task, its claim locked until the transaction ends. Throws the refusal when the caller does not hold it. */
export async function fence(tx: Tx, identity: RunnerIdentity, taskId: string): Promise<HeldTask> {
  const task = await touchTask(tx, identity, taskId);
  if (!task) throw new Refusal('task-not-found');
  return task;
}

/**
 * The next name that the platform makes. What is staged under a name is met again by the next attempt, which counts from
 * where the run's watermark moved last: what was written before stands for inputs that are consumed.
 */
async function nextIdentifier(tx: Tx, task: HeldTask): Promise<string> {
  const [row] = await tx.query<{ count: number }>(
    `update node_claim set unnamed_outputs = unnamed_outputs + 1 where task_id = $1
     returning unnamed_outputs as "count"`,
    [task.taskId],
  );
  return `${task.runId}.${row!.count}`;
}

async function stage(tx: Tx, task: HeldTask, upload: TaskOutput): Promise<NodeOutputRow> {
  await takePendingObject(tx, upload.objectKey);
  return insertOutput(tx, {
    ...upload,
    sessionId: task.sessionId,
    nodeInstanceId: task.nodeInstanceId,
    runId: task.runId,
    position: null,
  });
}

async function publishOne(
  tx: Tx,
  session: LockedSession,
  task: HeldTask,
  output: NodeOutputRow,
): Promise<NodeOutputRow> {
  if (output.position !== null) return output;
  const position = nextPosition(session);
  const [row] = await tx.query<{ createdAt: Date }>(
    `with output as (
       update node_output set position = $2, created_at = clock_timestamp() where id = $1 returning created_at
     ), node as (
       update node_instance set newest_position = $2, newest_output_id = $1 where id = $3
     )
     select created_at as "createdAt" from output`,
    [output.id, position, task.nodeInstanceId],
  );
  return { ...output, position, createdAt: row!.createdAt };
}

/** The node's own watermark follows that of a reprocess run, which may be behind it for a while, but never falls. */
const moveStatement = `
  with run as (
    update node_run
       set replay_position = case when replay_position is null then null else $2::bigint end,
           replay_output_id = case when replay_position is null then null else $3::bigint end,
           unnamed_from = case when $7 then (select c.unnamed_outputs from node_claim c where c.task_id = $6)
                               else unnamed_from end
     where id = $5 and (replay_position is not null or $7)
  )
  update node_instance
     set watermark_output_id = case when $2 >= watermark_position then $3 else watermark_output_id end,
         watermark_position = greatest(watermark_position, $2), runner_state = coalesce($4::jsonb, runner_state)
   where id = $1`;

/** @returns the position of the watermark that the run goes by, afterwards */
async function moveWatermark(
  tx: Tx,
  task: HeldTask,
  inputId: number,
  state: Record<string, unknown> | undefined,
): Promise<number> {
  const position = await checkWatermark(tx, task, inputId);
  await tx.query(moveStatement, [
    task.nodeInstanceId,
    position,
    inputId,
    state === undefined ? null : JSON.stringify(state),
    task.runId,
    task.taskId,
    position > task.watermarkPosition,
  ]);
  return position;
}

/** The position of an input to which the watermark may go. Throws the refusal when it may not. */
export async function checkWatermark(database: Queryable, task: HeldTask, inputId: number): Promise<number> {
  const input = await findInput(database, task, inputId);
  const present = { position: task.watermarkPosition, outputId: task.watermarkOutputId };
  const step = judgeWatermark(present, input?.position);
  if (input === undefined || step === 'unknown-input') throw new Refusal('watermark-unknown-input');
  if (step === 'regression') throw new Refusal('watermark-regression');
  return input.position;
}
