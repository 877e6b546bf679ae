/** The environment of a scenario: a server with faults, one runner, and a list of findings. */
import { setTimeout as delay } from 'node:timers/promises';
import { Job } from './job.ts';
import { type Finding, type RuleName, rules } from './rules.ts';
import { type RunnerCommand, RunnerProcess } from './runner-process.ts';
import type { ArmedFault, FaultRule } from './server/faults.ts';
import type { Journal, RouteId } from './server/journal.ts';
import { heartbeatIntervalSeconds } from './server/limits.ts';
import type { WorldLimits } from './server/model.ts';
import { ContractServer, type ServerOptions } from './server/server.ts';
import { Store } from './server/store.ts';
import type { InputOffer } from './server/world.ts';
import { Stalls } from './stalls.ts';

/** The author's options for the runner and its node template. */
export interface RunnerUnderTest extends RunnerCommand {
  readonly template: string;
  readonly incremental: boolean;
  readonly configuration: Record<string, unknown>;
  readonly inputs: readonly InputOffer[];
  /** On these the runner is expected to report a failure; absent: an input that is gone. */
  readonly failing: {
    readonly inputs?: readonly InputOffer[];
    readonly configuration?: Record<string, unknown>;
  };
  readonly leaseSeconds: number;
  /** How long to wait for an expected call. */
  readonly patienceMs: number;
  /** How long to wait for a runner to end after SIGTERM. */
  readonly graceMs: number;
  /** Further environment of the command. */
  readonly environment: Readonly<Record<string, string>>;
}

/** The runner's result for its plain input, for comparison. */
export interface Baseline {
  /** SHA-256 of the outputs in order; undefined when two runs over the same input differ. */
  readonly digests: readonly string[] | undefined;
  /** The number of outputs; undefined when the two runs differ in that too. */
  readonly outputCount: number | undefined;
  readonly maxOutputBytes: number;
  /** The last route that it read before it wrote, and the number of these calls; undefined when it reads nothing. */
  readonly lastRead: { readonly route: RouteId; readonly count: number } | undefined;
}

export class ScenarioOver extends Error {
  readonly skipped: string | undefined;
  constructor(skipped?: string) {
    super(skipped ?? 'over');
    this.skipped = skipped;
  }
}

export interface StageOptions {
  readonly limits?: Partial<WorldLimits>;
}

/** How long a runner may load before its first claim: its interpreter, its packages, its model. */
const startLimitMs = 60_000;

export class Stage {
  readonly server: ContractServer;
  readonly under: RunnerUnderTest;
  readonly baseline: Baseline | undefined;
  readonly findings: Finding[] = [];
  /** Observations for the author that break no rule. */
  readonly notes: string[] = [];
  readonly startedAtMs = performance.now();
  readonly stalls = new Stalls();
  /** From then on a missing heartbeat is not a fault. */
  heartbeatsJudgedUntilMs = Number.POSITIVE_INFINITY;
  /** The longest time without a call for a held task. */
  maxSilenceMs: number;
  readonly #serverOptions: ServerOptions;
  readonly #copies: { readonly server: ContractServer; readonly runner: RunnerProcess }[] = [];
  /** What has been started: its calls, and since when it runs. */
  readonly #starts: { readonly journal: Journal; readonly runner: RunnerProcess; readonly atMs: number }[] =
    [];
  #runner: RunnerProcess | undefined;
  #store: Store | undefined;
  #mayEnd = false;

  private constructor(
    server: ContractServer,
    serverOptions: ServerOptions,
    under: RunnerUnderTest,
    baseline: Baseline | undefined,
  ) {
    this.server = server;
    this.#serverOptions = serverOptions;
    this.under = under;
    this.baseline = baseline;
    this.maxSilenceMs = (under.leaseSeconds * 1_000) / 2;
  }

  static async open(
    under: RunnerUnderTest,
    baseline: Baseline | undefined,
    options: StageOptions,
  ): Promise<Stage> {
    const { template, incremental, leaseSeconds } = under;
    const serverOptions = {
      templates: [{ name: template, incremental, maxAttempts: 3, leaseSeconds }],
      limits: { leaseSeconds, ...options.limits },
    };
    return new Stage(await ContractServer.start(serverOptions), serverOptions, under, baseline);
  }

  async close(): Promise<void> {
    this.stalls.stop();
    const runners = [this.#runner, ...this.#copies.map(({ runner }) => runner)];
    await Promise.all(runners.map((runner) => runner?.kill()));
    const servers = [this.server, this.#store, ...this.#copies.map(({ server }) => server)];
    await Promise.all(servers.map((each) => each?.close()));
  }

  get world() {
    return this.server.world;
  }

  get journal() {
    return this.server.journal;
  }

  get runner(): RunnerProcess {
    if (this.#runner === undefined) throw new Error('The runner was not started.');
    return this.#runner;
  }

  get leaseMs(): number {
    return this.under.leaseSeconds * 1_000;
  }

  get heartbeatIntervalMs(): number {
    return heartbeatIntervalSeconds(this.under.leaseSeconds) * 1_000;
  }

  /** Records a finding, once for each rule. */
  found(rule: RuleName, saw: string): void {
    if (!this.findings.some((finding) => finding.rule === rule))
      this.findings.push({ rule, level: rules[rule].level, saw });
  }

  note(saw: string): void {
    this.notes.push(saw);
  }

  has(rule: RuleName): boolean {
    return this.findings.some((finding) => finding.rule === rule);
  }

  /** Ends the scenario with the findings so far. */
  over(): never {
    throw new ScenarioOver();
  }

  /** Ends the scenario as not applicable to this runner. */
  skip(why: string): never {
    throw new ScenarioOver(why);
  }

  fault(rule: FaultRule): ArmedFault {
    return this.server.faults.add(rule);
  }

  /** Offers work to the runner: a node with these inputs, else with the author's. */
  offer(inputs: readonly InputOffer[] = this.under.inputs, configuration = this.under.configuration): Job {
    return new Job(this, this.world.offer({ inputs, configuration }));
  }

  /** From now on runners that ask with `redirect=true` are sent to a store. */
  async openStore(): Promise<Store> {
    const store = await Store.start();
    this.#store = store;
    this.world.addressAtStore = (input) => store.addressOf(input);
    return store;
  }

  start(): void {
    this.#runner = this.#runOn(this.server);
  }

  /**
   * Starts the command once more. The copy has its own server, so that its calls do not mix with those of the
   * first; its environment differs in the address alone.
   */
  async startCopy(): Promise<Journal> {
    const server = await ContractServer.start({ ...this.#serverOptions, token: this.server.token });
    server.world.onChange(() => this.world.changed());
    this.#copies.push({ server, runner: this.#runOn(server) });
    return server.journal;
  }

  #runOn(server: ContractServer): RunnerProcess {
    const settings = { SDP_URL: server.url, SDP_RUNNER_TOKEN: server.token };
    const environment = { ...this.under.environment, ...settings };
    const runner = new RunnerProcess(this.under, environment, () => this.world.changed());
    this.#starts.push({ journal: server.journal, runner, atMs: performance.now() });
    return runner;
  }

  /** From now on the runner may end. */
  allowEnd(): void {
    this.#mayEnd = true;
  }

  /**
   * Waits until `check` holds; false when it does not within `limitMs`, in which the start of the runner does not count. A
   * runner that ends meanwhile without permission ends the scenario with a finding.
   */
  async until(check: () => boolean, limitMs: number = this.under.patienceMs): Promise<boolean> {
    let untilMs = performance.now() + limitMs;
    for (;;) {
      if (check()) return true;
      if (!this.#mayEnd) this.#endWithRunner();
      if (this.#isStarting) untilMs = performance.now() + limitMs;
      const leftMs = untilMs - performance.now();
      if (leftMs <= 0) return false;
      await this.#change(Math.min(leftMs, 100));
    }
  }

  /** Lets time pass for the runner. */
  async pause(timeMs: number): Promise<void> {
    await this.until(() => false, timeMs);
  }

  get #isStarting(): boolean {
    const now = performance.now();
    return this.#starts.some(
      ({ journal, runner, atMs }) =>
        runner.exit === undefined && now - atMs < startLimitMs && journal.of('claim').length === 0,
    );
  }

  #endWithRunner(): void {
    const exit = this.#runner?.exit;
    if (exit === undefined) return;
    const how = exit.signal === null ? `with exit code ${exit.code}` : `by ${exit.signal}`;
    this.found('runner-ended', `The runner ended by itself ${how}.`);
    this.over();
  }

  async #change(maxMs: number): Promise<void> {
    const stop = new AbortController();
    const off = this.world.onChange(() => stop.abort());
    await delay(maxMs, undefined, { signal: stop.signal }).catch(() => undefined);
    off();
  }
}
