/**
 * `system-tabular-to-dataservice`: writes for each input one columnar output with a description (decisions, section 11).
 *
 * Incremental: each output is published together with the watermark's move over its input, so that the attempt after a
 * crash continues there. A broken input does not hold up later ones: it is rejected, and fails the run at its end.
 *
 * A run over many inputs ends after a while, and a follow-up goes on: other sessions need the worker's few places too.
 */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type OutputName, originOf } from '../../domain/outputs/output-copy.ts';
import { sourceKeyOf } from '../../domain/outputs/source-key.ts';
import { type KeyedSource, sourceOfKey } from '../../store/outputs/source-of-key.ts';
import type { TaskEnd } from '../../store/runs/end-task.ts';
import { reasonsSinceInput, rejectInput } from '../../store/runs/rejections.ts';
import { hasWrittenOutput, type TaskInput } from '../../store/runs/task-inputs.ts';
import { writeWatermark } from '../../store/runs/watermark.ts';
import type { ActivityServices } from '../services.ts';
import { withRoom } from './disk-room.ts';
import { type BuiltinRun, builtinNode, ClaimLostError } from './node.ts';
import { type TabularConfiguration, tabularConfigurationSchema } from './tabular/configuration.ts';
import { Converter } from './tabular/convert/convert-isolated.ts';
import type { RecordingDescription } from './tabular/description.ts';
import { NoTabularData, TabularError } from './tabular/errors.ts';
import { downloadInput, shownName, taskInputs } from './task-inputs.ts';
import { writeOutput } from './write-output.ts';

const memoryLimitBytes = 512 * 1024 ** 2;
/** A larger description is stored in the Parquet file alone; of it, the metadata have what the session's page shows. */
const maxMetadataBytes = 64 * 1024;
const maxBriefChannels = 50;
const maxNamedFaults = 5;

/** Metadata of this node's outputs; `brief` stands for a `description` that is too large. */
interface RecordingMetadata {
  readonly kind: 'recording';
  /** For people. */
  readonly name: string;
  /** The upload; where it has a source key, the first one of that key. */
  readonly source: OutputName | KeyedSource;
  readonly rowCount: number;
  readonly description?: RecordingDescription;
  readonly brief?: Pick<RecordingDescription, 'time' | 'warnings' | 'channels'>;
}

export const tabularNode = builtinNode({
  name: 'system-tabular-to-dataservice',
  type: 'Transform',
  description: 'Turns tables into columnar recordings.',
  incremental: true,
  configurationSchema: tabularConfigurationSchema,
  run: convertInputs,
});

async function convertInputs(
  run: BuiltinRun,
  configuration: TabularConfiguration,
  services: ActivityServices,
): Promise<TaskEnd> {
  const hasMore = await convertForATurn(run, configuration, services);
  // The faults of earlier attempts, and of the runs that this one follows, are among them.
  const faults = hasMore ? [] : await reasonsSinceInput(services.database, run.task, maxNamedFaults);
  if (faults.length > 0) return { kind: 'fail', category: 'validation', reason: faults.join('\n') };
  // Read from the run and not counted here: an earlier attempt may have written outputs.
  const wroteOutput = await hasWrittenOutput(services.database, run.task.runId);
  const mayBeEmpty =
    hasMore || run.task.reason === 'follow-up' || configuration.whenNoOutputs === 'no-output';
  return { kind: 'complete', outcome: !wroteOutput && mayBeEmpty ? 'no-output' : 'completed', hasMore };
}

/**
 * Not in a reprocess: it runs over few inputs, and its recordings are named after the run.
 * @returns whether inputs are left
 */
async function convertForATurn(
  run: BuiltinRun,
  configuration: TabularConfiguration,
  services: ActivityServices,
): Promise<boolean> {
  const endsAtMs = run.task.reason === 'reprocess' ? Infinity : performance.now() + run.turnSeconds * 1_000;
  const converter = new Converter();
  let converted = 0;
  try {
    for await (const input of taskInputs(run, services, 'since-watermark')) {
      if (converted > 0 && performance.now() >= endsAtMs) return true;
      run.report('converting', shownName(input));
      await convertInput(run, services, configuration, input, converter);
      converted += 1;
    }
    return false;
  } finally {
    await converter.close();
  }
}

async function convertInput(
  run: BuiltinRun,
  services: ActivityServices,
  configuration: TabularConfiguration,
  input: TaskInput,
  converter: Converter,
): Promise<void> {
  const paths = { inputPath: join(run.workDir, 'input'), outputPath: join(run.workDir, 'output.parquet') };
  try {
    await withRoom(run.workDir, run.room, run.signal, (signal) =>
      writeRecording({ ...run, signal }, services, configuration, input, { ...paths, converter }),
    );
  } catch (error) {
    if (!(error instanceof TabularError)) throw error;
    run.log('warning', `${shownName(input)}: ${error.message}`, { outputId: input.outputId });
    const isFine = error instanceof NoTabularData && configuration.whenNoOutputs === 'no-output';
    await passOver(run, services, input, isFine ? null : error);
  } finally {
    await rm(paths.inputPath, { force: true });
    await rm(paths.outputPath, { force: true });
  }
}

/** Downloads an input, converts it and writes the recording. @throws TabularError for an input that is no table */
async function writeRecording(
  run: BuiltinRun,
  services: ActivityServices,
  configuration: TabularConfiguration,
  input: TaskInput,
  {
    converter,
    ...paths
  }: { readonly inputPath: string; readonly outputPath: string; readonly converter: Converter },
): Promise<void> {
  await downloadInput(run, services, input, paths.inputPath);
  const startedAtMs = performance.now();
  const { description, rowCount } = await converter.convert({
    ...paths,
    contentType: input.contentType,
    outputIdentifier: sourceKeyOf(input.metadata) ?? originOf(input).outputIdentifier,
    source: originOf(input),
    configuration,
    workDir: run.workDir,
    memoryLimitBytes,
    maxSeconds: run.fileSeconds,
    maxTempBytes: run.room.budgetBytes,
    unpackRatio: run.unpackRatio,
    signal: run.signal,
  });
  run.log('info', `converted: ${rowCount} rows`, {
    outputId: input.outputId,
    channels: description.channels.length,
    milliseconds: Math.round(performance.now() - startedAtMs),
  });
  for (const warning of description.warnings)
    run.log('warning', `${shownName(input)}: ${warning}`, { outputId: input.outputId });
  await writeOutput(run, services, {
    outputIdentifier: recordingIdentifier(run, input),
    contentType: 'application/vnd.apache.parquet',
    metadata: metadataOf(input, await sourceOf(run, services, input), rowCount, description),
    content: { path: paths.outputPath },
    watermarkInputId: input.outputId,
  });
}

/** The same for all attempts of a run. A reprocess appends recordings beside the existing ones. */
function recordingIdentifier({ task }: BuiltinRun, input: TaskInput): string {
  const name = `${input.outputId}.${input.position}`;
  return task.reason === 'reprocess' ? `${name}.${task.runId}.parquet` : `${name}.parquet`;
}

/** Moves the watermark past an input without an output; with a fault, the input is listed at the node until it is read. */
async function passOver(
  run: BuiltinRun,
  { database }: ActivityServices,
  input: TaskInput,
  fault: TabularError | null,
): Promise<void> {
  const inputId = input.outputId;
  const reason = `${shownName(input)}: ${fault?.message}`;
  const moved =
    fault === null
      ? await writeWatermark(database, run.caller, inputId, undefined)
      : await rejectInput(database, run.caller, { inputId, category: 'validation', reason });
  if (moved.kind === 'refused') throw new ClaimLostError(`The watermark was refused: ${moved.why}.`);
}

async function sourceOf({ task }: BuiltinRun, { database }: ActivityServices, input: TaskInput) {
  const { nodeInstanceId } = input;
  const key = sourceKeyOf(input.metadata);
  if (key === undefined) return originOf(input);
  const { outputId, outputIdentifier } =
    (await sourceOfKey(database, task.nodeInstanceId, { nodeInstanceId, key })) ?? originOf(input);
  return { outputId, outputIdentifier, nodeInstanceId, key };
}

function metadataOf(
  input: TaskInput,
  source: RecordingMetadata['source'],
  rowCount: number,
  description: RecordingDescription,
): Record<string, unknown> {
  const summary = {
    kind: 'recording',
    name: shownName(input),
    source,
    rowCount,
  } satisfies RecordingMetadata;
  const whole = { ...summary, description } satisfies RecordingMetadata;
  if (Buffer.byteLength(JSON.stringify(whole)) <= maxMetadataBytes) return whole;
  const { time, warnings, channels } = description;
  const brief = { time, warnings, channels: channels.slice(0, maxBriefChannels) };
  return { ...summary, brief } satisfies RecordingMetadata;
}
