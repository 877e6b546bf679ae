/** Outputs that the holder of a task writes. Each write repeats the fence in its own transaction. */

import { isRefusal, sqlStates } from '../../domain/network/database-fault.ts';
import { unaudited } from '../connection/audit-scope.ts';
import type { Database, Queryable } from '../connection/database.ts';
import { failpoint } from '../connection/failpoint.ts';
import { hasKey, oncePerKey } from '../connection/idempotency.ts';
import { jsonOrNull } from '../connection/parameters.ts';
import { Refused } from '../connection/refused.ts';
import { type DataSourceRow, dataSourceColumns } from '../objects/data-sources.ts';
import { PendingObjectGone } from '../objects/pending-objects.ts';
import { targetSteps } from '../outputs/output-target.ts';
import {
  findOutputByIdentifier,
  type NodeOutputRow,
  objectColumns,
  objectParameters,
  objectValues,
  outputColumns,
  splitSource,
  type UploadedObject,
} from '../outputs/outputs.ts';
import type { TaskHolder } from '../runners/holder.ts';
import { heldValues, isHeld, lockRun, renewed, renewHeld, renewLease } from '../runners/lease.ts';
import { type Change, changed, type LockedSession, unchanged } from './change-session.ts';
import { runConfiguration } from './configuration-check.ts';
import { moveWatermark } from './watermark.ts';
import { type TaskWrite, type WriteRefusal, writeTask, writeTaskAndSession } from './write-task.ts';

/** `existing`: the node has an output of the identifier, which stays, and the object stays with its pending row. */
export interface WrittenOutput {
  readonly kind: 'created' | 'existing';
  readonly output: NodeOutputRow;
}

export type OutputWrite = WrittenOutput | { readonly kind: 'refused'; readonly why: WriteRefusal };

/**
 * Without an identifier it gets `<runId>.<n>`, n counting such outputs of one claim: the next attempt makes the same
 * names.
 */
export type TaskOutput = Omit<UploadedObject, 'nodeInstanceId'>;

/** A held task that is about to write an output. */
export interface TaskOutputBegin {
  readonly runId: string;
  readonly sessionId: string;
  readonly nodeInstanceId: number;
  /** The node has an output of this identifier: nothing is begun. */
  readonly isKnown: boolean;
  /** The object has its pending row, without heartbeats yet. False without a data source or a key. */
  readonly isBegun: boolean;
  /** Null when the one that the node names is not registered. */
  readonly dataSource: DataSourceRow | null;
}

const beginStatement = `
  with recursive claim as (${renewHeld} returning c.run_id), task as (
    select r.id as run_id, r.session_id, r.node_instance_id from claim join node_run r on r.id = claim.run_id
  ), ${targetSteps('(select node_instance_id from task)')}, known as (
    select from task join node_output o on o.node_instance_id = task.node_instance_id and o.output_identifier = $4
  ), pending as (
    insert into pending_object (object_key, data_source_id)
    select $5::text, target.id from task, target
     where $5::text is not null and not exists (select from known) returning object_key
  )
  select task.*, exists (select from known) as is_known, exists (select from pending) as is_begun,
         ${dataSourceColumns('target', 'source.')}
    from task left join target on true`;

/**
 * What goes before the bytes of an output, in one statement: the lease is renewed, the data source found, and the
 * object's pending row written.
 * @param objectKey null for a request that is refused unless the node has its output
 * @returns undefined when the caller does not hold the task
 */
export async function beginTaskOutput(
  database: Queryable,
  caller: TaskHolder,
  outputIdentifier: string | null,
  objectKey: string | null,
): Promise<TaskOutputBegin | undefined> {
  return await unaudited(async () => {
    const values = [...heldValues(caller), outputIdentifier, objectKey];
    const [row] = await database.query(beginStatement, values);
    if (row === undefined) return undefined;
    const { output: begin, dataSource } = splitSource<Omit<TaskOutputBegin, 'dataSource'>>(row);
    return { ...begin, dataSource: dataSource.id === null ? null : dataSource };
  });
}

/**
 * Writes an output of a held task whose bytes are in storage. Without a watermark it is staged until the watermark
 * moves or the task completes; with one the watermark moves at once, which publishes it (decisions, section 9).
 */
export async function writeTaskOutput(
  database: Database,
  caller: TaskHolder,
  upload: TaskOutput,
  watermarkInputId?: number,
): Promise<OutputWrite> {
  await failpoint('task-output-stored');
  const write = async () =>
    watermarkInputId === undefined
      ? await stageAlone(database, caller, upload)
      : await writeTaskAndSession(database, caller, (held, session) =>
          stageAndMoveOnce(held, session, upload, watermarkInputId),
        );
  const written = await write().catch((error) => {
    // An upload to the node used the identifier at this moment: the second try finds its output.
    if (isRefusal(error, sqlStates.uniqueViolation, identifierConstraint)) return write();
    throw error;
  });
  await failpoint('task-output-committed');
  return written;
}

/** An identifier names one output of a node. */
const identifierConstraint = 'node_output_node_instance_id_output_identifier_key';

/** Nearly every output of a runner is new and staged: one statement, and a transaction only to find out why it is not. */
async function stageAlone(database: Database, caller: TaskHolder, upload: TaskOutput): Promise<OutputWrite> {
  const output = hasKey() ? undefined : await stageNew(database, caller, upload);
  if (output !== undefined) return { kind: 'created', output };
  return writeTask(database, caller, (held) => oncePerKey(() => stageOutput(held, upload))(held.tx));
}

/** Stages an output, or finds the one that the node has of its identifier. @throws PendingObjectGone */
export async function stageOutput(held: TaskWrite, upload: TaskOutput): Promise<WrittenOutput> {
  const { tx, task } = held;
  const created = await stageNew(tx, task, upload);
  if (created !== undefined) return { kind: 'created', output: created };
  const identifier = upload.outputIdentifier ?? (await nextGeneratedName(held));
  const existing = await findOutputByIdentifier(tx, task.nodeInstanceId, identifier);
  if (existing === undefined) {
    // The process may have stood still since the fence: then the lease is over.
    const isStillHeld = (await renewLease(tx, task)) !== undefined;
    throw isStillHeld ? new PendingObjectGone(upload.objectKey) : new Refused<WriteRefusal>('task-not-found');
  }
  await tx.query('update node_run set wrote_output = true where id = $1 and not wrote_output', [task.runId]);
  return { kind: 'existing', output: existing };
}

async function stageAndMoveOnce(
  held: TaskWrite,
  session: LockedSession,
  upload: TaskOutput,
  watermarkInputId: number,
): Promise<Change<WrittenOutput>> {
  let change: Change<WrittenOutput> | undefined;
  const result = await oncePerKey(async () => {
    change = await stageAndMove(held, session, upload, watermarkInputId);
    return change.result;
  })(held.tx);
  // None when an earlier call under the key has made it.
  return change ?? unchanged(result);
}

/** As {@link stageOutput}, and moves the watermark, which publishes all that is staged. */
export async function stageAndMove(
  held: TaskWrite,
  session: LockedSession,
  upload: TaskOutput,
  watermarkInputId: number,
): Promise<Change<WrittenOutput>> {
  const { kind, output } = await stageOutput(held, upload);
  const { published } = await moveWatermark(held, session, watermarkInputId);
  if (!published) return unchanged({ kind, output });
  // An output written just now is the newest; an existing one may have later ones.
  const { newest, createdAt } = published;
  const isNewest = newest.id === output.id;
  const { nodeInstanceId, outputIdentifier } = output;
  const shown = isNewest
    ? { ...output, ...newest, createdAt }
    : await findOutputByIdentifier(held.tx, nodeInstanceId, outputIdentifier);
  return changed({ kind, output: shown! });
}

/** The name that the platform makes. */
const madeIdentifier = (count: string) => `c.run_id || '.' || ${count}`;
/** $4 is the identifier, or null for the next one that the platform makes. */
const identifierOf = (count: string) => `coalesce($4, ${madeIdentifier(count)})`;
const stageStatement = `
  with held as materialized (${lockRun('r.id, r.session_id, r.node_instance_id, r.configuration_revision')}), claim as (
    update node_claim c set ${renewed}, generated_name_count = c.generated_name_count + ($4::text is null)::int
      from held
     where ${isHeld} and c.run_id = held.id
       and not exists (
         select 1 from node_output o
          where o.node_instance_id = held.node_instance_id
            and o.output_identifier = ${identifierOf('(c.generated_name_count + 1)')})
    returning held.*, ${identifierOf('c.generated_name_count')} as identifier
  ), pending as (
    delete from pending_object p using claim where p.object_key = $5 returning p.object_key
  ), run as (
    update node_run r set wrote_output = true from claim, pending where r.id = claim.id
  )
  insert into node_output as o
         (session_id, node_instance_id, run_id, output_identifier, configuration, configuration_revision, metadata,
          ${objectColumns})
  select claim.session_id, claim.node_instance_id, claim.id, claim.identifier, ${runConfiguration('claim')},
         coalesce(claim.configuration_revision, n.configuration_revision), $6, ${objectParameters(7)}
    from claim, pending, node_instance n where n.id = claim.node_instance_id
  returning ${outputColumns}`;

/** @returns undefined when the task is not held, the identifier is known, or the object is no longer pending */
async function stageNew(
  database: Queryable,
  caller: TaskHolder,
  upload: TaskOutput,
): Promise<NodeOutputRow | undefined> {
  const [output] = await database.query<NodeOutputRow>(stageStatement, [
    ...heldValues(caller),
    upload.outputIdentifier,
    upload.objectKey,
    jsonOrNull(upload.metadata),
    ...objectValues(upload),
  ]);
  return output;
}

/**
 * The next name that the platform makes, for an existing output. The next attempt finds the outputs staged under these
 * names, because it counts from the last move of the run's watermark: earlier outputs belong to consumed inputs.
 */
async function nextGeneratedName({ tx, task }: TaskWrite): Promise<string> {
  const [row] = await tx.query<{ identifier: string }>(
    `update node_claim c set generated_name_count = c.generated_name_count + 1 where c.task_id = $1
     returning ${madeIdentifier('c.generated_name_count')} as identifier`,
    [task.taskId],
  );
  return row!.identifier;
}
