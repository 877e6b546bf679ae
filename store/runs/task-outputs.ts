/** Outputs that the holder of a task writes. Each write repeats the fence in its own transaction. */
import type { Database, Tx } from '../connection/database.ts';
import { failpoint } from '../connection/failpoint.ts';
import { takePendingObject } from '../objects/pending-objects.ts';
import {
  findOutputByIdentifier,
  insertOutput,
  type NodeOutputRow,
  outputColumns,
} from '../outputs/outputs.ts';
import type { UploadedObject } from '../outputs/publish-output.ts';
import type { RunnerIdentity } from './claims.ts';
import { fence, refusable, runOfTask, type WriteRefusal } from './fence.ts';
import { type LockedSession, lockSession } from './session-lock.ts';
import type { HeldTask } from './task-inputs.ts';
import { moveWatermark } from './watermark.ts';

export type OutputWrite =
  | { readonly kind: 'created' | 'existing'; readonly output: NodeOutputRow }
  | { readonly kind: 'refused'; readonly why: WriteRefusal };

/** Without an identifier it gets `<runId>.<n>`, n counting such outputs of one claim: the next attempt meets the same names. */
export type TaskOutput = Omit<UploadedObject, 'nodeInstanceId'>;

/**
 * Writes an output of a held task whose bytes stand in storage. Without a watermark it is staged until the watermark
 * moves or the task completes; with one the watermark moves at once, which publishes it (decisions, section 9).
 * An identifier that the node has already gives the existing output, and the object stays with its pending row.
 */
export async function writeTaskOutput(
  database: Database,
  identity: RunnerIdentity,
  taskId: string,
  upload: TaskOutput,
  watermarkInputId?: number,
): Promise<OutputWrite> {
  await failpoint('task-output-stored');
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
  await failpoint('task-output-committed');
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
  const kind = existing ? 'existing' : 'created';
  if (!session || watermarkInputId === undefined) {
    await tx.query('update node_run set wrote_output = true where id = $1 and not wrote_output', [
      task.runId,
    ]);
    return { kind, output };
  }
  const { published } = await moveWatermark(tx, session, task, watermarkInputId, { hasWritten: true });
  if (!published) return { kind, output };
  // An output that was written just now is the newest; one that stood before may have others behind it.
  const { newest, createdAt } = published;
  const written =
    newest.id === output.id
      ? { ...output, ...newest, createdAt }
      : await findOutputByIdentifier(tx, task.nodeInstanceId, outputIdentifier);
  return { kind, output: written! };
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
