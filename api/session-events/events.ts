/** Turns snapshots of a session into events for its followers: what is new or different since the previous snapshot. */
import type { z } from 'zod';
import { formatTimestamp, formatTimestampOrNull } from '../../domain/timestamp.ts';
import type {
  AttemptSeen,
  PublishedOutput,
  SessionSnapshot,
  SnapshotPoint,
} from '../../store/sessions/session-watch.ts';
import { presentNode } from '../sessions/present.ts';
import type { eventSchemas } from './schema.ts';

type EventOf<Kind extends keyof typeof eventSchemas> = {
  readonly [K in Kind]: { readonly kind: K; readonly data: z.input<(typeof eventSchemas)[K]> };
}[Kind];

export type SessionEvent =
  | { readonly kind: 'node'; readonly data: ReturnType<typeof presentNode> }
  | (EventOf<'output'> & { readonly position: number })
  | EventOf<Exclude<keyof typeof eventSchemas, 'output'>>;

/** What the followers of one session have already received. */
export class SentState {
  readonly #nodes = new Map<number, string>();
  readonly #attempts = new Map<string, 'started' | 'ended'>();
  #window = '';

  /**
   * The events from the last known state to the snapshot, which becomes the known state.
   * @param areNodesFirst for a new caller, which does not know the nodes of the attempts yet. For others nodes come last:
   *   a node is reported as succeeded after its outputs.
   */
  advance(snapshot: SessionSnapshot, areNodesFirst = false): SessionEvent[] {
    const facts = [
      ...snapshot.attempts.filter((attempt) => this.#isNewAttempt(attempt)).map(attemptEvent),
      ...snapshot.outputs.map(outputEvent),
    ];
    const nodes = nodeEvents(snapshot).filter(({ data }) => this.#isNewNode(data));
    const window = [windowEvent(snapshot)].filter((event) => this.#isNewWindow(JSON.stringify(event.data)));
    return areNodesFirst ? [...nodes, ...facts, ...window] : [...facts, ...nodes, ...window];
  }

  #isNewAttempt({ runId, attempt, endedAt }: AttemptSeen): boolean {
    const key = `${runId}.${attempt}`;
    const stage = endedAt === null ? 'started' : 'ended';
    if (this.#attempts.get(key) === stage) return false;
    // Snapshots overlap only by seconds: older attempts never come again.
    if (this.#attempts.size > 10_000) this.#attempts.clear();
    this.#attempts.set(key, stage);
    return true;
  }

  #isNewNode(node: ReturnType<typeof presentNode>): boolean {
    const text = JSON.stringify(node);
    if (this.#nodes.get(node.id) === text) return false;
    this.#nodes.set(node.id, text);
    return true;
  }

  #isNewWindow(text: string): boolean {
    if (this.#window === text) return false;
    this.#window = text;
    return true;
  }
}

const nodeEvents = (snapshot: SessionSnapshot) =>
  snapshot.nodes.map((node) => ({ kind: 'node', data: presentNode(node) }) as const);

function outputEvent(output: PublishedOutput): SessionEvent {
  const { position, createdAt, ...shown } = output;
  return { kind: 'output', position, data: { ...shown, createdAt: formatTimestamp(createdAt) } };
}

function attemptEvent(attempt: AttemptSeen): SessionEvent {
  const { startedAt, endedAt, details, ...shown } = attempt;
  const data = {
    ...shown,
    startedAt: formatTimestampOrNull(startedAt),
    endedAt: formatTimestampOrNull(endedAt),
    details,
  };
  return { kind: 'attempt', data };
}

function windowEvent({ window }: SessionSnapshot): Extract<SessionEvent, { kind: 'window' }> {
  return {
    kind: 'window',
    data: {
      frozen: window.isFrozen,
      status: window.closedAt === null ? 'open' : 'closed',
      startTimeUtc: formatTimestampOrNull(window.startAt),
      endTimeUtc: formatTimestampOrNull(window.endAt),
      closedAt: formatTimestampOrNull(window.closedAt),
      closeReason: window.closeReason,
      participantCount: window.participantCount,
    },
  };
}

/** `<milliseconds>-<position>`: means the same place at every API process. */
const eventIdOf = ({ atMs, position }: SnapshotPoint): string => `${atMs}-${position}`;

const eventIdForm = /^(\d{1,15})-(\d{1,15})$/;

/** The place of a `Last-Event-ID`; undefined for an id that no event of ours has. */
export function placeOf(eventId: string | undefined): SnapshotPoint | undefined {
  const match = eventIdForm.exec(eventId ?? '');
  return match === null ? undefined : { atMs: Number(match[1]), position: Number(match[2]) };
}

/**
 * The events as they are sent. Only the last one carries the id: a caller that loses the connection before it gets all
 * of them again.
 */
export function writeEvents(events: readonly SessionEvent[], at: SnapshotPoint): string {
  return events
    .map((event, index) => writeEvent(event, index === events.length - 1 ? at : undefined))
    .join('');
}

/** @param at the id of the event; without one it carries none */
export function writeEvent({ kind, data }: SessionEvent, at: SnapshotPoint | undefined): string {
  const id = at === undefined ? '' : `id: ${eventIdOf(at)}\n`;
  return `event: ${kind}\ndata: ${JSON.stringify(data)}\n${id}\n`;
}
