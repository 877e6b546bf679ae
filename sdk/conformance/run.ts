/** Runs scenarios, each with its own server and runner, some at the same time. */
import type { Finding } from './rules.ts';
import type { Scenario } from './scenario.ts';
import { baselineOf, plain } from './scenarios/plain.ts';
import { describeCall } from './server/journal.ts';
import { type Baseline, type RunnerUnderTest, ScenarioOver, Stage } from './stage.ts';
import { watch } from './watch.ts';

export type Verdict = 'pass' | 'warn' | 'fail' | 'skip';

export interface Result {
  readonly name: string;
  readonly title: string;
  readonly verdict: Verdict;
  readonly findings: readonly Finding[];
  /** Observations that break no rule. */
  readonly notes: readonly string[];
  /** Why it could not be tested. */
  readonly skipped: string | undefined;
  readonly seconds: number;
  /** Calls and answers, a line each. */
  readonly calls: readonly string[];
  /** The end of what the runner wrote to its standard output and error. */
  readonly output: string;
}

const keptCalls = 200;

/** A longer stall of this process may have ended a lease or a wait, which says nothing about the runner. */
const longStallMs = 1_000;
const maxTries = 3;

interface Played {
  readonly result: Result;
  readonly baseline: Baseline;
  readonly maxStallMs: number;
}

/** Plays one scenario, and again when it found something while the machine stalled. Rejects only for faults of the kit itself. */
async function playScenario(
  scenario: Scenario,
  under: RunnerUnderTest,
  baseline: Baseline | undefined,
): Promise<Played> {
  for (let tries = 1; ; tries += 1) {
    const played = await playOnce(scenario, under, baseline);
    const isSpoiled = played.result.findings.length > 0 && played.maxStallMs > longStallMs;
    if (!isSpoiled || tries === maxTries) return played;
  }
}

async function playOnce(
  scenario: Scenario,
  under: RunnerUnderTest,
  baseline: Baseline | undefined,
): Promise<Played> {
  const stage = await Stage.open(under, baseline, scenario.stage?.(under, baseline) ?? {});
  let skipped: string | undefined;
  try {
    await scenario.play(stage);
  } catch (error) {
    if (!(error instanceof ScenarioOver)) throw error;
    skipped = error.skipped;
  } finally {
    watch(stage);
    await stage.close();
  }
  const { maxMs } = stage.stalls;
  if (maxMs > longStallMs) stage.note(stallNote(maxMs));
  return {
    result: resultOf(scenario, stage, skipped),
    baseline: baselineOf(stage),
    maxStallMs: maxMs,
  };
}

function stallNote(maxMs: number): string {
  const seconds = (maxMs / 1_000).toFixed(1);
  return `The kit itself did not run for ${seconds} s: the machine was busy. Findings may come from that.`;
}

function resultOf(scenario: Scenario, stage: Stage, skipped: string | undefined): Result {
  const { findings, journal, startedAtMs } = stage;
  const levels = new Set(findings.map(({ level }) => level));
  const worst = levels.has('fail') ? 'fail' : levels.has('warn') ? 'warn' : 'pass';
  return {
    name: scenario.name,
    title: scenario.title,
    verdict: worst === 'pass' && skipped !== undefined ? 'skip' : worst,
    findings,
    notes: stage.notes,
    skipped,
    seconds: Math.round((performance.now() - startedAtMs) / 100) / 10,
    calls: journal.calls.slice(-keptCalls).map((call) => describeCall(call, startedAtMs)),
    output: stage.runner.output,
  };
}

/**
 * Runs them, `plain` always and first: the others compare with it. When it fails they are judged without its outputs;
 * when the runner made no task of it, nothing else can be learned.
 * @param jobs how many at a time
 * @param report called with each result, in the order of the list
 */
export async function playAll(
  scenarios: readonly Scenario[],
  under: RunnerUnderTest,
  jobs: number,
  report: (result: Result) => void,
): Promise<Result[]> {
  const first = await playScenario(plain, under, undefined);
  if (scenarios.includes(plain) || first.result.verdict === 'fail') report(first.result);
  if (isUnusable(first.result)) return [first.result];
  const baseline = first.result.verdict === 'fail' ? withoutResults(first.baseline) : first.baseline;
  const rest = scenarios.filter((scenario) => scenario !== plain);
  const results: (Result | undefined)[] = rest.map(() => undefined);
  let next = 0;
  let printedCount = 0;
  const work = async () => {
    for (let at = next++; at < rest.length; at = next++) {
      const scenario = rest[at];
      if (scenario === undefined) continue;
      results[at] = await resultFor(scenario, under, baseline);
      for (let ready = results[printedCount]; ready !== undefined; ready = results[printedCount]) {
        report(ready);
        printedCount += 1;
      }
    }
  };
  await Promise.all(Array.from({ length: jobs }, work));
  const played = results.filter((result) => result !== undefined);
  return scenarios.includes(plain) ? [first.result, ...played] : played;
}

/** The runner never called or claimed, or claims for another node template. */
export function isUnusable({ verdict, findings, calls }: Result): boolean {
  const unusable: readonly string[] = ['never-claimed', 'template-not-claimable'];
  return verdict === 'fail' && (calls.length === 0 || findings.some(({ rule }) => unusable.includes(rule)));
}

/** What a failed task shows of the runner's calls; its outputs are not compared. */
function withoutResults({ lastRead, maxOutputBytes }: Baseline): Baseline {
  return { lastRead, maxOutputBytes, digests: undefined, outputCount: undefined };
}

async function resultFor(scenario: Scenario, under: RunnerUnderTest, baseline: Baseline): Promise<Result> {
  if (!scenario.incremental || under.incremental)
    return (await playScenario(scenario, under, baseline)).result;
  const skipped = 'for incremental node templates; say so with --incremental';
  const { name, title } = scenario;
  return {
    name,
    title,
    verdict: 'skip',
    findings: [],
    notes: [],
    skipped,
    seconds: 0,
    calls: [],
    output: '',
  };
}
