/** A campaign: every kind of fault alone, then pairs of them, on a platform at work; then what it has kept is judged. */
import { setTimeout as delay } from 'node:timers/promises';
import { Caller, Tally } from './caller.ts';
import { checkRuns, checkSessions, checkUploads, comesToRest, type Judged } from './checks.ts';
import { exercises, revocations } from './exercises.ts';
import type { FaultContext, FaultKind } from './fault.ts';
import { type Finding, Journal } from './journal.ts';
import type { CampaignPlatform } from './platform.ts';
import { Random } from './random.ts';
import { servesAgain } from './recovery.ts';
import { CampaignRunner } from './runners.ts';
import { makeStage, type Stage, signIn } from './stage.ts';
import { makeAndReprocess, Uploader, type Worker } from './uploads.ts';

export interface CampaignSize {
  readonly name: 'small' | 'full';
  readonly uploaders: number;
  readonly runners: number;
  readonly lanes: number;
  /** How long a fault stays, in milliseconds. */
  readonly holdMs: readonly [number, number];
  readonly pauseMs: readonly [number, number];
  /** A round of a kind ends with so many acknowledged uploads and so many faults. */
  readonly acknowledged: number;
  readonly faults: number;
  readonly thinkMs: number;
  readonly answerLimitMs: number;
  readonly recoveryLimitMs: number;
  readonly restLimitMs: number;
  /** Of each family, after the last fault. */
  readonly lastCalls: number;
}

export const sizes: Readonly<Record<CampaignSize['name'], CampaignSize>> = {
  small: {
    name: 'small',
    uploaders: 3,
    runners: 3,
    lanes: 2,
    holdMs: [500, 900],
    pauseMs: [50, 150],
    acknowledged: 5,
    faults: 1,
    thinkMs: 150,
    answerLimitMs: 8_000,
    recoveryLimitMs: 40_000,
    restLimitMs: 60_000,
    lastCalls: 2,
  },
  full: {
    name: 'full',
    uploaders: 12,
    runners: 8,
    lanes: 6,
    holdMs: [2_000, 8_000],
    pauseMs: [1_000, 3_000],
    acknowledged: 5_000,
    faults: 6,
    thinkMs: 5,
    answerLimitMs: 10_000,
    recoveryLimitMs: 90_000,
    restLimitMs: 180_000,
    lastCalls: 20,
  },
};

/** What one kind, or one pair, came to. */
export interface Row {
  readonly kind: string;
  readonly name: string;
  /** Why it was left out. */
  readonly skipped?: string;
  faults: number;
  operations: number;
  acknowledged: number;
  ambiguous: number;
  readonly duringFaults: { made: number; succeeded: number };
  /** The slowest, in milliseconds, and the process that was last. */
  recoveryMs: number;
  slowest: string;
  readonly findings: Finding[];
}

export interface Report {
  readonly seed: number;
  readonly rows: readonly Row[];
  readonly counts: Journal['counts'];
  /** Answers 5xx by family and code. */
  readonly errors: ReadonlyMap<string, number>;
  readonly unexpectedEnds: readonly string[];
  readonly seconds: number;
}

export class Campaign {
  readonly #platform: CampaignPlatform;
  readonly #stage: Stage;
  readonly #seed: number;
  readonly #random: Random;
  readonly #size: CampaignSize;
  readonly #caller: Caller;
  readonly #tally = new Tally();
  readonly #journal = new Journal();
  readonly #over = new AbortController();
  readonly #rows: Row[] = [];
  readonly #log: (line: string) => void;

  private constructor(platform: CampaignPlatform, stage: Stage, options: CampaignOptions) {
    this.#platform = platform;
    this.#stage = stage;
    this.#size = options.size;
    this.#seed = options.seed;
    this.#random = new Random(options.seed);
    this.#log = options.log;
    const apis = platform.of('API');
    this.#caller = new Caller(apis, this.#random.fork('calls'), this.#tally, this.#size.answerLimitMs);
  }

  static async over(platform: CampaignPlatform, options: CampaignOptions): Promise<Campaign> {
    const token = await signIn(platform);
    const stage = await makeStage(platform, options.size.lanes, token);
    return new Campaign(platform, stage, options);
  }

  /** Each round is a kind alone or several together. */
  async run(rounds: ReadonlyArray<readonly FaultKind[]>): Promise<Report> {
    const startedAt = performance.now();
    const runners = this.#runners();
    const parts = [...this.#people(), ...runners.map((runner) => runner.run())];
    const working = Promise.all(parts);
    working.catch(() => {
      this.#uploading.abort();
      this.#over.abort();
    });
    try {
      for (const round of rounds) if (!this.#over.signal.aborted) await this.#round(round);
      await this.#caller.settled();
      for (const runner of runners) runner.isTidy = true;
      this.#journal.kind = 'end';
      await this.#recovered(this.#row('end', 'all faults have ended'));
      await this.#lastCalls();
      await this.#rest();
    } finally {
      this.#uploading.abort();
      this.#over.abort();
      await working;
    }
    return this.#report((performance.now() - startedAt) / 1_000);
  }

  #work(name: string): Worker {
    return {
      stage: this.#stage,
      caller: this.#caller,
      journal: this.#journal,
      random: this.#random.fork(name),
      thinkMs: this.#size.thinkMs,
      over: this.#uploading.signal,
    };
  }

  /** Ends before the runners do: they bring to its end what was uploaded. */
  readonly #uploading = new AbortController();
  #peopleAtWork: Promise<unknown> = Promise.resolve();

  #people(): Promise<void>[] {
    const uploaders = Array.from({ length: this.#size.uploaders }, (_, at) =>
      new Uploader(this.#work(`uploader ${at}`), `u${at}`).run(),
    );
    const people = [
      ...uploaders,
      makeAndReprocess(this.#work('sessions')),
      exercises(this.#work('exercises')),
      revocations(this.#work('tokens'), this.#platform.of('API')),
    ];
    this.#peopleAtWork = Promise.allSettled(people);
    return people;
  }

  #runners(): CampaignRunner[] {
    return Array.from({ length: this.#size.runners }, (_, at) => {
      const work = { ...this.#work(`runner ${at}`), over: this.#over.signal };
      return new CampaignRunner(work, `runner-${at}`);
    });
  }

  async #round(round: readonly FaultKind[]): Promise<void> {
    const why = round
      .map(({ unavailable }) => unavailable?.(this.#platform))
      .find((reason) => reason !== undefined);
    const kind = round.map(({ number }) => number).join('+');
    const row = this.#row(kind, round.map(({ name }) => name).join(' / '), why);
    if (why !== undefined) return;
    this.#journal.kind = kind;
    const before = this.#counted();
    const { faults, acknowledged, pauseMs } = this.#size;
    const findings = this.#journal.wrong.length;
    do {
      await delay(this.#random.between(...pauseMs));
      await this.#faults(round, row);
      await this.#recovered(row);
    } while (
      row.faults < faults * round.length ||
      this.#journal.counts.acknowledged - before.acknowledged < acknowledged
    );
    const after = this.#counted();
    row.operations = after.operations - before.operations;
    row.acknowledged = after.acknowledged - before.acknowledged;
    row.ambiguous = after.ambiguous - before.ambiguous;
    this.#log(
      `${kind} ${row.name}: ${row.faults} faults, ${row.acknowledged} acknowledged, recovered in ${Math.round(row.recoveryMs)} ms (${row.slowest}), ${this.#journal.wrong.length - findings} findings`,
    );
  }

  /** All faults of the round at once; each ends by itself, in any order. */
  async #faults(round: readonly FaultKind[], row: Row): Promise<void> {
    const { holdMs, name } = this.#size;
    const before = [this.#tally.sum('duringFaults'), this.#tally.sum('succeededDuringFaults')] as const;
    this.#tally.isFaulty = true;
    try {
      await Promise.all(
        round.map(async (kind) => {
          const hold = this.#random.between(...holdMs);
          const turn = row.faults;
          const random = this.#random.fork(`${kind.number} ${turn}`);
          const context: FaultContext = {
            platform: this.#platform,
            random,
            caller: this.#caller,
            journal: this.#journal,
            holdMs: hold,
            turn: turn + this.#seed,
            size: name,
          };
          const heal = await kind.inject(context);
          row.faults += 1;
          await delay(hold);
          await heal();
        }),
      );
    } finally {
      this.#tally.isFaulty = false;
    }
    row.duringFaults.made += this.#tally.sum('duringFaults') - before[0];
    row.duringFaults.succeeded += this.#tally.sum('succeededDuringFaults') - before[1];
  }

  async #recovered(row: Row): Promise<void> {
    const { recoveryLimitMs, name } = this.#size;
    const withGraph = name === 'full' || row.kind === 'end';
    const { ms, slowest } = await servesAgain(this.#platform, this.#stage, recoveryLimitMs, withGraph);
    if (ms === Number.POSITIVE_INFINITY) this.#journal.find('recovered', `${slowest} did not serve again`);
    if (ms > row.recoveryMs) {
      row.recoveryMs = ms;
      row.slowest = slowest;
    }
  }

  /** After the last fault some calls of every family are made, and all succeed. */
  async #lastCalls(): Promise<void> {
    const { lastCalls, restLimitMs } = this.#size;
    const { families, errors } = this.#tally;
    this.#tally.forgetLast();
    const until = Date.now() + restLimitMs;
    const isEnough = () => [...families.values()].every(({ last }) => last.length >= lastCalls);
    while (!isEnough() && Date.now() < until) await delay(50);
    for (const [family, { last }] of families)
      if (last.length < lastCalls || last.includes(false))
        this.#journal.find(
          'recovered',
          `the last calls of ${family}: ${last} (${JSON.stringify([...errors])})`,
        );
  }

  /** People stop, runners bring everything to its end, and it is judged. */
  async #rest(): Promise<void> {
    this.#uploading.abort();
    await this.#peopleAtWork;
    const judged: Judged = {
      platform: this.#platform,
      stage: this.#stage,
      caller: this.#caller,
      journal: this.#journal,
    };
    const isAtRest = await comesToRest(judged, this.#size.restLimitMs);
    await checkUploads(judged);
    await checkSessions(judged);
    if (isAtRest) await checkRuns(judged);
  }

  #row(kind: string, name: string, skipped?: string): Row {
    const row: Row = {
      kind,
      name,
      ...(skipped === undefined ? {} : { skipped }),
      faults: 0,
      operations: 0,
      acknowledged: 0,
      ambiguous: 0,
      duringFaults: { made: 0, succeeded: 0 },
      recoveryMs: 0,
      slowest: '',
      findings: [],
    };
    this.#rows.push(row);
    return row;
  }

  #counted() {
    const { acknowledged, ambiguous } = this.#journal.counts;
    return { operations: this.#tally.sum('made'), acknowledged, ambiguous };
  }

  #report(seconds: number): Report {
    for (const finding of this.#journal.wrong)
      (this.#rows.find(({ kind }) => kind === finding.kind) ?? this.#rows.at(-1))?.findings.push(finding);
    return {
      seed: this.#seed,
      rows: this.#rows,
      counts: this.#journal.counts,
      errors: this.#tally.errors,
      unexpectedEnds: this.#platform.slots.flatMap((slot) => slot.unexpectedEnds),
      seconds,
    };
  }
}

export interface CampaignOptions {
  readonly size: CampaignSize;
  readonly seed: number;
  readonly log: (line: string) => void;
}
