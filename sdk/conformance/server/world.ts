/**
 * The runner contract over a state in memory: nodes with inputs, runs, claims, leases. One world serves one token. It
 * notifies its listeners of every change, so that no code has to poll it.
 */
import { createHash, randomUUID } from 'node:crypto';
import { LeaseTable } from './lease-table.ts';
import { limits } from './limits.ts';
import type { Claim, Input, Node, Run, RunOutcome, Template, WorldLimits } from './model.ts';
import { Refusal } from './refusal.ts';

export interface InputOffer {
  readonly bytes: Buffer;
  readonly contentType?: string | null;
  readonly contentEncoding?: 'gzip' | null;
  readonly outputIdentifier?: string;
  readonly metadata?: Record<string, unknown> | null;
  /** Inputs with the same group count as published together. */
  readonly group?: string;
}

export interface NodeOffer {
  readonly inputs: readonly InputOffer[];
  readonly configuration?: Record<string, unknown>;
  /** Default: the first registered template. */
  readonly template?: string;
}

export interface WorldOptions {
  readonly templates: readonly Template[];
  /** Known to the platform but not covered by the token. */
  readonly foreignTemplates?: readonly string[];
  readonly limits?: Partial<WorldLimits>;
}

const retryFirstDelayMs = 5_000;
const retryLongestDelayMs = 300_000;

export class World {
  readonly templates: ReadonlyMap<string, Template>;
  readonly foreignTemplates: ReadonlySet<string>;
  readonly limits: WorldLimits;
  readonly nodes: Node[] = [];
  readonly desk = new LeaseTable({ changed: () => this.changed(), lost: (run) => this.#afterLoss(run) });
  /** The address of an input for callers with `redirect=true`; absent: they get the bytes. */
  addressAtStore: ((input: Input) => string) | undefined;
  readonly #listeners = new Set<() => void>();
  readonly #timers = new Set<NodeJS.Timeout>();
  #lastId = 100;

  constructor(options: WorldOptions) {
    this.templates = new Map(options.templates.map((template) => [template.name, template]));
    this.foreignTemplates = new Set(options.foreignTemplates);
    this.limits = {
      leaseSeconds: limits.leaseSeconds,
      inputsPerTask: limits.inputsPerTask,
      outputBytes: limits.outputBytes,
      partMinBytes: limits.partMinBytes,
      partMaxBytes: limits.partMaxBytes,
      inputsPage: null,
      retryDelayMs: null,
      ...options.limits,
    };
  }

  /** Calls `listener` after every change. Returns the function that removes it. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  changed(): void {
    for (const listener of this.#listeners) listener();
  }

  nextId(): number {
    this.#lastId += 1;
    return this.#lastId;
  }

  /** A node in its own session whose parent has these outputs; with inputs it is queued at once. */
  offer(offer: NodeOffer): Node {
    const name = offer.template ?? [...this.templates.keys()][0] ?? '';
    const template = this.templates.get(name);
    if (template === undefined) throw new Error(`There is no template '${name}'.`);
    const node: Node = {
      template,
      sessionId: randomUUID(),
      nodeInstanceId: this.nextId(),
      name: 'under-test',
      parentId: this.nextId(),
      parentName: 'input',
      configuration: offer.configuration ?? {},
      inputs: [],
      outputs: new Map(),
      runs: [],
      watermark: { position: 0, outputId: null },
      state: null,
      rejected: [],
      consumedPosition: 0,
      followUpWanted: false,
    };
    this.nodes.push(node);
    for (const input of offer.inputs) this.#append(node, input);
    this.plan(node);
    return node;
  }

  /** One more output of the node's parent. */
  publish(node: Node, offer: InputOffer): Input {
    const input = this.#append(node, offer);
    this.plan(node);
    return input;
  }

  #append(node: Node, offer: InputOffer): Input {
    const position = (node.inputs.at(-1)?.position ?? 0) + 1;
    const input: Input = {
      outputId: this.nextId(),
      position,
      group: offer.group ?? `upload-${position}`,
      outputIdentifier: offer.outputIdentifier ?? `input-${position}`,
      contentType: offer.contentType ?? null,
      contentEncoding: offer.contentEncoding ?? null,
      bytes: offer.bytes,
      sha256: createHash('sha256').update(offer.bytes).digest('hex'),
      metadata: offer.metadata ?? null,
      createdAt: new Date().toISOString(),
    };
    node.inputs.push(input);
    return input;
  }

  /** Makes a run of the node when one is due: for a wanted follow-up, or for new inputs above its consumed ones. */
  plan(node: Node): Run | undefined {
    if (node.runs.some((run) => run.state !== 'done')) return undefined;
    const newest = node.inputs.at(-1)?.position ?? 0;
    if (!node.followUpWanted && newest <= node.consumedPosition) return undefined;
    const run: Run = {
      runId: randomUUID(),
      node,
      reason: node.followUpWanted ? 'follow-up' : 'input',
      claims: [],
      state: 'queued',
      attempt: 1,
      upperPosition: undefined,
      lostCount: 0,
      releaseCount: 0,
      cancelRequested: false,
      wroteOutput: false,
      unnamedFrom: 0,
      outcome: undefined,
    };
    node.followUpWanted = false;
    node.runs.push(run);
    this.desk.enqueue(run);
    return run;
  }

  /** Queues the run again after a time. */
  #enqueueLater(run: Run, delayMs: number): void {
    if (delayMs === 0) {
      this.desk.enqueue(run);
      return;
    }
    run.state = 'waiting';
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      if (run.state === 'waiting') this.desk.enqueue(run);
    }, delayMs);
    this.#timers.add(timer);
    this.changed();
  }

  /**
   * The templates that a claim covers: those it names, or all.
   * @throws Refusal `templateUnknown`, `templateNotAllowed`
   */
  covered(names: readonly string[]): ReadonlySet<string> {
    for (const name of names) {
      if (this.templates.has(name)) continue;
      if (this.foreignTemplates.has(name)) throw new Refusal('templateNotAllowed');
      throw new Refusal('templateUnknown', { message: `Node template '${name}' is not registered.` });
    }
    return new Set(names.length === 0 ? this.templates.keys() : names);
  }

  /** Ends a claim as if its lease had ended and another runner had done the work meanwhile. */
  revokeLease(claim: Claim): void {
    if (claim.end !== undefined) return;
    this.desk.end(claim, { how: 'lost', atMs: performance.now() });
    this.finish(claim.run, 'elsewhere');
  }

  /** Ends a claim and its run with it, as the third lost lease does. */
  loseForGood(claim: Claim): void {
    claim.run.lostCount = limits.lostLeases - 1;
    this.desk.loseLease(claim);
  }

  /** Retries a failed run, as an operator does. */
  retry(run: Run): void {
    run.outcome = undefined;
    run.lostCount = 0;
    run.attempt += 1;
    this.desk.enqueue(run);
  }

  #afterLoss(run: Run): void {
    const isLast = run.lostCount + 1 >= limits.lostLeases || run.attempt >= run.node.template.maxAttempts;
    run.lostCount += 1;
    if (run.cancelRequested) return void this.finish(run, 'cancelled');
    if (isLast) return void this.finish(run, 'failed');
    run.attempt += 1;
    this.desk.enqueue(run);
  }

  /** The run is retried after its back-off. Returns the time of the retry. */
  retryLater(run: Run): Date {
    const fullMs = Math.min(retryLongestDelayMs, retryFirstDelayMs * 2 ** (run.attempt - 1));
    const delayMs = this.limits.retryDelayMs ?? Math.round(fullMs * (1 - Math.random() / 2));
    run.attempt += 1;
    this.#enqueueLater(run, delayMs);
    return new Date(Date.now() + delayMs);
  }

  /** A released run may be claimed at once, from its third release on after 1, 2, 4 ... 60 seconds. */
  requeueReleased(run: Run): void {
    run.releaseCount += 1;
    const delayMs = run.releaseCount < 3 ? 0 : Math.min(60_000, 1_000 * 2 ** (run.releaseCount - 3));
    this.#enqueueLater(run, delayMs);
  }

  /** Ends a run for good and plans the next one. Returns true when the node already has its next run. */
  finish(run: Run, outcome: RunOutcome): boolean {
    const { node } = run;
    run.state = 'done';
    run.outcome = outcome;
    for (const [identifier, output] of node.outputs)
      if (output.runId === run.runId && output.publishedAs === null) node.outputs.delete(identifier);
    const upper = run.upperPosition ?? 0;
    node.consumedPosition = Math.max(node.consumedPosition, upper);
    const isSuccess = outcome === 'completed' || outcome === 'no-output';
    if (isSuccess && !node.template.incremental && upper > node.watermark.position) {
      const last = node.inputs.findLast((input) => input.position <= upper);
      node.watermark = { position: upper, outputId: last?.outputId ?? null };
    }
    const next = this.plan(node);
    this.changed();
    return next !== undefined;
  }

  /** Stops all timers and answers waiting claims. */
  close(): void {
    for (const timer of this.#timers) clearTimeout(timer);
    this.desk.close();
  }
}
