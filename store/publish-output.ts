/** The steps that every publication of an upload consists of, whoever takes them. The session is locked. */
import { nodeStateCodes } from '../domain/node-state.ts';
import type { Tx } from './database.ts';
import { insertOutput, type NewOutput, type NodeOutputRow, replaceOutput } from './outputs.ts';
import { type LockedSession, nextPosition } from './session-lock.ts';

/**
 * Makes an upload the newest output of its node: a new one, or new bytes for the one that has its identifier (same id,
 * new position). The node's counters follow by {@link markPublished}.
 */
export async function publishOutput(
  tx: Tx,
  session: LockedSession,
  upload: Omit<NewOutput, 'sessionId' | 'position' | 'runId'>,
): Promise<{ readonly outcome: 'created' | 'replaced'; readonly output: NodeOutputRow }> {
  const values = { ...upload, sessionId: session.sessionId, position: nextPosition(session), runId: null };
  const replaced = upload.outputIdentifier === null ? undefined : await replaceOutput(tx, values);
  if (replaced !== undefined) return { outcome: 'replaced', output: replaced };
  return { outcome: 'created', output: await insertOutput(tx, values) };
}

/** Marks the node of its newest output processed. */
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
