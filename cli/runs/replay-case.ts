/** Saves what an attempt of a run got and wrote as a case that every kit can run (sdk/replay-cases.md). */
import { createWriteStream, rmSync } from 'node:fs';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { filled } from '../../client/api-client.ts';
import { outputNamed } from '../../client/session-outputs.ts';
import type { NodeOutput, NodeRunAttempt, NodeRunDetails, NodeRunReplay } from '../../client/types.ts';
import { OtherBytes, writeMeasured } from '../download.ts';
import { UsageError } from '../errors.ts';
import { whenInterrupted } from '../interrupted.ts';
import type { PlatformClient } from '../platform-client.ts';

export interface SavedCase {
  readonly folder: string;
  readonly runId: string;
  /** Undefined when the platform no longer lists it. */
  readonly attempt: NodeRunAttempt | undefined;
  readonly inputs: number;
  /** Not all inputs of the run are in the case. */
  readonly isCut: boolean;
  /** Inputs of the run that the platform no longer has. */
  readonly inputsRemoved: number;
  /** The outputs of the run; undefined when the attempt has not completed, so that none are expected. */
  readonly expected: number | undefined;
}

interface Stored {
  readonly sizeBytes: number;
  readonly sha256: string | null;
}

/**
 * @param folder is made when it is missing; what a failure or a signal leaves of the case is removed
 * @throws UsageError when the folder holds something
 */
export async function saveCase(
  platform: PlatformClient,
  run: { readonly runId: string; readonly attempt: number | undefined },
  folder: string,
): Promise<SavedCase> {
  const params = { runId: run.runId };
  const [replay, details] = await Promise.all([
    platform.call('GET /api/v2/node-runs/{runId}/replay', { params, query: { attempt: run.attempt } }),
    platform.call('GET /api/v2/node-runs/{runId}', { params }),
  ]);
  await makeEmpty(folder);
  const remove = () => {
    for (const name of partsOfCase) rmSync(join(folder, name), { recursive: true, force: true });
  };
  const forget = whenInterrupted(remove);
  try {
    return await fillCase(platform, replay, details, folder);
  } catch (error) {
    remove();
    throw error;
  } finally {
    forget();
  }
}

const partsOfCase = ['inputs', 'outputs', 'outputs.json', 'case.json'];

async function fillCase(
  platform: PlatformClient,
  replay: NodeRunReplay,
  details: NodeRunDetails,
  folder: string,
): Promise<SavedCase> {
  const { runId, inputs, inputsTruncated: isCut, inputsRemoved = 0 } = replay;
  await mkdir(join(folder, 'inputs'));
  for (const { outputId, ...stored } of inputs) {
    const path = filled('/api/v2/node-runs/{runId}/replay/inputs/{outputId}/data', {
      params: { runId, outputId },
    });
    await saveBytes(platform, path, join(folder, 'inputs', String(outputId)), stored);
  }
  const attempt = details.attempts.find(({ number }) => number === replay.attempt);
  const hasCompleted = ['completed', 'no-output', 'suspended'].includes(attempt?.outcome ?? '');
  const expected = hasCompleted ? await saveOutputs(platform, replay, details.outputs, folder) : undefined;
  // Last, so that a folder with this file holds the whole case.
  await writeJson(join(folder, 'case.json'), caseOf(replay));
  return { folder, runId, attempt, inputs: inputs.length, isCut, inputsRemoved, expected };
}

function caseOf({
  inputs,
  modes,
  inputsTruncated: _,
  inputsRemoved: _removed,
  state,
  previousOutput,
  ...task
}: NodeRunReplay): object {
  const { watermark } = task.incremental;
  const { 'since-watermark': sinceWatermark, latest } = modes;
  return { caseVersion: 1, task, inputs, state, watermark, previousOutput, sinceWatermark, latest };
}

/** What the run published since the attempt was claimed. */
async function saveOutputs(
  platform: PlatformClient,
  { nodeInstanceId, claimedAt }: NodeRunReplay,
  written: NodeRunDetails['outputs'],
  folder: string,
): Promise<number> {
  await mkdir(join(folder, 'outputs'));
  const saved: NodeOutput[] = [];
  for (const { outputId, outputIdentifier, published } of written) {
    if (!published) continue;
    const output = await outputNamed(platform, nodeInstanceId, outputIdentifier);
    if (output?.id !== outputId || output.createdAt < claimedAt) continue;
    const path = filled('/api/v2/node-instance/outputs/{id}/data', { params: { id: outputId } });
    await saveBytes(platform, path, join(folder, 'outputs', fileName(outputIdentifier)), output);
    saved.push(output);
  }
  await writeJson(join(folder, 'outputs.json'), saved.map(expectedOutput));
  return saved.length;
}

function expectedOutput(output: NodeOutput): object {
  const { outputIdentifier: identifier, contentType, contentEncoding, sizeBytes, sha256 } = output;
  // Keys that begin with $ are the platform's own.
  const own = Object.entries(output.metadata ?? {}).filter(([key]) => !key.startsWith('$'));
  const metadata = own.length === 0 ? null : Object.fromEntries(own);
  return { identifier, contentType, contentEncoding, metadata, sizeBytes, sha256 };
}

/** Streams stored bytes into a file. */
async function saveBytes(
  platform: PlatformClient,
  path: string,
  file: string,
  stored: Stored,
): Promise<void> {
  const response = await platform.openStored(path);
  let sizeBytes = 0;
  const sha256 = await writeMeasured(response, createWriteStream(file), (writtenBytes) => {
    sizeBytes = writtenBytes;
  });
  const isSame = stored.sha256 === null ? stored.sizeBytes === sizeBytes : stored.sha256 === sha256;
  if (!isSame) throw new OtherBytes();
}

async function makeEmpty(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  if ((await readdir(folder)).length > 0) throw new UsageError(`The folder ${folder} is not empty.`);
}

/** A name that is no file name is percent-encoded. */
function fileName(identifier: string): string {
  return /^\.\.?$/.test(identifier) ? identifier.replaceAll('.', '%2E') : encodeURIComponent(identifier);
}

const writeJson = (file: string, value: unknown) => writeFile(file, `${JSON.stringify(value, null, 2)}\n`);
