/**
 * Claims that wait for a task. None of them holds a database connection.
 *
 * A notification wakes one idle waiter that covers the template; with none idle, a busy one tries once more. A wake
 * passes on to the next waiter unless a try for it found nothing: PostgreSQL folds equal notifications of one
 * transaction, so one wake may mean many tasks.
 */
import { strict as assert } from 'node:assert';
import type { Logger } from 'pino';
import type { Database } from '../../../store/connection/database.ts';
import type { Listener } from '../../../store/connection/listener.ts';
import type { RunnerIdentity } from '../../../store/runners/holder.ts';
import { checkQueue, queueListener, type WaitingClaim } from '../../../store/runs/queue.ts';
import type { Coverage, TemplateCatalogue } from './template-catalogue.ts';

const checkEveryMs = 1_000;

/** Why a waiting claim ends without a task. All are answered with 204. */
export type WaitEnd = 'timeout' | 'replaced' | 'gone' | 'stopping';

export interface WaitRequest extends WaitingClaim {
  readonly coverage: Coverage;
  readonly waitSeconds: number;
  /** As it was when the claim arrived. */
  readonly drained: boolean;
  /** Aborted when the caller hangs up. */
  readonly signal: AbortSignal;
  /** Aborted when the process begins to stop. */
  readonly shutdown: AbortSignal;
}

/**
 * `busy`: its claim is being tried, or will be tried again. `idle`: it waits; `resume` continues it. `over`: it is
 * answered, with a task when there is no `end`.
 *
 *     busy -> idle    next, without a wake
 *     idle -> busy    wake
 *     idle -> over    finish
 *     busy -> over    finish, leave
 */
type WaiterState =
  | { readonly is: 'busy' }
  | { readonly is: 'idle'; readonly resume: () => void }
  | { readonly is: 'over'; readonly end: WaitEnd | undefined };

/**
 * One waiting claim. It begins busy; {@link TaskWaiter.next} makes it idle, {@link TaskWaiter.foundNothing} follows
 * each failed try, and {@link TaskWaiter.leave} ends it, with or without a task.
 */
export class TaskWaiter {
  readonly request: WaitRequest;
  readonly #onLeave: (waiter: TaskWaiter, unanswered: readonly string[]) => void;
  readonly #timer: NodeJS.Timeout;
  #state: WaiterState = { is: 'busy' };
  /** Whether its instance is drained, in any state of the waiter: it gets no wake, and waits for its timeout. */
  isDrained: boolean;
  /** The template of a pending wake. */
  #wake: string | undefined;
  /** The template of the wake that is being tried. */
  #trying: string | undefined;

  constructor(request: WaitRequest, onLeave: (waiter: TaskWaiter, unanswered: readonly string[]) => void) {
    this.request = request;
    this.isDrained = request.drained;
    this.#onLeave = onLeave;
    this.#timer = setTimeout(() => this.finish('timeout'), request.waitSeconds * 1_000);
    request.signal.addEventListener('abort', this.#onHangUp, { once: true });
    if (request.signal.aborted) this.#onHangUp();
  }

  get isIdle(): boolean {
    return this.#state.is === 'idle';
  }

  /** True when it has no pending wake and is not over. */
  get isWakeable(): boolean {
    return this.#state.is !== 'over' && this.#wake === undefined && !this.isDrained;
  }

  get end(): WaitEnd | undefined {
    return this.#state.is === 'over' ? this.#state.end : undefined;
  }

  /** Resolves with true when the claim should be tried again, with false when it is over. */
  async next(): Promise<boolean> {
    assert.notEqual(this.#state.is, 'idle', 'A claim waits once at a time.');
    if (this.#state.is === 'busy' && this.#wake === undefined) {
      await new Promise<void>((resume) => {
        this.#state = { is: 'idle', resume };
      });
    }
    if (this.#state.is === 'over') return false;
    this.#trying = this.#wake;
    this.#wake = undefined;
    return true;
  }

  wake(template: string): void {
    assert.notEqual(this.#state.is, 'over', 'An answered claim is not woken.');
    this.#wake = template;
    if (this.#state.is === 'idle') this.#leaveIdle({ is: 'busy' });
  }

  /** The first end counts. */
  finish(end: WaitEnd): void {
    if (this.#state.is === 'idle') this.#leaveIdle({ is: 'over', end });
    else if (this.#state.is === 'busy') this.#state = { is: 'over', end };
  }

  foundNothing(): void {
    assert.notEqual(this.#state.is, 'idle', 'An idle claim is not tried.');
    this.#trying = undefined;
  }

  leave(): void {
    assert.notEqual(this.#state.is, 'idle', 'A claim that waits is not answered.');
    if (this.#state.is === 'busy') this.#state = { is: 'over', end: undefined };
    clearTimeout(this.#timer);
    this.request.signal.removeEventListener('abort', this.#onHangUp);
    this.#onLeave(
      this,
      [this.#trying, this.#wake].filter((template) => template !== undefined),
    );
  }

  #leaveIdle(next: WaiterState): void {
    assert(this.#state.is === 'idle');
    const { resume } = this.#state;
    this.#state = next;
    resume();
  }

  readonly #onHangUp = (): void => this.finish('gone');
}

export class TaskWaiters {
  readonly #listener: Listener;
  readonly #catalogue: TemplateCatalogue;
  /** In order of arrival. */
  readonly #waiters = new Set<TaskWaiter>();
  readonly #byInstance = new Map<string, TaskWaiter>();
  readonly #shutdowns = new WeakSet<AbortSignal>();
  #timer: NodeJS.Timeout | undefined;
  #isChecking = false;

  constructor(database: Database, catalogue: TemplateCatalogue, log: Logger) {
    this.#catalogue = catalogue;
    this.#listener = queueListener(database, {
      ready: (template) => this.#onReady(template),
      runnersChanged: () => void this.#check(),
      connected: () => void this.#check(),
      lost: (error) => log.warn({ err: error }, 'the connection that listens for queued tasks broke'),
    });
  }

  /** Claims that wait here. */
  get count(): number {
    return this.#waiters.size;
  }

  /** The runner instances of these claims. */
  get identities(): readonly RunnerIdentity[] {
    return [...this.#waiters].map((waiter) => waiter.request.identity);
  }

  /** The waiting claims that are not being tried just now. */
  get idleCount(): number {
    return [...this.#waiters].filter((waiter) => waiter.isIdle).length;
  }

  /** The waiting claims whose instance is drained. */
  get drainedCount(): number {
    return [...this.#waiters].filter((waiter) => waiter.isDrained).length;
  }

  /** Connects, so that the first waiting claim finds an open connection. Safe to call again. */
  listen(): void {
    this.#listener.start();
  }

  /** Registers a waiting claim; tasks that become ready after this call wake it. */
  enter(request: WaitRequest): TaskWaiter {
    this.listen();
    this.#onShutdown(request.shutdown);
    const waiter = new TaskWaiter(request, this.#onLeave);
    if (request.shutdown.aborted) waiter.finish('stopping');
    this.replaceOlder(request);
    const key = keyOf(request);
    if (this.#byInstance.has(key)) waiter.finish('replaced');
    else this.#byInstance.set(key, waiter);
    this.#waiters.add(waiter);
    this.#timer ??= setInterval(() => void this.#check(), checkEveryMs).unref();
    return waiter;
  }

  /** A newer claim of an instance ends the one that waits. */
  replaceOlder(claim: WaitingClaim): void {
    const key = keyOf(claim);
    const older = this.#byInstance.get(key);
    if (older === undefined || older.request.claimSeq >= claim.claimSeq) return;
    this.#byInstance.delete(key);
    older.finish('replaced');
  }

  /** Answers all waiting claims and closes the connection. */
  async stop(): Promise<void> {
    this.#answerAll();
    clearInterval(this.#timer);
    await this.#listener.stop();
  }

  #onShutdown(shutdown: AbortSignal): void {
    if (this.#shutdowns.has(shutdown)) return;
    this.#shutdowns.add(shutdown);
    shutdown.addEventListener('abort', () => this.#answerAll(), { once: true });
  }

  #answerAll(): void {
    for (const waiter of this.#waiters) waiter.finish('stopping');
  }

  readonly #onLeave = (waiter: TaskWaiter, unanswered: readonly string[]): void => {
    this.#waiters.delete(waiter);
    const key = keyOf(waiter.request);
    if (this.#byInstance.get(key) === waiter) this.#byInstance.delete(key);
    if (this.#waiters.size === 0) {
      clearInterval(this.#timer);
      this.#timer = undefined;
    }
    for (const template of unanswered) this.#wakeOne(template);
  };

  #onReady(template: string): void {
    if (this.#waiters.size === 0) return;
    if (this.#catalogue.current.byName.has(template)) this.#wakeOne(template);
    // Registered a moment ago: claims for all templates cover it as soon as it is known.
    else
      void this.#catalogue.load(0).then(
        () => this.#wakeOne(template),
        () => undefined,
      );
  }

  #wakeOne(template: string): void {
    let busy: TaskWaiter | undefined;
    for (const waiter of this.#waiters) {
      if (!waiter.isWakeable || !waiter.request.coverage.covers(template)) continue;
      if (waiter.isIdle) {
        waiter.wake(template);
        return;
      }
      busy ??= waiter;
    }
    busy?.wake(template);
  }

  /**
   * Finds what missed notifications hid: queued tasks, claims that a newer one at another process replaced, and
   * instances whose drain began or ended.
   */
  async #check(): Promise<void> {
    if (this.#isChecking || this.#waiters.size === 0) return;
    this.#isChecking = true;
    try {
      const waiters = [...this.#waiters];
      if (waiters.some((waiter) => waiter.request.coverage.coversAll)) await this.#catalogue.load();
      const templates = new Set(waiters.flatMap((waiter) => waiter.request.coverage.names()));
      const requests = waiters.map((waiter) => waiter.request);
      const found = await checkQueue(this.#listener, [...templates], requests);
      for (const place of found.outdated) waiters[place]?.finish('replaced');
      const drained = new Set(found.drained);
      for (const [place, waiter] of waiters.entries()) waiter.isDrained = drained.has(place);
      for (const template of found.ready) this.#wakeOne(template);
    } catch {
      // The database does not answer; the next check follows in a second.
    } finally {
      this.#isChecking = false;
    }
  }
}

function keyOf({ identity }: WaitingClaim): string {
  return `${identity.holder}\n${identity.instanceId}`;
}
