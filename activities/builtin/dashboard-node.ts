/**
 * `system-next-dimension`: publishes one dashboard for its node instance, over all of its parent's outputs and with its
 * own configuration, and one scenario instance when asked (decisions, section 11).
 *
 * A run adds what is new to its parent since the last one that succeeded, a number of recordings at a time: a session
 * may have thousands, and other work of the session waits while some are added.
 */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { dashboardUrl } from '../../domain/dashboard-url.ts';
import { isRecordingTime } from '../../domain/outputs/recording.ts';
import { channelKey } from '../../domain/recordings/channel-key.ts';
import { formatTimestamp } from '../../domain/timestamp.ts';
import { hasDimension } from '../../store/dashboards/dimension-reads.ts';
import { type DimensionSource, summarizeSources } from '../../store/dashboards/dimension-sources.ts';
import { type DimensionPublication, publishDimension } from '../../store/dashboards/dimensions.ts';
import type { TaskEnd } from '../../store/runs/end-task.ts';
import type { TaskInput } from '../../store/runs/task-inputs.ts';
import type { ActivityServices } from '../services.ts';
import { withRoom } from './disk-room.ts';
import { type BuiltinRun, builtinNode, ClaimLostError, dataSourceName, InvalidInputError } from './node.ts';
import { Converter } from './tabular/convert/convert-isolated.ts';
import { type RecordingDescription, recordingDescriptionSchema } from './tabular/description.ts';
import { TabularError } from './tabular/errors.ts';
import { downloadInput, shownName, taskInputs } from './task-inputs.ts';
import { writeOutput } from './write-output.ts';

const name = (characters: number) => z.string().trim().min(1).max(characters).nullish();

const configurationSchema = z.looseObject({
  dataSourceName,
  dashboardName: name(255).describe('Name of the dashboard. Default: the name of the node.'),
  dashboardVersion: name(64).describe('Version of the dashboard, for example `next`.'),
  autoCreateScenarioInstance: z
    .boolean()
    .nullish()
    .describe('Make one scenario instance for each scenario name.'),
  scenarioName: name(255).describe('Name of the scenario. Default: the name of the session.'),
  layoutFromParentOutput: z
    .boolean()
    .nullish()
    .describe("The parent's suggested layout comes before `layoutConfiguration`."),
  layoutConfiguration: z.record(z.string(), z.unknown()).nullish().describe('A JSON layout document.'),
});
type DashboardConfiguration = z.output<typeof configurationSchema>;

const metadataSchema = z.looseObject({
  kind: z.literal('recording'),
  name: z.string().optional(),
  source: z.looseObject({ outputId: z.number() }),
  description: recordingDescriptionSchema.optional(),
});

interface Recording {
  readonly input: TaskInput;
  /** Output id of the upload. */
  readonly sourceId: number;
  readonly description: RecordingDescription;
  readonly name: string;
}

const recordingsAtOnce = 100;
/** Recordings that the output of a run lists: those of the newest uploads. */
const listedRecordings = 1_000;

export const dashboardNode = builtinNode({
  name: 'system-next-dimension',
  type: 'Processing',
  description: 'Publishes the dashboard of its parent.',
  configurationSchema,
  run: publishDashboard,
});

async function publishDashboard(
  run: BuiltinRun,
  configuration: DashboardConfiguration,
  services: ActivityServices,
): Promise<TaskEnd> {
  run.report('reading', 'recordings of the parent node');
  let dimensionId = 0;
  for await (const recordings of newRecordings(run, services))
    dimensionId = await publish(run, configuration, services, recordings);
  await writeOutput(run, services, {
    outputIdentifier: `${run.task.runId}.json`,
    contentType: 'application/json',
    metadata: { kind: 'dashboard', dimensionId },
    content: {
      bytes: Buffer.from(JSON.stringify(await summaryOf(run, configuration, services, dimensionId))),
    },
  });
  return { kind: 'complete', outcome: 'completed', hasMore: false };
}

const nameOf = (run: BuiltinRun, { dashboardName }: DashboardConfiguration) =>
  dashboardName ?? run.task.nodeName;

/** @returns the dashboard's id */
async function publish(
  run: BuiltinRun,
  configuration: DashboardConfiguration,
  services: ActivityServices,
  recordings: readonly Recording[],
): Promise<number> {
  const name = nameOf(run, configuration);
  const dimension: DimensionPublication = {
    name,
    dashboardName: name,
    dashboardVersion: configuration.dashboardVersion ?? 'next',
    sources: recordings.map((recording) => ({
      sourceId: recording.sourceId,
      position: recording.input.position,
      source: toSource(recording),
    })),
    layout: configuration.layoutConfiguration ?? null,
    suggestsLayout: configuration.layoutFromParentOutput ?? false,
    scenario: scenarioOf(configuration, run.task.sessionName, recordings),
  };
  const id = await publishDimension(services.database, run.caller, dimension);
  if (id === undefined) throw new ClaimLostError('The task is no longer held.');
  return id;
}

/**
 * What the dashboard does not have yet, oldest first, and all of it in a reprocess. The last part may be empty; without
 * any recording it is the only one.
 */
async function* newRecordings(run: BuiltinRun, services: ActivityServices): AsyncGenerator<Recording[]> {
  const isNew = !(await hasDimension(services.database, run.task.nodeInstanceId));
  const mode = isNew || run.task.reason === 'reprocess' ? 'all' : 'since-watermark';
  const converter = new Converter();
  let recordings: Recording[] = [];
  try {
    for await (const input of taskInputs(run, services, mode)) {
      const metadata = metadataSchema.safeParse(input.metadata);
      if (!metadata.success) continue;
      const { name, source } = metadata.data;
      const named = { input, name: name ?? shownName(input) };
      const description = metadata.data.description ?? (await describe(run, services, named, converter));
      recordings.push({
        input,
        sourceId: source.outputId,
        description,
        name: name ?? description.source.outputIdentifier,
      });
      if (recordings.length < recordingsAtOnce) continue;
      yield recordings;
      recordings = [];
    }
    yield recordings;
  } finally {
    await converter.close();
  }
}

/**
 * The description of a recording that is too large for its output's metadata. The metadata may be a stranger's too, who
 * calls any file a recording.
 */
async function describe(
  run: BuiltinRun,
  services: ActivityServices,
  { input, name }: Pick<Recording, 'input' | 'name'>,
  converter: Converter,
): Promise<RecordingDescription> {
  const path = join(run.workDir, 'recording.parquet');
  try {
    return await withRoom(run.workDir, run.room, run.signal, async (signal) => {
      await downloadInput({ ...run, signal }, services, input, path);
      return await converter.describe(path, { signal, maxSeconds: run.fileSeconds });
    });
  } catch (error) {
    if (!(error instanceof TabularError)) throw error;
    throw new InvalidInputError(`${name}: ${error.message}`);
  } finally {
    await rm(path, { force: true });
  }
}

function toSource({ input, description, name }: Recording): DimensionSource {
  const { time } = description;
  // Recordings of earlier versions may have times that cannot be written; they must not block the dashboard.
  const iso = (ms: number) => (isRecordingTime(ms) ? formatTimestamp(new Date(ms)) : null);
  const { fromMs, toMs } = wholeMilliseconds(time);
  return {
    outputId: input.outputId,
    name,
    realm: description.realms[0] ?? '',
    time: { kind: time.kind, from: iso(fromMs), to: iso(toMs) },
    rowCount: description.rowCount,
    groups: description.groups,
    channels: description.channels.map((channel) => ({
      key: channelKey(input.outputId, channel.id),
      id: channel.id,
      name: channel.name,
      unit: channel.unit,
      type: channel.type,
      group: channel.group,
      realm: channel.realm,
    })),
    dataSourceId: input.dataSourceId,
    objectKey: input.objectKey,
    sha256: input.sha256,
    description,
  };
}

/** Around all rows: a request for what lies between the two gets the last row too, whose time may have more digits. */
const wholeMilliseconds = ({ from, to }: RecordingDescription['time']) => ({
  fromMs: Math.floor(from),
  toMs: Math.ceil(to),
});

function scenarioOf(
  configuration: DashboardConfiguration,
  sessionName: string,
  recordings: readonly Recording[],
) {
  if (!configuration.autoCreateScenarioInstance) return null;
  const times = recordings
    .filter(({ description }) => description.time.kind === 'absolute')
    .map(({ description }) => wholeMilliseconds(description.time))
    .filter(({ fromMs, toMs }) => isRecordingTime(fromMs) && isRecordingTime(toMs));
  const from = times.length > 0 ? new Date(Math.min(...times.map(({ fromMs }) => fromMs))) : null;
  const to = times.length > 0 ? new Date(Math.max(...times.map(({ toMs }) => toMs))) : null;
  return { name: configuration.scenarioName ?? sessionName, from, to };
}

async function summaryOf(
  run: BuiltinRun,
  configuration: DashboardConfiguration,
  { database }: ActivityServices,
  dimensionId: number,
) {
  return {
    dimensionId,
    dashboardName: nameOf(run, configuration),
    url: dashboardUrl(dimensionId),
    ...(await summarizeSources(database, dimensionId, listedRecordings)),
  };
}
