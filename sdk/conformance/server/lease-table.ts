/** The queue of runs, claims and their leases, and waiting claims (contract: Runner rules 1, 2). */
import { randomUUID } from 'node:crypto';
import type { Claim, ClaimEnd, Run } from './model.ts';
import { Refusal } from './refusal.ts';

interface Waiter {
  readonly covers: ReadonlySet<string>;
  readonly instanceId: string;
  readonly answer: (claim: Claim | undefined) => void;
}

interface Instance {
  held: Claim | undefined;
  waiter: Waiter | undefined;
}

export interface ClaimRequest {
  readonly instanceId: string;
  readonly covers: ReadonlySet<string>;
  readonly waitMs: number;
  /** Aborted when the caller closes the connection. */
  readonly signal: AbortSignal;
}

export interface LeaseTableEvents {
  /** Called after every change. */
  readonly changed: () => void;
  /** A claim that was used ended without an outcome; its run is to be queued again or failed. */
  readonly lost: (run: Run) => void;
}

/** A whole lease from now on. */
function leaseEndMs(run: Run): number {
  return performance.now() + run.node.template.leaseSeconds * 1_000;
}

export class LeaseTable {
  /** Every claim ever made, by task id. */
  readonly claims = new Map<string, Claim>();
  readonly #events: LeaseTableEvents;
  readonly #queue: Run[] = [];
  readonly #instances = new Map<string, Instance>();
  /** In order of arrival. */
  readonly #waiters = new Map<Waiter, NodeJS.Timeout>();

  constructor(events: LeaseTableEvents) {
    this.#events = events;
  }

  /** Makes a run claimable; the first waiting claim that covers it gets it. */
  enqueue(run: Run): void {
    run.state = 'queued';
    this.#queue.push(run);
    for (const waiter of this.#waiters.keys()) {
      const claim = this.#nextClaim(waiter.instanceId, waiter.covers);
      if (claim !== undefined) waiter.answer(claim);
    }
    this.#events.changed();
  }

  #nextClaim(instanceId: string, covers: ReadonlySet<string>): Claim | undefined {
    const at = this.#queue.findIndex((run) => covers.has(run.node.template.name));
    const [run] = at < 0 ? [] : this.#queue.splice(at, 1);
    if (run === undefined) return undefined;
    const now = performance.now();
    const claim: Claim = {
      taskId: randomUUID(),
      run,
      attempt: run.attempt,
      instanceId,
      claimedAtMs: now,
      watermarkPosition: run.node.watermark.position,
      uploads: new Map(),
      log: [],
      logBytes: 0,
      rejections: new Map(),
      leaseUntilMs: leaseEndMs(run),
      used: false,
      unnamedOutputs: run.unnamedFrom,
      end: undefined,
      timer: undefined,
    };
    run.state = 'held';
    run.upperPosition ??= run.node.inputs.at(-1)?.position ?? 0;
    run.claims.push(claim);
    this.claims.set(claim.taskId, claim);
    this.#instance(instanceId).held = claim;
    this.#watchLease(claim);
    this.#events.changed();
    return claim;
  }

  #instance(instanceId: string): Instance {
    const known = this.#instances.get(instanceId) ?? { held: undefined, waiter: undefined };
    this.#instances.set(instanceId, known);
    return known;
  }

  /** The task that an instance holds. */
  heldBy(instanceId: string): Claim | undefined {
    return this.#instances.get(instanceId)?.held;
  }

  /** Claims that wait for a task. */
  get waiting(): number {
    return this.#waiters.size;
  }

  /**
   * Claims the oldest queued run, or waits for one. Answers an older waiting claim of the instance with nothing and
   * releases its task.
   */
  async claim(request: ClaimRequest): Promise<Claim | undefined> {
    const { instanceId, covers, waitMs, signal } = request;
    const instance = this.#instance(instanceId);
    instance.waiter?.answer(undefined);
    if (instance.held !== undefined) this.#releaseHeld(instance.held);
    const claim = this.#nextClaim(instanceId, covers);
    if (claim !== undefined || waitMs === 0) return claim;
    return await new Promise((resolve) => {
      const waiter: Waiter = {
        covers,
        instanceId,
        answer: (found) => {
          clearTimeout(this.#waiters.get(waiter));
          this.#waiters.delete(waiter);
          if (instance.waiter === waiter) instance.waiter = undefined;
          resolve(found);
        },
      };
      this.#waiters.set(
        waiter,
        setTimeout(() => waiter.answer(undefined), waitMs),
      );
      instance.waiter = waiter;
      signal.addEventListener('abort', () => waiter.answer(undefined), { once: true });
      this.#events.changed();
    });
  }

  /** Answers every waiting claim with nothing, like a stopping server. */
  dismiss(): void {
    for (const waiter of [...this.#waiters.keys()]) waiter.answer(undefined);
  }

  /** An instance ends: its waiting claim is answered with nothing. What it holds stays held. */
  signOff(instanceId: string): void {
    this.#instances.get(instanceId)?.waiter?.answer(undefined);
  }

  #releaseHeld(claim: Claim): void {
    this.end(claim, { how: 'given-up', atMs: performance.now() });
    if (claim.used) this.#events.lost(claim.run);
    else this.enqueue(claim.run);
  }

  /** Undoes a claim whose reply never reached its caller. */
  undo(claim: Claim): void {
    if (claim.end !== undefined) return;
    this.end(claim, { how: 'undone', atMs: performance.now() });
    this.enqueue(claim.run);
  }

  /** The held task of this caller, its lease renewed; throws the 404 for other callers. */
  touch(taskId: string, instanceId: string): Claim {
    const claim = this.claims.get(taskId);
    if (claim === undefined || !this.isHeld(claim) || claim.instanceId !== instanceId)
      throw new Refusal('taskNotFound');
    claim.used = true;
    claim.leaseUntilMs = leaseEndMs(claim.run);
    return claim;
  }

  isHeld(claim: Claim): boolean {
    return claim.end === undefined && claim.leaseUntilMs > performance.now();
  }

  #watchLease(claim: Claim): void {
    const look = () => {
      if (claim.end !== undefined) return;
      if (claim.leaseUntilMs > performance.now()) this.#watchLease(claim);
      else this.loseLease(claim);
    };
    claim.timer = setTimeout(look, Math.max(1, claim.leaseUntilMs - performance.now()));
  }

  /** Ends a claim as if its lease had ended; the run is queued again at once, or failed for good. */
  loseLease(claim: Claim): void {
    if (claim.end !== undefined) return;
    this.end(claim, { how: 'lost', atMs: performance.now() });
    this.#events.lost(claim.run);
  }

  end(claim: Claim, end: ClaimEnd): void {
    claim.end = end;
    clearTimeout(claim.timer);
    for (const upload of claim.uploads.values()) upload.parts.clear();
    const instance = this.#instance(claim.instanceId);
    if (instance.held === claim) instance.held = undefined;
    this.#events.changed();
  }

  /** Stops all timers and answers waiting claims. */
  close(): void {
    this.dismiss();
    for (const claim of this.claims.values()) clearTimeout(claim.timer);
  }
}
