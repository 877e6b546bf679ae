/** Saved cases: what a run of the platform got, and what it wrote, in a folder (sdk/replay-cases.md). */
import { createReadStream, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ClaimWire, InputWire, StateWire } from '../calls/wire.ts';
import type { JsonObject } from '../task/task.ts';
import type { LocalOutput } from './local-calls.ts';
import { type LocalTask, runLocally, type TaskResult } from './local-run.ts';
import { asRunner, type Testable } from './test-task.ts';

/** The folder holds no case that can be read. */
export class CaseError extends Error {}

interface CaseFile {
  readonly task: ClaimWire;
  /** All that the run could list, oldest first. */
  readonly inputs: readonly InputWire[];
  readonly state?: JsonObject | null;
  /** Default: that of the task. */
  readonly watermark?: number | null;
  readonly previousOutput?: StateWire['previousOutput'];
  /** Ids of what `since-watermark` lists; default: the first above the watermark. */
  readonly sinceWatermark?: readonly number[];
  /** Ids of what `latest` lists; default: the last input of each node. */
  readonly latest?: readonly number[];
}

/** An output that the run wrote. */
interface ExpectedOutput {
  readonly identifier: string;
  readonly contentType?: string | null;
  readonly contentEncoding?: string | null;
  readonly metadata?: JsonObject | null;
  readonly sizeBytes: number;
  readonly sha256?: string | null;
}

/** What the code did with a case, and how its outputs differ from the saved ones. */
export interface CaseResult extends TaskResult {
  /** A sentence each; empty when there are none. */
  readonly differences: readonly string[];
}

const shownCharacters = 200;

/** @throws CaseError */
function readCase(folder: string): Pick<LocalTask, 'claim' | 'node'> {
  const { task, inputs, ...saved } = readJson<CaseFile>(folder, 'case.json');
  if (!Array.isArray(inputs) || task?.incremental === undefined)
    throw new CaseError(`${folder} holds no case: case.json needs task and inputs.`);
  return {
    claim: task,
    node: {
      inputs: inputs.map((wire) => ({ wire, open: () => openBytes(folder, wire.outputId) })),
      watermark: saved.watermark === undefined ? task.incremental.watermark : saved.watermark,
      state: saved.state ?? null,
      previousOutput: saved.previousOutput ?? null,
      sinceWatermark: saved.sinceWatermark,
      latest: saved.latest,
      maxInputsPerTask: task.incremental.maxInputsPerTask,
    },
  };
}

function openBytes(folder: string, outputId: number) {
  const file = join(folder, 'inputs', String(outputId));
  if (!existsSync(file)) throw new CaseError(`The case has no bytes of input ${outputId}.`);
  return createReadStream(file);
}

function readJson<T>(folder: string, name: string): T {
  try {
    return JSON.parse(readFileSync(join(folder, name), 'utf8')) as T;
  } catch (error) {
    throw new CaseError(`${folder} holds no case: ${(error as Error).message}`);
  }
}

/**
 * Runs a runner on a saved case and compares its outputs with the saved ones.
 * @param options `update` saves the outputs as the expected ones
 * @throws CaseError when the folder holds no case
 */
export async function runCase(
  folder: string,
  runner: Testable,
  options: Pick<LocalTask, 'onLog' | 'onProgress'> & { readonly update?: boolean } = {},
): Promise<CaseResult> {
  const result = await runLocally({ ...readCase(folder), ...options, runner: asRunner(runner) });
  if (result.error instanceof CaseError) throw result.error;
  if (options.update) saveOutputs(result.outputs, folder);
  const hasExpected = existsSync(join(folder, 'outputs.json'));
  const expected = hasExpected ? readJson<readonly ExpectedOutput[]>(folder, 'outputs.json') : undefined;
  const differences =
    expected === undefined ? [] : compare(expected, result.outputs, join(folder, 'outputs'));
  return { ...result, differences };
}

/** Writes `outputs.json`, and the stored bytes of each output below `outputs`. */
export function saveOutputs(outputs: readonly LocalOutput[], folder: string): void {
  mkdirSync(join(folder, 'outputs'), { recursive: true });
  for (const { identifier, storedBytes } of outputs)
    writeFileSync(join(folder, 'outputs', fileName(identifier)), storedBytes);
  const described = outputs.map(
    ({ identifier, contentType, contentEncoding, metadata, sizeBytes, sha256 }) => ({
      identifier,
      contentType,
      contentEncoding,
      metadata,
      sizeBytes,
      sha256,
    }),
  );
  writeFileSync(join(folder, 'outputs.json'), `${JSON.stringify(described, null, 2)}\n`);
}

function fileName(identifier: string): string {
  return /^\.\.?$/.test(identifier) ? identifier.replaceAll('.', '%2E') : encodeURIComponent(identifier);
}

function compare(
  expected: readonly ExpectedOutput[],
  outputs: readonly LocalOutput[],
  saved: string,
): string[] {
  const left = new Map(outputs.map((output) => [output.identifier, output]));
  const found = expected.flatMap((wanted) => {
    const output = left.get(wanted.identifier);
    left.delete(wanted.identifier);
    if (output === undefined) return [`${wanted.identifier}: it was not written`];
    return compareOne(wanted, output, join(saved, fileName(wanted.identifier)));
  });
  return [...found, ...[...left.keys()].map((identifier) => `${identifier}: the run did not write it`)];
}

function compareOne(wanted: ExpectedOutput, output: LocalOutput, file: string): string[] {
  const { identifier, contentType, metadata, sizeBytes, sha256 } = output;
  const found: string[] = [];
  if (wanted.contentType != null && wanted.contentType !== contentType)
    found.push(`${identifier}: content type ${contentType}, was ${wanted.contentType}`);
  if (canonical(wanted.metadata) !== canonical(metadata))
    found.push(
      `${identifier}: metadata ${JSON.stringify(metadata)}, were ${JSON.stringify(wanted.metadata ?? null)}`,
    );
  const before = existsSync(file) ? readFileSync(file) : undefined;
  // Outputs that came in parts have no digest.
  const isSame =
    wanted.sha256 == null
      ? (before?.equals(output.storedBytes) ?? wanted.sizeBytes === sizeBytes)
      : wanted.sha256 === sha256;
  if (isSame) return found;
  if (wanted.sizeBytes !== sizeBytes)
    found.push(`${identifier}: ${sizeBytes} bytes, were ${wanted.sizeBytes}`);
  else found.push(`${identifier}: SHA-256 ${sha256}, was ${wanted.sha256}`);
  const line = before === undefined ? undefined : firstLine(before, output);
  return line === undefined ? found : [...found, `${identifier}: ${line}`];
}

/** The same text for the same metadata in any order of names; absent metadata and `{}` are the same. */
function canonical(metadata: JsonObject | null | undefined): string {
  const sorted = (value: unknown): unknown =>
    typeof value !== 'object' || value === null || Array.isArray(value)
      ? value
      : Object.fromEntries(
          Object.entries(value)
            .sort(([a], [b]) => (a < b ? -1 : 1))
            .map(([name, item]) => [name, sorted(item)]),
        );
  return JSON.stringify(sorted(metadata ?? {}));
}

/** The first differing line of a text; undefined where there is none to show. */
function firstLine(before: Buffer, output: LocalOutput): string | undefined {
  if (output.contentEncoding !== null) return undefined;
  try {
    const decoder = new TextDecoder('utf-8', { fatal: true });
    const [was, is] = [before, output.storedBytes].map((bytes) => decoder.decode(bytes).split('\n'));
    if (was === undefined || is === undefined) return undefined;
    const at = Array.from({ length: Math.max(was.length, is.length) }).findIndex(
      (_none, line) => was[line] !== is[line],
    );
    return at < 0 ? undefined : `line ${at + 1}: ${shown(is[at])}, was ${shown(was[at])}`;
  } catch {
    return undefined;
  }
}

function shown(line: string | undefined): string {
  return line === undefined ? 'nothing' : `'${line.slice(0, shownCharacters)}'`;
}
