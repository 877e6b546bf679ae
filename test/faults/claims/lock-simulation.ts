/**
 * Histories of a lock with expiry, simulated in virtual time: of a correct lock, and of locks with a known fault, to
 * test the judge of histories.
 */
import type { LockCall, LockRules } from './lock.ts';

export const defects = [
  'accepts writes after the lease',
  'accepts writes of a task that ended',
  'accepts the task of another instance',
  'hands out what is held',
  'hands out what is done',
  'hands out a task id again',
  'ends leases early',
  'counts no lost lease',
  'lets an instance keep what it held when it claims again',
  'answers a different end as the first',
  'forgets an end that it has answered',
  'refuses a holder',
  'tells a longer lease than it grants',
] as const;
export type Defect = (typeof defects)[number];

const instances = ['a', 'b', 'c'] as const;
const reapEveryMs = 300;
const lengthMs = 25_000;

type Request =
  | { readonly kind: 'claim'; readonly instance: string }
  | { readonly kind: 'heartbeat'; readonly instance: string; readonly taskId: string }
  | { readonly kind: 'end'; readonly instance: string; readonly taskId: string; readonly how: How };
type How = Extract<LockCall, { kind: 'end' }>['how'];
/** A call without its times. */
type Reply = LockCall extends infer Call
  ? Call extends LockCall
    ? Omit<Call, 'sentAt' | 'answeredAt'>
    : never
  : never;

interface Hold {
  readonly taskId: string;
  readonly instance: string;
  used: boolean;
  until: number;
}

class Server {
  attempt = 1;
  done = false;
  readonly #rules: LockRules;
  readonly #defect: Defect | undefined;
  readonly #random: () => number;
  readonly #ends = new Map<string, How>();
  #hold: Hold | undefined;
  #lost = 0;
  #handedOut = 0;

  constructor(rules: LockRules, random: () => number, defect: Defect | undefined) {
    this.#rules = rules;
    this.#random = random;
    this.#defect = defect;
  }

  answer(request: Request, now: number): Reply {
    switch (request.kind) {
      case 'claim':
        return this.#claim(request.instance, now);
      case 'heartbeat': {
        const hold = this.#held(request, now);
        if (hold === undefined) return { ...request, outcome: 'refused' };
        hold.used = true;
        hold.until = now + this.#rules.leaseMs;
        return { ...request, outcome: 'kept', leaseUntil: this.#answeredUntil(hold) };
      }
      case 'end':
        return { ...request, ...this.#end(request, now) };
    }
  }

  /** Ends the lease that is over. */
  reap(now: number): void {
    const early = this.#has('ends leases early') ? this.#rules.leaseMs * 0.3 : 0;
    if (this.#hold !== undefined && this.#hold.until - early <= now) this.#lose();
  }

  #has(defect: Defect): boolean {
    return this.#defect === defect;
  }

  #lose(): void {
    this.#hold = undefined;
    if (this.#has('counts no lost lease')) return;
    this.#lost += 1;
    if (this.#lost >= this.#rules.maxLost || this.attempt >= this.#rules.maxAttempts) this.done = true;
    else this.attempt += 1;
  }

  #claim(instance: string, now: number): Reply {
    if (
      this.#hold?.instance === instance &&
      !this.#has('lets an instance keep what it held when it claims again')
    ) {
      if (this.#hold.used) this.#lose();
      else this.#hold = undefined;
    }
    const isFree = this.#hold === undefined || this.#has('hands out what is held');
    const isOpen = !this.done || this.#has('hands out what is done');
    if (!isFree || !isOpen) return { kind: 'claim-elsewhere', instance };
    if (!this.#has('hands out a task id again') || this.#handedOut === 0) this.#handedOut += 1;
    const taskId = `task-${this.#handedOut}`;
    this.#hold = { taskId, instance, used: false, until: now + this.#rules.leaseMs };
    return {
      kind: 'claim',
      taskId,
      instance,
      attempt: this.attempt,
      leaseUntil: this.#answeredUntil(this.#hold),
    };
  }

  #answeredUntil({ until }: Hold): number {
    return Math.floor(until) + (this.#has('tells a longer lease than it grants') ? this.#rules.leaseMs : 0);
  }

  #held(request: Exclude<Request, { kind: 'claim' }>, now: number): Hold | undefined {
    if (this.#has('refuses a holder') && this.#random() < 0.2) return undefined;
    if (this.#has('accepts writes of a task that ended') && !this.done)
      return this.#hold ?? { ...request, used: true, until: now };
    const hold = this.#hold;
    if (hold?.taskId !== request.taskId) return undefined;
    if (hold.instance !== request.instance && !this.#has('accepts the task of another instance'))
      return undefined;
    return hold.until > now || this.#has('accepts writes after the lease') ? hold : undefined;
  }

  #end(request: Extract<Request, { kind: 'end' }>, now: number) {
    const before = this.#ends.get(`${request.taskId} ${request.instance}`);
    const isRepeat = before === request.how || this.#has('answers a different end as the first');
    if (before !== undefined) return { outcome: isRepeat ? 'ended' : 'finished' } as const;
    if (this.#held(request, now) === undefined) return { outcome: 'refused' } as const;
    if (this.#has('forgets an end that it has answered')) return { outcome: 'ended' } as const;
    this.#ends.set(`${request.taskId} ${request.instance}`, request.how);
    this.#hold = undefined;
    if (request.how === 'release') return { outcome: 'ended' } as const;
    const isRetried = request.how === 'fail' && this.attempt < this.#rules.maxAttempts;
    if (isRetried) this.attempt += 1;
    else this.done = true;
    return request.how === 'complete'
      ? ({ outcome: 'ended' } as const)
      : { outcome: 'ended' as const, willRetry: isRetried };
  }
}

/** What a runner knows. */
interface Runner {
  readonly instance: string;
  readonly tasks: string[];
}

/**
 * Three runners that behave badly at one run: they forget what they hold, come late, repeat themselves and try the
 * tasks of each other; some answers are lost, some calls are sent twice at once, and some last longer than a lease.
 * @param random numbers in [0, 1): the same numbers give the same history
 */
export function simulate(rules: LockRules, random: () => number, defect?: Defect): LockCall[] {
  const server = new Server(rules, random, defect);
  const history: LockCall[] = [];
  const events: Array<{ readonly at: number; readonly happen: () => void }> = [];
  const plan = (at: number, happen: () => void) => events.push({ at, happen });
  const runners: Runner[] = instances.map((instance) => ({ instance, tasks: [] }));

  /** @returns when the runner continues */
  function send(runner: Runner, request: Request, sentAt: number): number {
    const takesMs = random() < 0.08 ? random() * rules.leaseMs * 2 : random() * 40;
    const arrivesAt = sentAt + random() * takesMs;
    const isLost = random() < 0.1;
    const answeredAt = arrivesAt + random() * takesMs;
    plan(arrivesAt, () => {
      const reply = server.answer(request, arrivesAt);
      if (reply.kind === 'claim' && !isLost) runner.tasks.push(reply.taskId);
      history.push(asSeen(reply, sentAt, isLost ? Number.POSITIVE_INFINITY : answeredAt));
    });
    // A runner without an answer continues while the call may still be on its way.
    return isLost ? sentAt + random() * 60 : answeredAt;
  }

  function act(runner: Runner, sentAt: number): void {
    const request = nextRequest(runner, runners, random);
    const isRepeated = random() < 0.2;
    if (isRepeated) send(runner, request, sentAt);
    const goesOnAt = send(runner, request, sentAt);
    const pauseMs = random() < 0.15 ? random() * rules.leaseMs * 1.5 : random() * 300;
    if (goesOnAt + pauseMs < lengthMs) plan(goesOnAt + pauseMs, () => act(runner, goesOnAt + pauseMs));
  }

  for (const runner of runners) {
    const firstAt = random() * 50;
    plan(firstAt, () => act(runner, firstAt));
  }
  for (let at = reapEveryMs; at < lengthMs; at += reapEveryMs) plan(at, () => server.reap(at));
  while (events.length > 0) {
    events.sort((a, b) => b.at - a.at);
    events.pop()?.happen();
  }
  const end = lengthMs * 2;
  server.reap(end);
  if (server.done) history.push({ kind: 'final', attempt: server.attempt, sentAt: end, answeredAt: end + 1 });
  return history;
}

function nextRequest(runner: Runner, all: readonly Runner[], random: () => number): Request {
  const { instance } = runner;
  const others = all.flatMap(({ tasks }) => tasks);
  const pool = random() < 0.1 ? others : random() < 0.25 ? runner.tasks : runner.tasks.slice(-1);
  const taskId = pool[Math.floor(random() * pool.length)];
  if (taskId === undefined || random() < 0.3) return { kind: 'claim', instance };
  if (random() < 0.55) return { kind: 'heartbeat', instance, taskId };
  const hows: readonly How[] = ['release', 'release', 'fail', 'fail', 'fail-for-good', 'complete'];
  return { kind: 'end', instance, taskId, how: hows[Math.floor(random() * hows.length)]! };
}

/** Lost answers stay unknown. Times are whole milliseconds, as in real histories. */
function asSeen(reply: Reply, sentAt: number, answeredAt: number): LockCall {
  const times = { sentAt: Math.floor(sentAt), answeredAt: Math.floor(answeredAt) };
  if (answeredAt !== Number.POSITIVE_INFINITY) return { ...reply, ...times };
  switch (reply.kind) {
    case 'claim': {
      const { leaseUntil: _, ...known } = reply;
      return { ...known, ...times };
    }
    case 'heartbeat':
    case 'end':
      return {
        kind: reply.kind,
        taskId: reply.taskId,
        instance: reply.instance,
        ...(reply.kind === 'end' ? { how: reply.how } : {}),
        outcome: 'unknown',
        ...times,
      } as LockCall;
    default:
      return { ...reply, ...times };
  }
}
