/** The last word of a task that failed or was released: it is stored with its end, however often the end is repeated. */
import { limits } from '../../domain/limits.ts';
import { levelBits } from '../../domain/runs/run-log.ts';
import type { Tx } from '../connection/database.ts';
import { packEntries } from './log-pieces.ts';

const tailStatement = `
  with head as (
    insert into node_log as l (run_id, attempt, task_id, sequence, last_ms, bytes)
    values ($1, $2, $3, 0, floor(extract(epoch from clock_timestamp()) * 1000), $4)
    on conflict (run_id, attempt) do update
       set last_ms = greatest(excluded.last_ms, l.last_ms + 1), bytes = l.bytes + excluded.bytes
    returning last_ms
  )
  insert into node_log_piece (run_id, attempt, received_ms, entries, levels, body)
  select $1, $2, last_ms, $5, $6, $7 from head`;

/** @param task whose end is being written, its run locked */
export async function writeLogTail(
  tx: Tx,
  task: { readonly runId: string; readonly attempt: number; readonly taskId: string },
  tail: string,
): Promise<void> {
  const at = new Date();
  const entries = piecesOf(tail).map((message) => ({ at, level: 'error' as const, message, fields: null }));
  await tx.query(tailStatement, [
    task.runId,
    task.attempt,
    task.taskId,
    Buffer.byteLength(tail),
    entries.length,
    levelBits(['error']),
    packEntries(entries),
  ]);
}

/** Whole lines, as many together as one message may hold; a longer line is cut. */
function piecesOf(tail: string): string[] {
  const pieces: string[] = [];
  let piece = '';
  for (const line of tail.trimEnd().split('\n')) {
    const longer = piece === '' ? line : `${piece}\n${line}`;
    if (Buffer.byteLength(longer) <= limits.logMessageBytes) piece = longer;
    else {
      if (piece !== '') pieces.push(piece);
      piece = Buffer.from(line).subarray(0, limits.logMessageBytes).toString('utf8');
    }
  }
  return [...pieces, piece];
}
