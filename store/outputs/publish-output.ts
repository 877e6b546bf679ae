/** The steps of every publication of outputs. The session is locked, and its counters are saved by the caller. */
import { nodeStateCodes } from '../../domain/runs/node-state.ts';
import type { Tx } from '../connection/database.ts';
import { insertOutput, lockOutput, type NewOutput, type NodeOutputRow, replaceOutput } from './outputs.ts';
import { isRepeat } from './repeats.ts';

/** A locked session with the counters that publications move. */
export interface PublishingSession {
  readonly sessionId: string;
  newestPosition: number;
  /** The `createdAt` of all that this transaction publishes: never before that of an earlier publication. */
  readonly publishedAt: Date;
  /** By how much this transaction's publications change the bytes of the session's outputs: each adds its own. */
  publishedBytes: number;
}

/** The position of the next publication, whose time is `session.publishedAt`: neither ever decreases along a list. */
export function nextPosition(session: PublishingSession): number {
  session.newestPosition += 1;
  return session.newestPosition;
}

export interface PublishedOutput {
  /** `repeated`: the output is unchanged, and nothing refers to the upload's own object. */
  readonly outcome: 'created' | 'replaced' | 'repeated';
  readonly output: NodeOutputRow;
}

/**
 * Makes an upload the newest output of its node: a new one, or new bytes for the one that has its identifier (same id,
 * new position). The same upload again changes nothing. The node's counters follow by {@link markPublished}.
 * @param claimObject makes the upload's object a referenced one; not called for a repeat
 */
export async function publishOutput(
  tx: Tx,
  session: PublishingSession,
  upload: Omit<NewOutput, 'sessionId' | 'position' | 'createdAt'>,
  claimObject: () => Promise<void>,
): Promise<PublishedOutput> {
  const { nodeInstanceId, outputIdentifier } = upload;
  const before =
    outputIdentifier === null ? undefined : await lockOutput(tx, nodeInstanceId, outputIdentifier);
  if (before !== undefined && isRepeat(before, upload)) return { outcome: 'repeated', output: before };
  const position = nextPosition(session);
  const isVersion = before !== undefined && before.position !== null;
  session.publishedBytes += upload.sizeBytes - (isVersion ? before.sizeBytes : 0);
  const values = {
    ...upload,
    sessionId: session.sessionId,
    position,
    createdAt: session.publishedAt,
  };
  const [output] = await Promise.all([
    before === undefined ? insertOutput(tx, values) : replaceOutput(tx, before, values),
    claimObject(),
  ]);
  if (output !== undefined) return { outcome: before === undefined ? 'created' : 'replaced', output };
  // A runner stages outputs without the session's lock: it has staged one of this identifier since.
  const staged = await lockOutput(tx, nodeInstanceId, outputIdentifier ?? '');
  if (staged === undefined) throw new Error(`Node instance ${nodeInstanceId} no longer exists.`);
  return { outcome: 'replaced', output: await replaceOutput(tx, staged, values) };
}

/** Marks the output's node processed. */
export async function markPublished(
  tx: Tx,
  output: Pick<NodeOutputRow, 'id' | 'nodeInstanceId' | 'position'>,
): Promise<void> {
  await tx.query(
    `update node_instance
        set state = ${nodeStateCodes.Succeeded}, status_details = '', last_processed = clock_timestamp(),
            newest_position = $2, newest_output_id = $3
      where id = $1`,
    [output.nodeInstanceId, output.position, output.id],
  );
}

/**
 * For `with`: what a run has staged is published, outputs in the order in which they were written, and annotations.
 * `publication` has one row: how many outputs (`count`), their bytes, and the `id` and `position` of the last.
 * All three are SQL expressions. @param after the session's newest position
 */
export const publicationSteps = ({
  runId,
  after,
  at,
}: {
  readonly runId: string;
  readonly after: string;
  readonly at: string;
}) => `
  staged as (
    select id, row_number() over (order by id) as place from node_output
     where run_id = ${runId} and position is null
  ), published as (
    update node_output o set position = ${after} + staged.place, created_at = ${at}
      from staged where o.id = staged.id
    returning o.id, o.position, o.size_bytes
  ), annotated as (
    update annotation set staged = false, created_at = ${at}
     where run_id = ${runId} and staged
  ), publication as (
    select count(*)::int as count, coalesce(sum(size_bytes), 0)::bigint as bytes, max(id) as id,
           max(position) as position
      from published
  )`;

/** Moves the session's counters over the outputs of {@link publicationSteps}. */
export function countPublication(session: PublishingSession, count: number, bytes: number): void {
  session.newestPosition += count;
  session.publishedBytes += bytes;
}

/** A run's outputs published together. The caller writes the node's counters. */
export interface StagedPublication {
  readonly newest: { readonly id: number; readonly position: number };
  /** The time of the publication, which every one of them has. */
  readonly createdAt: Date;
}

/**
 * Publishes what a run has staged, outputs in the order in which they were written, and annotations.
 * @returns undefined when no output was staged
 */
export async function publishStaged(
  tx: Tx,
  session: PublishingSession,
  runId: string,
): Promise<StagedPublication | undefined> {
  const [row] = await tx.query<{ count: number; id: number; bytes: number }>(
    `with ${publicationSteps({ runId: '$1', after: '$2::bigint', at: '$3::timestamptz' })} select * from publication`,
    [runId, session.newestPosition, session.publishedAt],
  );
  const { count, id, bytes } = row!;
  if (count === 0) return undefined;
  countPublication(session, count, bytes);
  return { newest: { id, position: session.newestPosition }, createdAt: session.publishedAt };
}
