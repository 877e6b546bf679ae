/**
 * Which open attempts a session's workflow awaits, each by an activity that operators see, and when it reconciles by
 * itself. An awaited attempt costs more than a node run; so those that will be over soon are not awaited.
 */
import { attemptActivityId, type OpenAttempt } from './reconcile-result.ts';

/** An open run, as a reconcile finds it. */
export interface OpenRun extends OpenAttempt {
  readonly held: boolean;
  /** Milliseconds since the claim while it is held, else since it could be claimed. */
  readonly openForMs: number;
  /** A built-in run that cannot be claimed now: starting it would only be refused, repeatedly. */
  readonly isUnclaimable: boolean;
}

/** What the decision depends on besides the open runs. */
export interface SessionPace {
  /** Since a run last ended; null before the first. */
  readonly sinceEndMs: number | null;
  /** Attempts whose end the workflow does not know, to {@link busyEnds}. */
  readonly unreportedEnds: number;
  /** Reconciles are at least so far apart, and queued runs are awaited so late: more the more sessions there are. */
  readonly sharedMs: number;
}

/**
 * Attempts of outside runners, and of built-in nodes, that a workflow awaits at once. All open ones may be claimed. More
 * would fill the server's buffer of a hundred events while a workflow task runs, and the server then fails that task.
 */
const maxAwaited = 40;
/**
 * Queued attempts of outside runners among them. They are the last ones in the queue, which wait longest: those before
 * them are over by then, and none of them had to be awaited.
 */
const maxAwaitedQueued = 10;
/** The same beside more than a hundred other sessions: ten of each would cost half of all claims and completions. */
const maxAwaitedQueuedBesideMany = 1;
/** Attempts of outside runners are awaited when they have been held, or have waited for a runner, for so long. */
const awaitHeldAfterMs = 1_000;
const awaitQueuedAfterMs = 10_000;
/** While some run of the session was claimed or ended this recently, its queue moves, and no run in it is awaited. */
const movesForMs = 2_000;
const reconcileAgainMs = 1_000;
/**
 * A session in which so many attempts ended since the last reconcile is busy. It is reconciled less often: a reconcile
 * costs as much as two node runs.
 */
export const busyEnds = 2;
const reconcileBusyMs = 5_000;

/** The difference from what is awaited already. */
export interface AwaitedChanges {
  readonly start: readonly OpenAttempt[];
  /** Awaited activity ids whose attempt is no longer open. */
  readonly drop: readonly string[];
  /** Null: nothing will have to be awaited unless the session changes. */
  readonly reconcileInMs: number | null;
}

/**
 * @param open the queue in its order
 * @param awaited activity ids
 */
export function awaitedChanges(
  open: readonly OpenRun[],
  pace: SessionPace,
  awaited: ReadonlySet<string>,
): AwaitedChanges {
  const isAwaited = (run: OpenRun) => awaited.has(idOf(run));
  const room = (most: number, runs: readonly OpenRun[]) => most - runs.filter(isAwaited).length;
  const builtin = open.filter((run) => run.builtin);
  const outside = open.filter((run) => !run.builtin);
  const isYoung = youth(outside, pace);

  const startable = builtin.filter((run) => !isAwaited(run) && !run.isUnclaimable);
  const fresh = outside.filter((run) => !isAwaited(run));
  const held = fresh.filter((run) => run.held);
  const lastFirst = fresh.filter((run) => !run.held).toReversed();
  const isOld = (run: OpenRun) => !isYoung(run);
  const maxQueued = pace.sharedMs > awaitQueuedAfterMs ? maxAwaitedQueuedBesideMany : maxAwaitedQueued;
  const queuedRoom = room(
    maxQueued,
    outside.filter((run) => !run.held),
  );
  const ofBuiltin = choose(startable, room(maxAwaited, builtin));
  const ofHeld = choose(held.filter(isOld), room(maxAwaited, outside));
  const ofQueue = choose(lastFirst.filter(isOld), Math.min(ofHeld.room, queuedRoom));
  const later = [
    ...(ofHeld.room > ofQueue.start.length ? held : []),
    ...(ofQueue.room > 0 ? lastFirst : []),
  ].filter(isYoung);
  return {
    start: [ofBuiltin, ofHeld, ofQueue].flatMap(({ start }) => start.map(toOpenAttempt)),
    drop: droppedOf(open, awaited),
    reconcileInMs: reconcileInMs(fresh.length > 0, lastFirst.length > maxQueued, later, pace),
  };
}

/** The first of the runs, and the room that is left. */
function choose(
  runs: readonly OpenRun[],
  room: number,
): { readonly start: OpenRun[]; readonly room: number } {
  const start = runs.slice(0, Math.max(0, room));
  return { start, room: Math.max(0, room) - start.length };
}

/** Whether an outside run may be over soon. */
function youth(
  outside: readonly OpenRun[],
  { sinceEndMs, sharedMs }: SessionPace,
): (run: OpenRun) => boolean {
  const sinceClaimMs = outside.filter((run) => run.held).map((run) => run.openForMs);
  const isMoving = Math.min(sinceEndMs ?? Number.POSITIVE_INFINITY, ...sinceClaimMs) < movesForMs;
  const queuedAfterMs = Math.max(awaitQueuedAfterMs, sharedMs);
  return (run) => (run.held ? run.openForMs < awaitHeldAfterMs : isMoving || run.openForMs < queuedAfterMs);
}

/**
 * @param isAnyFresh some outside run is not awaited
 * @param later those that are to be awaited once they are old enough
 */
function reconcileInMs(
  isAnyFresh: boolean,
  isQueueLong: boolean,
  later: readonly OpenRun[],
  { unreportedEnds, sharedMs }: SessionPace,
): number | null {
  const isBusy = isAnyFresh && unreportedEnds >= (isQueueLong ? 1 : busyEnds);
  if (isBusy || (isQueueLong && later.length > 0)) return Math.max(reconcileBusyMs, sharedMs);
  if (later.length === 0) return null;
  // As long again as they have been open.
  const openForMs = Math.round(Math.min(...later.map((run) => run.openForMs)));
  return Math.max(Math.min(reconcileBusyMs, Math.max(reconcileAgainMs, openForMs)), sharedMs);
}

function droppedOf(open: readonly OpenRun[], awaited: ReadonlySet<string>): string[] {
  const openIds = new Set(open.map(idOf));
  return [...awaited].filter((id) => !openIds.has(id));
}

const idOf = ({ runId, attempt }: OpenAttempt) => attemptActivityId(runId, attempt);

function toOpenAttempt({ runId, attempt, maxAttempts, nodeName, builtin }: OpenRun): OpenAttempt {
  return { runId, attempt, maxAttempts, nodeName, builtin };
}
