/** `npm run conformance -- --runner "<command>"`: tests a runner against the runner contract and reports its faults. */
import { readFileSync, writeFileSync } from 'node:fs';
import { basename, extname, resolve } from 'node:path';
import { Command, InvalidArgumentError } from 'commander';
import { jsonReport, junitReport, resultLines, summaryLine } from './report.ts';
import { isUnusable, playAll, type Result } from './run.ts';
import { killAllRunners } from './runner-process.ts';
import type { Scenario } from './scenario.ts';
import { scenarios } from './scenarios/all.ts';
import type { InputOffer } from './server/world.ts';
import type { RunnerUnderTest } from './stage.ts';

/** The author's folder: npm changes into the checkout. */
const here = process.env.INIT_CWD ?? process.cwd();
const unusable = 2;

interface Options {
  readonly runner?: string;
  readonly template: string;
  readonly incremental: boolean;
  readonly configuration: Record<string, unknown>;
  readonly input: readonly string[];
  readonly contentType?: string;
  readonly failingInput?: string;
  readonly failingConfiguration?: Record<string, unknown>;
  readonly lease: number;
  readonly patience: number;
  readonly grace: number;
  readonly jobs: number;
  readonly only: readonly string[];
  readonly list?: boolean;
  readonly json?: boolean;
  readonly junit?: string;
  readonly verbose?: boolean;
  readonly strict?: boolean;
}

const examples = `
Examples:
  npm run conformance -- --runner "node my-runner.ts" --template csv-stats --input lap.csv
  npm run conformance -- --runner "python3 runner.py" --template csv-stats --configuration '{"column":"speed"}'
  npm run conformance -- --runner ./runner --template totals --incremental --only incremental-cap --verbose

The command gets SDP_URL and SDP_RUNNER_TOKEN in its environment and must go on until it gets SIGTERM.
Exit code: 0 nothing failed, 1 a scenario failed, 2 the kit could not run.`;

const builtInInput: InputOffer = {
  bytes: Buffer.from(
    `time,speed\n${Array.from({ length: 20 }, (_none, at) => `${at},${100 + at}`).join('\n')}\n`,
  ),
  contentType: 'text/csv',
  outputIdentifier: 'recording.csv',
};

const contentTypes: Readonly<Record<string, string>> = {
  '.csv': 'text/csv',
  '.json': 'application/json',
  '.txt': 'text/plain',
  '.tsv': 'text/tab-separated-values',
  '.parquet': 'application/vnd.apache.parquet',
};

function jsonObject(text: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(text.startsWith('@') ? readFileSync(resolve(here, text.slice(1)), 'utf8') : text);
  } catch (error) {
    throw new InvalidArgumentError(
      `It must be a JSON object, or @ and a file with one: ${(error as Error).message}`,
    );
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return value as Record<string, unknown>;
  throw new InvalidArgumentError('It must be a JSON object.');
}

function within(min: number, max: number) {
  return (text: string): number => {
    const value = Number(text);
    if (text.trim() !== '' && value >= min && value <= max) return value;
    throw new InvalidArgumentError(`It must be a number from ${min} to ${max}.`);
  };
}

const gather = (value: string, before: readonly string[]) => [...before, value];

const program = new Command('conformance')
  .description(
    'Tests a runner against the runner contract, with injected faults, and reports which rules it breaks.',
  )
  .option('--runner <command>', 'the command that starts the runner')
  .option('--template <name>', 'node template that it claims for', 'conformance')
  .option('--incremental', 'the node template is incremental', false)
  .option('--configuration <json>', 'configuration of the node; @file reads it from a file', jsonObject, {})
  .option('--input <file>', 'an input of the node; repeat for more (default: a small csv)', gather, [])
  .option('--content-type <type>', 'Content-Type of the inputs (default: by their ending)')
  .option('--failing-input <file>', 'an input for which the runner reports a failure')
  .option('--failing-configuration <json>', 'a configuration for which it does', jsonObject)
  .option('--lease <seconds>', 'lease of a task', within(3, 60), 4)
  .option('--patience <seconds>', 'how long to wait for an expected call', within(1, 300), 10)
  .option('--grace <seconds>', 'how long to wait for the runner to stop', within(1, 300), 20)
  .option('--jobs <count>', 'scenarios at a time, each with its own runner', within(1, 16), 4)
  .option('--only <scenario>', 'run this one; repeat for more', gather, [])
  .option('--list', 'list the scenarios')
  .option('--json', 'print the results as JSON')
  .option('--junit <file>', 'write the results as JUnit XML too')
  .option('--verbose', 'print every call')
  .option('--strict', 'warnings count as failures')
  .addHelpText('after', examples)
  .exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : unusable));

function inputOf(file: string, contentType: string | undefined): InputOffer {
  return {
    bytes: readFileSync(resolve(here, file)),
    contentType: contentType ?? contentTypes[extname(file).toLowerCase()] ?? 'application/octet-stream',
    outputIdentifier: basename(file)
      .replaceAll(/[^A-Za-z0-9._-]/g, '_')
      .slice(0, 90),
  };
}

function runnerOf(options: Options, command: string): RunnerUnderTest {
  const inputs = options.input.map((file) => inputOf(file, options.contentType));
  return {
    command,
    cwd: here,
    template: options.template,
    incremental: options.incremental,
    configuration: options.configuration,
    inputs: inputs.length > 0 ? inputs : [builtInInput],
    failing: {
      ...(options.failingInput === undefined
        ? {}
        : { inputs: [inputOf(options.failingInput, options.contentType)] }),
      ...(options.failingConfiguration === undefined ? {} : { configuration: options.failingConfiguration }),
    },
    leaseSeconds: options.lease,
    patienceMs: options.patience * 1_000,
    graceMs: options.grace * 1_000,
    environment: {},
  };
}

function chosen(names: readonly string[]): readonly Scenario[] {
  const unknown = names.find((name) => !scenarios.some((scenario) => scenario.name === name));
  if (unknown !== undefined) throw new Error(`There is no scenario '${unknown}'; --list names them.`);
  return names.length === 0 ? scenarios : scenarios.filter(({ name }) => names.includes(name));
}

/** A runner that never called the server cannot be judged. */
function hint(results: readonly Result[], template: string): string | undefined {
  const [only] = results;
  if (results.length !== 1 || only === undefined || !isUnusable(only)) return undefined;
  if (only.findings.some(({ rule }) => rule === 'template-not-claimable'))
    return `The kit offers tasks of the node template '${template}'; --template names the one that the runner claims for.`;
  if (only.calls.length > 0) return undefined;
  return 'The runner never called. Does it start, and does it read SDP_URL and SDP_RUNNER_TOKEN?';
}

/** A runner that claims no task cannot be judged further. */
function leftOut(results: readonly Result[], list: readonly Scenario[]): string {
  const left = list.filter(({ name }) => !results.some((result) => result.name === name)).length;
  return left > 0 ? `; ${left} left out, which need a runner that claims` : '';
}

async function main(): Promise<number> {
  const options = program.parse().opts<Options>();
  const list = chosen(options.only);
  if (options.list) {
    for (const { name, title } of list) console.log(`${name.padEnd(22)} ${title}`);
    return 0;
  }
  if (options.runner === undefined)
    throw new Error('The runner is missing: --runner "<command>". --help shows examples.');
  const print = (result: Result) => {
    if (!options.json) console.log(resultLines(result, options.verbose ?? false).join('\n'));
  };
  const results = await playAll(list, runnerOf(options, options.runner), options.jobs, print);
  const advice = hint(results, options.template);
  if (options.junit !== undefined) writeFileSync(resolve(here, options.junit), junitReport(results));
  if (options.json) console.log(jsonReport(results));
  else console.log(`\n${summaryLine(results)}${leftOut(results, list)}`);
  if (advice !== undefined) {
    console.error(advice);
    return unusable;
  }
  const bad = options.strict ? ['fail', 'warn'] : ['fail'];
  return results.some(({ verdict }) => bad.includes(verdict)) ? 1 : 0;
}

// The runners are in separate process groups: a Ctrl-C does not reach them.
process.on('exit', killAllRunners);
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.on(signal, () => process.exit(unusable));
if (process.channel != null) process.on('disconnect', () => process.exit(unusable));

main()
  .then((code) => {
    // Only after all output is written: pipes may be slow.
    process.stdout.write('', () => process.exit(code));
  })
  .catch((error: unknown) => {
    console.error(error instanceof Error ? error.message : String(error));
    process.exit(unusable);
  });
