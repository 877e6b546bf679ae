/** The steps of every publication of an upload. The session is locked. */
import { nodeStateCodes } from '../../domain/runs/node-state.ts';
import type { Tx } from '../connection/database.ts';
import { type LockedSession, nextPosition } from '../runs/change-session.ts';
import { insertOutput, lockOutput, type NewOutput, type NodeOutputRow, replaceOutput } from './outputs.ts';
import { isRepeat } from './repeats.ts';

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
  session: LockedSession,
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
  return { outcome: before === undefined ? 'created' : 'replaced', output };
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
