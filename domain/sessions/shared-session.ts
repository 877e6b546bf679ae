/**
 * Shared sessions, decided from facts alone (contract: Shared session; decisions 6).
 *
 *   open    joins are accepted                       -> closed
 *   closed  no join; late uploads are still accepted (the end; a window's end closes nothing)
 */
import type { JsonObject } from '../text.ts';
import { peopleKeys } from './participant.ts';

/** What must be equal, exactly, for a request to join a session. */
export interface MatchKey {
  readonly projectId: number;
  readonly sessionTemplateId: number;
  readonly name: string;
  readonly simulationName: string;
  readonly machineGroup: number;
  readonly timeWindowSeconds: number;
}

/** From `startAt` up to, but without, `endAt`. */
export interface TimeWindow {
  readonly startAt: Date;
  readonly endAt: Date;
}

export function windowFrom(startAt: Date, seconds: number): TimeWindow {
  return { startAt, endAt: new Date(startAt.getTime() + seconds * 1_000) };
}

/** One text for each match key: different keys never share one. */
export function matchKeyText(key: MatchKey): string {
  return JSON.stringify([
    key.projectId,
    key.sessionTemplateId,
    key.name,
    key.simulationName,
    key.machineGroup,
    key.timeWindowSeconds,
  ]);
}

/** How long after the window's end its workflow still runs when the session is not closed. */
const windowAfterHours = 24;
/** How far ahead a close may be set. */
const closeAheadHours = 24;
const hourMs = 3_600_000;

/** When the window's workflow ends without a close. */
export function windowOverAt(window: TimeWindow): Date {
  return new Date(window.endAt.getTime() + windowAfterHours * hourMs);
}

/** Whether a close may take effect then: from the session's start to 24 hours ahead. */
export function isCloseTime(closeAt: Date, sessionStart: Date, nowMs: number): boolean {
  return closeAt >= sessionStart && closeAt.getTime() <= nowMs + closeAheadHours * hourMs;
}

/** Keys of a shared session's metadata that belong to the platform: callers do not write them. */
const platformKeys: ReadonlySet<string> = new Set([
  'status',
  'startTimeUtc',
  'timeWindowSeconds',
  'machineGroup',
  ...peopleKeys,
  'closedAt',
  'closeReason',
]);

/** The caller's part of a shared session's metadata. */
export function withoutPlatformKeys(metadata: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(metadata).filter(([key]) => !platformKeys.has(key)));
}

/**
 * What one reconcile of a window returns to its workflow: nothing personal, it passes through the workflow's history.
 */
export interface WindowState {
  readonly participants: number;
  /** The window, `<start>/<end>`; null for a session that is not shared. */
  readonly window: string | null;
  /** When the session was or will be closed. */
  readonly closesAt: string | null;
  /** When there is something to do next; null when nothing is left. */
  readonly dueAt: string | null;
  /** Milliseconds until then by the database's clock, 0 when it is past. */
  readonly dueInMs: number;
}

/** How a window's wait ended. */
export type WindowEnd = 'closed' | 'over' | 'not-due';
