/** Reading the log of a run, page by page, in the order of positions. */

import { limits } from '../../domain/limits.ts';
import {
  entryPosition,
  type LogEntry,
  type LogFilter,
  levelBits,
  levelsFrom,
  matchesLogFilter,
  msOfPosition,
  platformLines,
  type RunFacts,
} from '../../domain/runs/run-log.ts';
import type { Queryable } from '../connection/database.ts';
import { dateOf } from '../connection/json-times.ts';
import { holderOfClaim } from '../runners/holder.ts';
import { unpackEntries } from './log-pieces.ts';

export interface LogPage {
  readonly entries: readonly LogEntry[];
  /** The position after which the next page begins. */
  readonly next: number;
  /** The run has ended, and nothing comes after this page. */
  readonly complete: boolean;
}

/** What has not committed yet may have come before what has: nothing younger than this is read from an open run. */
const settleMs = 500;
/** Pieces read at once, and for one page at the most. */
const piecesAtOnce = 16;
const piecesAPage = 128;

interface FactsRow extends Omit<RunFacts, 'claims' | 'attempts' | 'actions' | 'publications' | 'cuts'> {
  readonly isDone: boolean;
  readonly nowMs: number;
  readonly claims: ReadonlyArray<
    Omit<RunFacts['claims'][number], 'claimedAt' | 'endedAt'> & { claimedAt: string; endedAt: string | null }
  >;
  readonly attempts: ReadonlyArray<
    Omit<RunFacts['attempts'][number], 'endedAt'> & { endedAt: string | null }
  >;
  readonly actions: ReadonlyArray<Omit<RunFacts['actions'][number], 'at'> & { at: string }>;
  readonly publications: ReadonlyArray<
    Omit<RunFacts['publications'][number], 'at' | 'attempt'> & { at: string }
  >;
  readonly cuts: ReadonlyArray<Omit<RunFacts['cuts'][number], 'at'> & { at: string }>;
}

const list = (item: string, from: string) => `coalesce((select json_agg(${item}) from ${from}), '[]')`;

const factsStatement = `
  select r.state = 'done' as is_done, extract(epoch from clock_timestamp()) * 1000 as now_ms,
         ${list(
           `json_build_object('attempt', c.attempt, 'claimedAt', c.claimed_at, 'endedAt', c.ended_at,
                              'ending', c.ending, 'holder', ${holderOfClaim})`,
           `(select * from node_claim where run_id = $1 order by claimed_at limit ${limits.logFacts}) c`,
         )} as claims,
         ${list(
           `json_build_object('number', a.number, 'endedAt', a.ended_at, 'outcome', a.outcome,
                              'category', a.category, 'details', a.details)`,
           `(select * from node_attempt where run_id = $1 order by number limit ${limits.logFacts}) a`,
         )} as attempts,
         ${list(
           `json_build_object('at', x.at, 'attempt', x.attempt, 'action', x.action, 'userId', x.user_id)`,
           `(select * from node_run_action where run_id = $1 order by at limit ${limits.logFacts}) x`,
         )} as actions,
         ${list(
           `json_build_object('at', p.created_at, 'outputs', p.outputs, 'bytes', p.bytes)`,
           `(select created_at, count(*) as outputs, sum(size_bytes) as bytes from node_output
              where run_id = $1 and position is not null
              group by created_at order by created_at limit ${limits.logFacts}) p`,
         )} as publications,
         ${list(
           `json_build_object('attempt', l.attempt, 'at', a.ended_at, 'droppedEntries', l.dropped_entries)`,
           `node_log l join node_attempt a on a.run_id = l.run_id and a.number = l.attempt
             where l.run_id = $1 and l.dropped_entries > 0 and a.ended_at is not null`,
         )} as cuts
    from node_run r where r.id = $1`;

async function readFacts(
  database: Queryable,
  runId: string,
): Promise<{ facts: RunFacts; settledMs: number; isDone: boolean } | undefined> {
  const [row] = await database.query<FactsRow>(factsStatement, [runId]);
  if (row === undefined) return undefined;
  const claims = row.claims.map((claim) => ({
    ...claim,
    claimedAt: new Date(claim.claimedAt),
    endedAt: dateOf(claim.endedAt),
  }));
  const attemptAt = (at: Date) => claims.findLast(({ claimedAt }) => claimedAt <= at)?.attempt ?? 1;
  const facts = {
    claims,
    attempts: row.attempts.map((attempt) => ({ ...attempt, endedAt: dateOf(attempt.endedAt) })),
    actions: row.actions.map((action) => ({ ...action, at: new Date(action.at) })),
    publications: row.publications.map((publication) => {
      const at = new Date(publication.at);
      return { ...publication, at, attempt: attemptAt(at) };
    }),
    cuts: row.cuts.map((cut) => ({ ...cut, at: new Date(cut.at) })),
  };
  const settledMs = Math.floor(row.nowMs) - (row.isDone ? 0 : settleMs);
  return { facts, settledMs, isDone: row.isDone };
}

interface PieceRow {
  readonly attempt: number;
  readonly receivedMs: number;
  readonly body: Buffer;
}

const piecesStatement = `
  select attempt, received_ms, body from node_log_piece
   where run_id = $1 and received_ms >= $2 and received_ms <= $3 and levels & $4 <> 0
     and ($5::int is null or attempt = $5)
   order by received_ms limit ${piecesAtOnce}`;

/**
 * One page of a run's log. It may hold fewer entries than `limit`, or none, before the end: a search reads a bounded
 * part of the log for each page.
 * @returns undefined when there is no such run
 */
export async function readRunLog(
  database: Queryable,
  runId: string,
  filter: LogFilter,
  page: { readonly after: number; readonly limit: number },
): Promise<LogPage | undefined> {
  const found = await readFacts(database, runId);
  if (found === undefined) return undefined;
  const { facts, settledMs, isDone } = found;
  const written = await readEntries(database, runId, filter, { ...page, settledMs });
  const own = platformLines(facts, limits.logAttemptBytes).filter(
    (line) =>
      line.position > page.after &&
      // The clock of a publication may run ahead of the others.
      (line.position <= written.readTo || (isDone && written.isExhausted)) &&
      matchesLogFilter(line, filter),
  );
  const all = [...written.entries, ...own].sort((a, b) => a.position - b.position);
  const entries = all.slice(0, page.limit);
  const isCut = entries.length < all.length;
  const last = entries.at(-1)?.position ?? page.after;
  // What was read without a match need not be read again.
  const next = isCut ? last : Math.max(last, written.readTo);
  return { entries, next, complete: isDone && written.isExhausted && !isCut };
}

/** Runners' entries after a position, and up to which position the log was read: exhausted, or as far as a page reads. */
async function readEntries(
  database: Queryable,
  runId: string,
  filter: LogFilter,
  { after, limit, settledMs }: { after: number; limit: number; settledMs: number },
): Promise<{ entries: LogEntry[]; readTo: number; isExhausted: boolean }> {
  const bits = levelBits(levelsFrom(filter.level ?? 'debug'));
  const entries: LogEntry[] = [];
  let fromMs = msOfPosition(after);
  for (let pieces = 0; pieces < piecesAPage && entries.length < limit; pieces += piecesAtOnce) {
    const found = await database.query<PieceRow>(piecesStatement, [
      runId,
      fromMs,
      settledMs,
      bits,
      filter.attempt ?? null,
    ]);
    for (const piece of found) entries.push(...entriesOf(piece, after, filter));
    if (found.length < piecesAtOnce) return { entries, readTo: readTo(settledMs + 1), isExhausted: true };
    fromMs = found.at(-1)!.receivedMs + 1;
  }
  return { entries, readTo: readTo(fromMs), isExhausted: false };
}

const readTo = (beforeMs: number) => entryPosition(beforeMs, 0) - 1;

function entriesOf({ attempt, receivedMs, body }: PieceRow, after: number, filter: LogFilter): LogEntry[] {
  const entries: LogEntry[] = [];
  for (const [index, entry] of unpackEntries(body).entries()) {
    const position = entryPosition(receivedMs, index);
    if (position <= after || !matchesLogFilter({ ...entry, attempt }, filter)) continue;
    entries.push({ ...entry, position, attempt, source: 'runner' });
  }
  return entries;
}
