/**
 * The log of a run: what its runners wrote, and between that the platform's own lines, which are made of the facts that
 * it keeps anyway.
 *
 * An entry's position is a number that rises along the log of a run, over all attempts: the millisecond in which the
 * platform received it, and its place within that. A runner's clock plays no part.
 */

import { utf8Bytes } from '../text.ts';

export const logLevels = ['debug', 'info', 'warning', 'error'] as const;
export type LogLevel = (typeof logLevels)[number];

export interface LogEntry {
  readonly position: number;
  /** By the runner's clock; by the platform's for its own lines. */
  readonly at: Date;
  readonly attempt: number;
  readonly level: LogLevel;
  readonly source: 'runner' | 'platform';
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>> | null;
}

/** What an entry counts beside its message and fields. */
const entryBytes = 40;

/** What an entry counts towards the limits of calls and attempts. */
export function loggedBytes({ message, fields }: Pick<LogEntry, 'message' | 'fields'>): number {
  return entryBytes + utf8Bytes(message) + (fields === null ? 0 : utf8Bytes(JSON.stringify(fields)));
}

/** Places within one millisecond: below the half the entries of a call, above it the platform's lines. */
const placesPerMs = 1_024;
const platformPlace = placesPerMs / 2;

export const entryPosition = (receivedMs: number, index: number) => receivedMs * placesPerMs + index;
export const msOfPosition = (position: number) => Math.floor(position / placesPerMs);

/** The levels from this one on. */
export function levelsFrom(level: LogLevel): readonly LogLevel[] {
  return logLevels.slice(logLevels.indexOf(level));
}

/** One bit for each level. */
export function levelBits(levels: Iterable<LogLevel>): number {
  let bits = 0;
  for (const level of levels) bits |= 1 << logLevels.indexOf(level);
  return bits;
}

/** Who held an attempt. */
export interface RunHolder {
  readonly instanceId: string;
  /** The label of its token; null for accounts and for built-in nodes. */
  readonly name: string | null;
  readonly version: string | null;
}

/** What is known of a run, for the platform's lines. */
export interface RunFacts {
  readonly claims: ReadonlyArray<{
    readonly attempt: number;
    readonly holder: RunHolder;
    readonly claimedAt: Date;
    readonly endedAt: Date | null;
    readonly ending: string | null;
  }>;
  readonly attempts: ReadonlyArray<{
    readonly number: number;
    readonly endedAt: Date | null;
    readonly outcome: string | null;
    readonly category: string | null;
    readonly details: string;
  }>;
  readonly actions: ReadonlyArray<{
    readonly at: Date;
    readonly attempt: number;
    readonly action: 'cancel' | 'retry';
    readonly userId: string;
  }>;
  /** Outputs that were published together. */
  readonly publications: ReadonlyArray<{
    readonly at: Date;
    readonly attempt: number;
    readonly outputs: number;
    readonly bytes: number;
  }>;
  /** Attempts whose log was cut. */
  readonly cuts: ReadonlyArray<{
    readonly attempt: number;
    readonly at: Date;
    readonly droppedEntries: number;
  }>;
}

type Line = Pick<LogEntry, 'at' | 'attempt' | 'level' | 'message' | 'fields'>;

/** The platform's lines of a run, in order. @param attemptBytes what one attempt may log */
export function platformLines(facts: RunFacts, attemptBytes: number): LogEntry[] {
  const lines: Line[] = [
    ...facts.claims.flatMap(claimLines),
    ...facts.actions.map(actionLine),
    ...facts.publications.map(publicationLine),
    ...facts.attempts.flatMap(attemptLines),
    ...facts.cuts.map((cut) => cutLine(cut, attemptBytes)),
  ];
  // Facts of the same millisecond stand in the order of the list above.
  const sorted = lines.sort((a, b) => a.at.getTime() - b.at.getTime());
  let [lastMs, place] = [0, 0];
  return sorted.map((line) => {
    const ms = line.at.getTime();
    place = ms === lastMs ? Math.min(place + 1, platformPlace - 1) : 0;
    lastMs = ms;
    return { ...line, source: 'platform', position: entryPosition(ms, platformPlace + place) };
  });
}

function claimLines({ attempt, holder, claimedAt, endedAt, ending }: RunFacts['claims'][number]): Line[] {
  const { instanceId, name, version } = holder;
  const fields = { instanceId, ...(name === null ? {} : { name }), ...(version === null ? {} : { version }) };
  const by = [name === null ? instanceId : `${name} (${instanceId})`, version].filter(Boolean).join(', ');
  const claimed: Line = { at: claimedAt, attempt, level: 'info', message: `Claimed by ${by}.`, fields };
  if (endedAt === null) return [claimed];
  const after = (level: LogLevel, message: string): Line[] => [
    claimed,
    { at: endedAt, attempt, level, message, fields },
  ];
  if (ending === 'release') return after('info', `Released by ${instanceId}.`);
  if (ending === 'lost') return after('warning', `The lease of ${instanceId} ended.`);
  if (ending === 'token-ended') return after('warning', `Taken from ${instanceId}: its token has ended.`);
  if (ending === 'given-up') return after('warning', `Given up by ${instanceId}, which claimed again.`);
  return [claimed];
}

function attemptLines({ number, endedAt, outcome, category, details }: RunFacts['attempts'][number]): Line[] {
  if (endedAt === null || outcome === null) return [];
  const isFailure = outcome === 'failed' || outcome === 'lost';
  const what = outcome === 'failed' && category !== null ? `failed (${category})` : outcome;
  const more = details === '' || details === outcome ? '.' : `. ${details}`;
  const message = `Attempt ${number} ended: ${what}${more}`;
  const level = isFailure ? 'error' : outcome === 'cancelled' ? 'warning' : 'info';
  return [{ at: endedAt, attempt: number, level, message, fields: { outcome, category } }];
}

function actionLine({ at, attempt, action, userId }: RunFacts['actions'][number]): Line {
  const message = action === 'cancel' ? `Cancelled by user ${userId}.` : `Retried by user ${userId}.`;
  return { at, attempt, level: action === 'cancel' ? 'warning' : 'info', message, fields: { userId } };
}

function publicationLine({ at, attempt, outputs, bytes }: RunFacts['publications'][number]): Line {
  const message = `Published ${outputs} ${outputs === 1 ? 'output' : 'outputs'}, ${bytes} bytes.`;
  return { at, attempt, level: 'info', message, fields: { outputs, bytes } };
}

function cutLine({ at, attempt, droppedEntries }: RunFacts['cuts'][number], attemptBytes: number): Line {
  const message = `${droppedEntries} entries were dropped: the log of an attempt holds ${attemptBytes} bytes.`;
  return { at, attempt, level: 'warning', message, fields: { droppedEntries } };
}

export interface LogFilter {
  readonly attempt?: number | undefined;
  /** This level and those above it. */
  readonly level?: LogLevel | undefined;
  /** Text that the message or the fields contain; case is ignored. */
  readonly search?: string | undefined;
}

/** Whether an entry passes the filter. */
export function matchesLogFilter(
  entry: Omit<LogEntry, 'position' | 'at' | 'source'>,
  filter: LogFilter,
): boolean {
  if (filter.attempt !== undefined && entry.attempt !== filter.attempt) return false;
  if (filter.level !== undefined && !levelsFrom(filter.level).includes(entry.level)) return false;
  if (filter.search === undefined || filter.search === '') return true;
  const wanted = filter.search.toLowerCase();
  if (entry.message.toLowerCase().includes(wanted)) return true;
  return entry.fields !== null && JSON.stringify(entry.fields).toLowerCase().includes(wanted);
}
