/**
 * A lock with expiry: the calls that runners make about one run, and the states that each call may leave.
 *
 * Times are milliseconds of one clock. Where a rule goes by time, the moment of a call is known only as an interval;
 * the bounds are kept wide, so that a right history is never refused.
 */

export interface LockRules {
  readonly leaseMs: number;
  readonly maxAttempts: number;
  /** The lost lease that ends a run for good. */
  readonly maxLost: number;
  /** By how much a reading of the clock, rounded to whole milliseconds, may be off. */
  readonly slackMs: number;
}

interface Sent {
  readonly sentAt: number;
  /** Infinity: no answer came, or one that leaves open what happened. */
  readonly answeredAt: number;
}

export type LockCall = Sent &
  (
    | {
        readonly kind: 'claim';
        readonly taskId: string;
        readonly instance: string;
        readonly attempt: number;
        /** As in the answer. */
        readonly leaseUntil?: number;
      }
    /** A claim of the instance that did not get this run: it ends the claim that the instance holds. */
    | { readonly kind: 'claim-elsewhere'; readonly instance: string }
    /** A call that found the task held by its instance; the lease begins anew. */
    | {
        readonly kind: 'delivered';
        readonly taskId: string;
        readonly instance: string;
        readonly leaseUntil?: number;
      }
    | {
        readonly kind: 'heartbeat';
        readonly taskId: string;
        readonly instance: string;
        readonly outcome: 'kept' | 'refused' | 'unknown';
        readonly leaseUntil?: number;
      }
    | {
        readonly kind: 'end';
        readonly taskId: string;
        readonly instance: string;
        readonly how: 'complete' | 'fail' | 'fail-for-good' | 'release';
        /** `finished`: the answer was that the caller ended the task otherwise before. */
        readonly outcome: 'ended' | 'finished' | 'refused' | 'unknown';
        /** As in the answer to a failure. */
        readonly willRetry?: boolean;
      }
    /** The servers were away, and until this time leases that were alive then may have got one lease more. */
    | { readonly kind: 'prolonged'; readonly until: number }
    /** The final state: the run is done, in this attempt. */
    | { readonly kind: 'final'; readonly attempt: number }
  );

type Claim = Extract<LockCall, { kind: 'claim' }>;
type Heartbeat = Extract<LockCall, { kind: 'heartbeat' }>;
type End = Extract<LockCall, { kind: 'end' }>;
type Delivered = Extract<LockCall, { kind: 'delivered' }>;
type Held = Heartbeat | End | Delivered;

interface Hold {
  readonly taskId: string;
  readonly instance: string;
  /** A claim that was never used and then ended does not count as an attempt. */
  readonly used: boolean;
  /** Its answer never arrived, so the platform may have undone it. */
  readonly undoable: boolean;
  /** The lease was renewed last at some moment between these. */
  readonly renewedFrom: number;
  readonly renewedTo: number;
  /** A refusal has shown that the lease is over. */
  readonly over: boolean;
}

/** `hold` is null while the run waits to be claimed. */
export interface Lock {
  readonly done: boolean;
  readonly attempt: number;
  readonly lost: number;
  readonly hold: Hold | null;
  /** By task, who ended it and how: the same end again is answered as before. */
  readonly ends: Readonly<Record<string, string>>;
  /** No later call can have been before. */
  readonly now: number;
}

export const initial: Lock = { done: false, attempt: 1, lost: 0, hold: null, ends: {}, now: 0 };

/** The locks that the call may leave, its answer being right; none when it cannot be. */
export function step(lock: Lock, call: LockCall, rules: LockRules): Lock[] {
  const now = Math.max(lock.now, call.sentAt);
  if (now > call.answeredAt + rules.slackMs) return [];
  const at = { ...lock, now };
  switch (call.kind) {
    case 'claim':
      return [...silently(at, call, rules), ...givenUp(at, call.instance, rules)].flatMap((free) =>
        claimed(free, call, rules),
      );
    case 'claim-elsewhere':
      if (at.hold?.instance !== call.instance) return [at];
      return [...givenUp(at, call.instance, rules), ...silently(at, call, rules).filter(({ hold }) => !hold)];
    case 'heartbeat':
      return call.outcome === 'refused' ? refused(at, call, rules) : renewed(at, call, rules);
    case 'delivered':
      return renewed(at, call, rules);
    case 'end':
      return ended(at, call, rules);
    case 'prolonged':
      if (at.hold === null || now > call.until) return [];
      return [{ ...at, hold: { ...at.hold, renewedFrom: now, renewedTo: call.until, over: false } }];
    case 'final':
      return silently(at, call, rules).filter(({ done, attempt }) => done && attempt === call.attempt);
  }
}

/** The lock as it is, and as it may be before the call's moment without any call: lease over, or claim undone. */
function silently(lock: Lock, call: Sent, rules: LockRules): Lock[] {
  const { hold } = lock;
  if (hold === null) return [lock];
  const overAt = hold.renewedFrom + rules.leaseMs - rules.slackMs;
  const states = [lock];
  if (call.answeredAt >= overAt) states.push(lostLease({ ...lock, now: Math.max(lock.now, overAt) }, rules));
  if (hold.undoable) states.push({ ...lock, hold: null });
  return states;
}

function lostLease(lock: Lock, rules: LockRules): Lock {
  const isLast = lock.lost + 1 >= rules.maxLost || lock.attempt >= rules.maxAttempts;
  if (isLast) return { ...lock, hold: null, done: true };
  return { ...lock, hold: null, attempt: lock.attempt + 1, lost: lock.lost + 1 };
}

function givenUp(lock: Lock, instance: string, rules: LockRules): Lock[] {
  if (lock.hold?.instance !== instance) return [];
  return [lock.hold.used ? lostLease(lock, rules) : { ...lock, hold: null }];
}

function claimed(lock: Lock, call: Claim, rules: LockRules): Lock[] {
  if (lock.done || lock.hold !== null || lock.attempt !== call.attempt) return [];
  const moment = momentOf(Math.max(lock.now, call.sentAt), call.answeredAt, call.leaseUntil, rules);
  const { taskId, instance } = call;
  const undoable = call.answeredAt === Infinity;
  return moment.map((hold) => ({
    ...lock,
    hold: { taskId, instance, used: false, undoable, over: false, ...hold },
  }));
}

/** When a lease was renewed, between the bounds and by the answer; none when these exclude each other. */
function momentOf(from: number, to: number, leaseUntil: number | undefined, rules: LockRules) {
  const answered = leaseUntil === undefined ? undefined : leaseUntil - rules.leaseMs;
  const renewedFrom = answered === undefined ? from : Math.max(from, answered - rules.slackMs);
  const renewedTo = answered === undefined ? to : Math.min(to, answered + rules.slackMs);
  return renewedFrom <= renewedTo ? [{ renewedFrom, renewedTo }] : [];
}

function heldBy({ hold }: Lock, call: Held): Hold | undefined {
  return hold?.taskId === call.taskId && hold.instance === call.instance ? hold : undefined;
}

/** The claim of the caller whose lease may be alive at the earliest moment of the call. */
function aliveHold(lock: Lock, call: Held, rules: LockRules): Hold | undefined {
  const hold = heldBy(lock, call);
  return hold && !hold.over && lock.now < hold.renewedTo + rules.leaseMs + rules.slackMs ? hold : undefined;
}

function renewed(lock: Lock, call: Heartbeat | Delivered, rules: LockRules): Lock[] {
  const hold = aliveHold(lock, call, rules);
  if (hold === undefined) return [];
  const from = Math.max(lock.now, hold.renewedFrom);
  const to = Math.min(call.answeredAt, hold.renewedTo + rules.leaseMs + rules.slackMs);
  const moments = momentOf(from, to, call.leaseUntil, rules);
  const used = hold.used || call.kind === 'heartbeat';
  return moments.map((moment) => ({ ...lock, hold: { ...hold, ...moment, used, undoable: false } }));
}

/** Only a caller that does not hold the task is refused. */
function refused(lock: Lock, call: Heartbeat | End, rules: LockRules): Lock[] {
  const hold = heldBy(lock, call);
  if (hold === undefined || hold.over) return [lock];
  const overAt = hold.renewedFrom + rules.leaseMs - rules.slackMs;
  if (call.answeredAt < overAt) return [];
  return [{ ...lock, now: Math.max(lock.now, overAt), hold: { ...hold, over: true } }];
}

function ended(lock: Lock, call: End, rules: LockRules): Lock[] {
  const own = `${call.instance} ${call.how}`;
  const before = lock.ends[call.taskId];
  const endedItself = before?.startsWith(`${call.instance} `) === true;
  if (call.outcome === 'refused') return endedItself ? [] : refused(lock, call, rules);
  if (call.outcome === 'finished') return endedItself && before !== own ? [lock] : [];
  if (before === own) return [lock];
  if (aliveHold(lock, call, rules) === undefined) return [];
  const free = { ...lock, hold: null, ends: { ...lock.ends, [call.taskId]: own } };
  if (call.how === 'release') return [free];
  const isRetried = call.how === 'fail' && lock.attempt < rules.maxAttempts;
  if (call.willRetry !== undefined && call.willRetry !== isRetried) return [];
  return [isRetried ? { ...free, attempt: lock.attempt + 1 } : { ...free, done: true }];
}
