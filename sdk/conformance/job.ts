/** Work for the runner under test, as a scenario sees it. */
import type { RuleName } from './rules.ts';
import type { ArmedFault, FaultRule } from './server/faults.ts';
import {
  type Call,
  endingRoutes,
  handedOut,
  type Journal,
  outputRoutes,
  type RouteId,
  sideRoutes,
} from './server/journal.ts';
import type { Claim, Node, Output, Run } from './server/model.ts';

/** The parts of the stage that a job needs. */
export interface JobStage {
  readonly under: { readonly patienceMs: number };
  readonly baseline:
    | { readonly lastRead: { readonly route: RouteId; readonly count: number } | undefined }
    | undefined;
  readonly journal: Journal;
  readonly leaseMs: number;
  fault(rule: FaultRule): ArmedFault;
  found(rule: RuleName, saw: string): void;
  over(): never;
  skip(why: string): never;
  until(check: () => boolean, limitMs?: number): Promise<boolean>;
}

/** Offered work, and the runner's results. */
export class Job {
  readonly node: Node;
  readonly #stage: JobStage;

  constructor(stage: JobStage, node: Node) {
    this.#stage = stage;
    this.node = node;
  }

  get run(): Run {
    const run = this.node.runs.at(-1);
    if (run === undefined) throw new Error('The node has no run.');
    return run;
  }

  get claims(): readonly Claim[] {
    return this.node.runs.flatMap((run) => run.claims);
  }

  /** Calls for any task of this work, oldest first. */
  get calls(): Call[] {
    const ids = new Set(this.claims.map(({ taskId }) => taskId));
    return this.#stage.journal.calls.filter(({ taskId }) => taskId !== undefined && ids.has(taskId));
  }

  get published(): Output[] {
    return [...this.node.outputs.values()]
      .filter(({ publishedAs }) => publishedAs !== null)
      .sort((a, b) => (a.publishedAs ?? 0) - (b.publishedAs ?? 0));
  }

  /** SHA-256 of the published outputs, in an order independent of the order of writes. */
  get digests(): string[] {
    return this.published.map(({ sha256 }) => sha256).sort();
  }

  get isDone(): boolean {
    return this.run.state === 'done';
  }

  has(call: Call): boolean {
    return this.claims.some(({ taskId }) => taskId === call.taskId);
  }

  /** A matcher of calls for this work by their routes. */
  on(...routes: readonly Call['route'][]): (call: Call) => boolean {
    return (call) => this.has(call) && routes.includes(call.route);
  }

  readonly onOutput = (call: Call): boolean => this.has(call) && outputRoutes.includes(call.route);
  readonly onEnd = (call: Call): boolean => this.has(call) && endingRoutes.includes(call.route);

  /** Waits until the runner has claimed it and received the answer; ends the scenario when it does not. */
  async claimed(rule: 'never-claimed' | 'stopped-claiming' = 'never-claimed'): Promise<void> {
    const stage = this.#stage;
    const isClaimed = () => this.claims.some(({ taskId }) => wasNotified(stage, taskId));
    if (await stage.until(isClaimed)) return;
    const seconds = stage.under.patienceMs / 1_000;
    const claims = stage.journal.of('claim').length;
    stage.found(
      rule,
      `A task was ready for ${seconds} s and the runner did not claim it (${claims} claims in all).`,
    );
    stage.over();
  }

  /** Waits until the run has ended; ends the scenario when it does not, or is reported as failed. */
  async completed(rule: 'never-claimed' | 'stopped-claiming' = 'never-claimed'): Promise<void> {
    await this.claimed(rule);
    await this.ended();
    const stage = this.#stage;
    const failure = this.calls.find(({ route }) => route === 'fail');
    if (failure !== undefined) {
      const { category, reason } = (failure.json ?? {}) as {
        readonly category?: string;
        readonly reason?: string;
      };
      stage.found('task-failed', `The runner reported ${category}: ${reason}`);
      stage.over();
    }
  }

  /** Waits until the runner has ended an attempt; ends the scenario when it does not. */
  async ended(): Promise<void> {
    const stage = this.#stage;
    const isEnded = () => this.isDone || this.claims.some(({ end }) => end?.reply !== undefined);
    if (await stage.until(isEnded, stage.under.patienceMs + stage.leaseMs)) return;
    stage.found('task-not-ended', 'The task was claimed and never ended: no complete, fail or release came.');
    stage.over();
  }

  /** Matches the last read before the runner writes, as plain tasks showed it; else the first call but heartbeats. */
  #onLastRead(): (call: Call) => boolean {
    const { lastRead } = this.#stage.baseline ?? {};
    let seen = 0;
    return (call) => {
      if (!this.has(call) || sideRoutes.has(call.route)) return false;
      if (lastRead === undefined) return true;
      if (call.route === lastRead.route) seen += 1;
      return call.route === lastRead.route && seen === lastRead.count;
    };
  }

  /**
   * Delays the answer to the last call before the runner writes. Resolves when that call has arrived; ends the scenario
   * when none comes.
   */
  async held(): Promise<Held> {
    const stage = this.#stage;
    let release: () => void = () => undefined;
    const until = new Promise<void>((resolve) => {
      release = resolve;
    });
    const armed = stage.fault({ on: this.#onLastRead(), fault: { kind: 'hold', until } });
    await this.claimed();
    const hasEnded = () => this.claims.some(({ end }) => end !== undefined);
    if (!(await stage.until(() => armed.hits.length > 0 || hasEnded()))) {
      stage.found('task-not-ended', 'The task was claimed, and nothing but heartbeats came for it.');
      stage.over();
    }
    const [call] = armed.hits;
    const claim = this.claims.find(({ taskId }) => taskId === call?.taskId);
    if (call === undefined || claim === undefined)
      return stage.skip('the runner ended the task without the calls that it made for plain ones');
    return { call, claim, release };
  }
}

/** A call whose answer is delayed, and its task. */
export interface Held {
  readonly call: Call;
  readonly claim: Claim;
  readonly release: () => void;
}

/** Whether the answer that handed this task out reached the runner. */
export function wasNotified(stage: Pick<JobStage, 'journal'>, taskId: string): boolean {
  return stage.journal
    .of('claim', ...endingRoutes)
    .some((call) => call.answeredAtMs !== undefined && handedOut(call) === taskId);
}
