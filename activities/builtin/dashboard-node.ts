/**
 * `system-next-dimension`: publishes one dashboard for its node instance, updated at each run from all of its
 * parent's outputs and its own configuration, and one scenario instance when asked (decisions, section 11).
 */
import { join } from 'node:path';
import { z } from 'zod';
import { isRecordingTime } from '../../domain/outputs/recording.ts';
import { formatTimestamp } from '../../domain/timestamp.ts';
import {
  type DimensionLayout,
  type DimensionSource,
  publishDimension,
} from '../../store/dashboards/dimensions.ts';
import type { TaskEnd } from '../../store/runs/end-task.ts';
import type { TaskInput } from '../../store/runs/task-inputs.ts';
import {
  type BuiltinRun,
  type BuiltinServices,
  builtinNode,
  ClaimLostError,
  dataSourceName,
} from './node.ts';
import { type RecordingDescription, recordingDescriptionSchema } from './tabular/recording/recording.ts';
import { downloadInput, taskInputs } from './task-inputs.ts';
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
  readonly description: RecordingDescription;
  readonly name: string;
}

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
  services: BuiltinServices,
): Promise<TaskEnd> {
  run.report('reading', 'recordings of the parent node');
  const recordings = await newestRecordings(run, services);
  const sources = recordings.map(toSource);
  const name = configuration.dashboardName ?? run.task.nodeName;
  const dimensionId = await publishDimension(services.database, run.identity, run.task.taskId, {
    name,
    dashboardName: name,
    dashboardVersion: configuration.dashboardVersion ?? 'next',
    sources,
    layout: layoutOf(configuration, recordings),
    scenario: scenarioOf(configuration, run.task.sessionName, recordings),
  });
  if (dimensionId === undefined) throw new ClaimLostError('The task is no longer held.');
  await writeOutput(run, services, {
    outputIdentifier: `${run.task.runId}.json`,
    contentType: 'application/json',
    metadata: { kind: 'dashboard', dimensionId },
    content: { bytes: Buffer.from(JSON.stringify(summaryOf(dimensionId, name, recordings))) },
  });
  return { kind: 'complete', outcome: 'completed', hasMore: false };
}

/** Of each source (one uploaded output) the newest recording, in the order of the uploads. */
async function newestRecordings(run: BuiltinRun, services: BuiltinServices): Promise<Recording[]> {
  const newest = new Map<number, Recording>();
  for await (const input of taskInputs(run, services, 'all')) {
    const metadata = metadataSchema.safeParse(input.metadata);
    if (!metadata.success) continue;
    const description = metadata.data.description ?? (await describe(run, services, input));
    const name = metadata.data.name ?? description.source.outputIdentifier;
    newest.set(metadata.data.source.outputId, { input, description, name });
  }
  return [...newest.entries()].sort(([a], [b]) => a - b).map(([, recording]) => recording);
}

/** The description of a recording that is too large for its output's metadata. */
async function describe(
  run: BuiltinRun,
  services: BuiltinServices,
  input: TaskInput,
): Promise<RecordingDescription> {
  const path = join(run.workDir, 'recording.parquet');
  await downloadInput(run, services, input, path);
  // The engine for tables takes 29 MB, which a worker needs for such recordings alone: others are read in a child.
  const { readDescription } = await import('./tabular/recording/describe.ts');
  return readDescription(path, run.signal);
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
      key: channelKey(input, channel.id),
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

/** Around all rows: who asks for what lies between the two gets the last row too, whose time may have more digits. */
const wholeMilliseconds = ({ from, to }: RecordingDescription['time']) => ({
  fromMs: Math.floor(from),
  toMs: Math.ceil(to),
});

/** The name of a channel of one of a dashboard's sources. */
function channelKey(input: TaskInput, channelId: string): string {
  return `${input.outputId}:${channelId}`;
}

/** The parent's suggested layout first, if the configuration says so; else the configured layout document. */
function layoutOf(
  configuration: DashboardConfiguration,
  recordings: readonly Recording[],
): Record<string, unknown> | null {
  const suggested = configuration.layoutFromParentOutput ? suggestedLayout(recordings) : null;
  return suggested ? { ...suggested } : (configuration.layoutConfiguration ?? null);
}

/**
 * The suggested panels of all recordings; panels of one title, group and unit become one, so that machines share it.
 */
function suggestedLayout(recordings: readonly Recording[]): DimensionLayout | null {
  const panels = new Map<string, DimensionLayout['panels'][number]>();
  for (const { input, description } of recordings) {
    for (const panel of description.suggestedLayout?.panels ?? []) {
      const key = JSON.stringify([panel.title, panel.group, panel.unit]);
      const channels = panel.channels.map((id) => channelKey(input, id));
      const known = panels.get(key);
      if (known) known.channels.push(...channels);
      else panels.set(key, { title: panel.title, group: panel.group, unit: panel.unit, channels });
    }
  }
  return panels.size > 0 ? { version: 1, panels: [...panels.values()] } : null;
}

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

function summaryOf(dimensionId: number, name: string, recordings: readonly Recording[]) {
  return {
    dimensionId,
    dashboardName: name,
    url: `/dashboards/${dimensionId}`,
    sources: recordings.map(({ input, description, name }) => ({
      outputId: input.outputId,
      name,
      rowCount: description.rowCount,
      channels: description.channels.length,
    })),
  };
}
