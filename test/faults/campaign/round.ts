/** One kind of fault, or several at once, on a busy platform; then the platform's data are checked. */
import { setTimeout as delay } from 'node:timers/promises';
import { inspect } from 'node:util';
import { Stalls } from '../../../sdk/conformance/stalls.ts';
import { eventually } from '../../support/eventually.ts';
import type { Random } from '../../support/random.ts';
import { Caller } from './caller.ts';
import { busySessions, checkRuns, checkSessions, checkUploads, comesToRest, type Judged } from './checks.ts';
import { exercises, revocations } from './exercises.ts';
import type { Fault, FaultContext, FaultKind } from './fault.ts';
import { Journal } from './journal.ts';
import type { CampaignPlatform } from './platform.ts';
import { convertsAgain, type Recovery, servesAgain } from './recovery.ts';
import { emptyRow, type Row, shareServed } from './report.ts';
import { CampaignRunner } from './runners.ts';
import { aimedShare, type CampaignSize, minForShare } from './sizes.ts';
import { makeStage, type Stage } from './stage.ts';
import { makeAndReprocess, Uploader, type Worker } from './uploads.ts';

const maxTries = 3;
const longStallMs = 1_000;

export interface RoundPlan {
  readonly platform: CampaignPlatform;
  readonly size: CampaignSize;
  readonly kinds: readonly FaultKind[];
  /** The numbers of the kinds: `7`, or `4+12`. */
  readonly label: string;
  /** Its place among the campaign's rounds, from 0 on. */
  readonly number: number;
  readonly isLast: boolean;
  readonly seed: number;
  readonly random: Random;
}

export class Round {
  readonly row: Row;
  readonly caller: Caller;
  readonly #plan: RoundPlan;
  readonly #journal: Journal;
  readonly #stage: Stage;
  readonly #stalls = new Stalls();
  /** Ends before the runners do: they process the uploads to their end. */
  readonly #uploading = new AbortController();
  readonly #over = new AbortController();
  /** The last faults are over. */
  #isEnding = false;

  private constructor(plan: RoundPlan, stage: Stage) {
    const { label, kinds, platform, random, size } = plan;
    this.#plan = plan;
    this.#stage = stage;
    this.row = emptyRow(label, kinds.map(({ name }) => name).join(' / '));
    this.#journal = new Journal(label);
    const patience = { limitMs: size.answerLimitMs, stalls: this.#stalls };
    this.caller = new Caller(platform.of('API'), random.fork('calls'), this.#journal, patience);
  }

  static async begin(plan: RoundPlan): Promise<Round> {
    return new Round(plan, await makeStage(plan.platform, `r${plan.number}`, plan.size.lanes));
  }

  /** All callers work until the last fault has ended and nothing runs. */
  async run(): Promise<void> {
    const startedAt = performance.now();
    const { size } = this.#plan;
    const leftBefore = new Set(await busySessions(this.#plan.platform));
    const runners = this.#runners();
    const people = Promise.all(this.#people());
    const working = Promise.all([people, ...runners.map((runner) => runner.run())]);
    working.catch(() => this.#end());
    try {
      await this.#faultsInTurn();
      await this.#converts();
      await this.#lastCalls();
      this.#uploading.abort();
      await people;
      await this.caller.settled();
      for (const runner of runners) runner.isTidy = true;
      const isAtRest = await comesToRest(this.#judged, leftBefore, size.restLimitMs);
      // The gates to the servers run in this process: while it judges histories, calls would hang.
      this.#end();
      await working;
      await this.#judge(isAtRest);
    } catch (error) {
      this.#end();
      await working.catch(() => undefined);
      this.#journal.find('stuck', `the round broke off: ${inspect(error)}`);
    } finally {
      this.#stalls.stop();
    }
    this.#count();
    this.row.seconds = (performance.now() - startedAt) / 1_000;
  }

  /** Again after later rounds: the acknowledged uploads of this round still exist, and a tenth of them is read again. */
  async checkUploadsAgain(): Promise<void> {
    const random = this.#plan.random.fork('again');
    await checkUploads(this.#judged, () => random.chance(0.1));
    this.#setFindings();
  }

  #end(): void {
    this.#uploading.abort();
    this.#over.abort();
  }

  get #judged(): Judged {
    return {
      platform: this.#plan.platform,
      stage: this.#stage,
      caller: this.caller,
      journal: this.#journal,
    };
  }

  #work(name: string): Worker {
    const { size } = this.#plan;
    return {
      stage: this.#stage,
      caller: this.caller,
      journal: this.#journal,
      random: this.#plan.random.fork(name),
      thinkMs: () => (this.#isEnding ? size.endThinkMs : size.thinkMs),
      over: this.#uploading.signal,
    };
  }

  #people(): Promise<void>[] {
    const { size, platform } = this.#plan;
    const aside = (name: string): Worker => {
      const thinkMs = () => (this.#isEnding ? size.endThinkMs : size.sideThinkMs);
      return { ...this.#work(name), thinkMs };
    };
    const uploaders = Array.from({ length: size.uploaders }, (_, at) =>
      new Uploader(this.#work(`uploader ${at}`), `u${at}`, size.toLanes).run(),
    );
    return [
      ...uploaders,
      makeAndReprocess(aside('sessions')),
      exercises(aside('exercises')),
      revocations(aside('tokens'), platform.of('API')),
    ];
  }

  #runners(): CampaignRunner[] {
    return Array.from({ length: this.#plan.size.runners }, (_, at) => {
      const work = { ...this.#work(`runner ${at}`), over: this.#over.signal };
      return new CampaignRunner(work, `runner-${at}`);
    });
  }

  async #faultsInTurn(): Promise<void> {
    const { size, kinds, random } = this.#plan;
    const { counts } = this.#journal;
    do {
      await delay(random.between(...size.pauseMs));
      await this.#faults();
      await this.#recovered();
    } while (
      !this.#over.signal.aborted &&
      (this.row.faults < size.faults * kinds.length || counts.acknowledged < size.acknowledged)
    );
  }

  /** All faults of the round at once; each ends by itself, in any order. */
  async #faults(): Promise<void> {
    const { tally } = this.caller;
    tally.phase = 'fault';
    const { faults } = this.row;
    await Promise.all(this.#plan.kinds.map((kind) => this.#fault(kind, faults)));
    tally.phase = 'recovery';
  }

  async #fault(kind: FaultKind, turn: number): Promise<void> {
    const { platform, random, seed, size } = this.#plan;
    const holdMs = random.between(...size.holdMs);
    const context: FaultContext = {
      platform,
      stage: this.#stage,
      random: random.fork(`${kind.number} ${turn}`),
      caller: this.caller,
      journal: this.#journal,
      holdMs,
      turn: turn + seed,
      isAlone: this.#plan.kinds.length === 1,
      size: size.name,
    };
    const fault = await this.#injected(kind, context);
    this.row.faults += 1;
    try {
      await delay(holdMs);
      this.row.felt += Number(await isFelt(fault, size.feltLimitMs));
    } finally {
      await fault.heal();
    }
  }

  /** While it lasts, one fault of a pair may prevent the injection of the other. */
  async #injected(kind: FaultKind, context: FaultContext): Promise<Fault> {
    const limitMs = context.isAlone ? 0 : this.#plan.size.recoveryLimitMs;
    return await eventually(`the fault ${kind.number}`, () => kind.inject(context), limitMs);
  }

  async #recovered(): Promise<void> {
    const { recoveryLimitMs, recoveryAimMs } = this.#plan.size;
    const recovery = await servesAgain(this.#plan.platform, this.#stage, recoveryLimitMs);
    this.caller.tally.phase = 'calm';
    this.#mustServe(recovery, recoveryAimMs);
    if (recovery.ms <= this.row.recoveryMs) return;
    this.row.recoveryMs = recovery.ms;
    this.row.slowest = recovery.slowest;
  }

  #mustServe({ ms, slowest }: Recovery, aimMs: number): void {
    if (ms === Number.POSITIVE_INFINITY) this.#journal.find('recovered', `${slowest} did not serve again`);
    else if (ms > aimMs)
      this.#journal.find('recovered', `${slowest} served again after ${(ms / 1_000).toFixed(1)} s`);
  }

  /** Built-in nodes are slow and wait for each other, so they have a limit and no aim. */
  async #converts(): Promise<void> {
    const { platform, size, isLast } = this.#plan;
    // It needs seconds, for which the suite has time once.
    if (size.name === 'small' && !isLast) return;
    const limit = size.recoveryLimitMs;
    this.#mustServe(await convertsAgain(platform, this.#stage, limit), limit);
  }

  /** After the last fault some calls of every family are made, and all are served. */
  async #lastCalls(): Promise<void> {
    const { lastCalls, restLimitMs } = this.#plan.size;
    const { tally } = this.caller;
    // Earlier calls may still meet the remains of the fault.
    await tally.untilOthersEnded();
    this.#isEnding = true;
    const isEnough = () => [...tally.last.values()].every((last) => last.length >= lastCalls);
    for (let tries = 1, isQuiet = false; tries <= maxTries && !isQuiet; tries += 1) {
      tally.forgetLast();
      const sinceMs = performance.now();
      const until = Date.now() + restLimitMs;
      while (!isEnough() && Date.now() < until && !this.#over.signal.aborted) await delay(20);
      // What a stalled machine refused is no fault of the platform.
      isQuiet = this.#stalls.within(sinceMs, performance.now()) < longStallMs;
    }
    const errors = JSON.stringify([...tally.errors]);
    for (const [family, last] of tally.last)
      if (last.length < lastCalls || last.includes(false))
        this.#journal.find(
          'recovered',
          `the last calls of ${family}: ${last}, errors of the round: ${errors}`,
        );
  }

  async #judge(isAtRest: boolean): Promise<void> {
    await checkUploads(this.#judged);
    await checkSessions(this.#judged);
    if (isAtRest) await checkRuns(this.#judged);
  }

  #count(): void {
    const { row } = this;
    const { acknowledged, ambiguous, staleCalls } = this.#journal.counts;
    const { made, duringFaults } = this.caller.tally;
    Object.assign(row, { operations: made, duringFaults, acknowledged, ambiguous, staleCalls });
    const share = shareServed(duringFaults);
    const { refused: _asPromised, ...judged } = duringFaults;
    const isEnough = Object.values(judged).reduce((sum, count) => sum + count, 0) >= minForShare;
    if (isEnough && share !== undefined && share < aimedShare)
      this.#journal.find('share', `${Math.round(100 * share)} % of the calls during faults were served`);
    this.#setFindings();
  }

  #setFindings(): void {
    this.row.findings.splice(0, Infinity, ...this.#journal.wrong);
  }
}

/** Some faults are felt only by a new call. */
async function isFelt(fault: Fault, limitMs: number): Promise<boolean> {
  const until = Date.now() + limitMs;
  for (;;) {
    if (fault.isFelt === undefined || (await Promise.resolve(fault.isFelt()).catch(() => false))) return true;
    if (Date.now() > until) return false;
    await delay(50);
  }
}
