/**
 * Shared sessions on a time axis: their windows and participants, and the placement of rows and marks. Pure: tested
 * without a browser.
 */
import type { TimeSpan } from '../dashboard/model.ts';

export interface Participant {
  /** The platform's identifier of the person, or their one-way key. */
  id: string;
  /** Null when the platform does not show it to the reader. */
  email: string | null;
  /** Start of the person's own capture. */
  startMs: number | null;
  joinedMs: number | null;
}

export interface SharedWindow {
  sessionId: string;
  name: string;
  machineGroup: number | null;
  status: 'open' | 'closed';
  startMs: number;
  endMs: number;
  windowSeconds: number;
  closedMs: number | null;
  participants: Participant[];
}

export interface WithMetadata {
  id: string;
  name: string;
  metadata: Record<string, unknown> | null;
}

/** The window of a shared session; null for a session that is not shared. */
export function sharedWindow(session: WithMetadata): SharedWindow | null {
  const metadata = session.metadata ?? {};
  const startMs = timeOf(metadata.startTimeUtc);
  const { timeWindowSeconds, status, participants, machineGroup } = metadata;
  if (startMs === null || typeof timeWindowSeconds !== 'number') return null;
  if (status !== 'open' && status !== 'closed') return null;
  return {
    sessionId: session.id,
    name: session.name,
    machineGroup: typeof machineGroup === 'number' ? machineGroup : null,
    status,
    startMs,
    endMs: startMs + timeWindowSeconds * 1000,
    windowSeconds: timeWindowSeconds,
    closedMs: timeOf(metadata.closedAt),
    participants: Array.isArray(participants) ? participants.flatMap(participantOf) : [],
  };
}

function participantOf(item: unknown): Participant[] {
  if (typeof item !== 'object' || item === null) return [];
  const { id, email, startTimeUtc, joinedAt } = item as Record<string, unknown>;
  if (typeof id !== 'string') return [];
  return [
    {
      id,
      email: typeof email === 'string' && email !== '' ? email : null,
      startMs: timeOf(startTimeUtc),
      joinedMs: timeOf(joinedAt),
    },
  ];
}

function timeOf(value: unknown): number | null {
  const time = typeof value === 'string' ? Date.parse(value) : Number.NaN;
  return Number.isNaN(time) ? null : time;
}

/** The label of a person: the address if the reader may see it, else a short form of the identifier. */
export function personLabel({ id, email }: Participant): string {
  return email ?? `${id.startsWith('anon:') ? 'anonymous' : 'person'} ${id.replace('anon:', '').slice(0, 8)}`;
}

/** From the first to the last moment that any row shows, with a margin; null without rows. */
export function wholeSpan(windows: readonly SharedWindow[]): TimeSpan | null {
  if (windows.length === 0) return null;
  const moments = windows.flatMap((one) => [
    one.startMs,
    one.endMs,
    ...one.participants.flatMap(({ startMs }) =>
      startMs === null ? [] : [startMs, startMs + one.windowSeconds * 1000],
    ),
  ]);
  const fromMs = Math.min(...moments);
  const toMs = Math.max(...moments);
  const air = Math.max(1000, (toMs - fromMs) * 0.03);
  return { fromMs: Math.floor(fromMs - air), toMs: Math.ceil(toMs + air) };
}

export interface Bar {
  /** Percent of the lane. */
  left: number;
  width: number;
}

/** The place of a stretch of time in a lane; null when it is outside. Always wide enough to be visible. */
export function barOf(fromMs: number, toMs: number, span: TimeSpan): Bar | null {
  if (toMs <= span.fromMs || fromMs >= span.toMs) return null;
  const length = span.toMs - span.fromMs;
  const left = Math.max(0, (fromMs - span.fromMs) / length);
  const right = Math.min(1, (toMs - span.fromMs) / length);
  return { left: left * 100, width: Math.max(0.25, (right - left) * 100) };
}

/** The place of a moment, in percent; null when it is outside. */
export function placeOf(timeMs: number | null, span: TimeSpan): number | null {
  if (timeMs === null || timeMs < span.fromMs || timeMs > span.toMs) return null;
  return ((timeMs - span.fromMs) / (span.toMs - span.fromMs)) * 100;
}
