/** A recording, as the reading process gets it. */
import { recordingTimes } from '../../domain/outputs/recording.ts';
import { channelsOf as channelNames } from '../../domain/recordings/derived-syntax.ts';
import type { DerivedChannel, JobSource, NamedChannel } from './protocol.ts';
import type { SeriesRecording } from './recording.ts';

export interface SeriesSource {
  /** Hash of the object, 64 hexadecimal digits: the same key means the same bytes for ever. */
  key: string;
  /** Downloads the object to a path. Called when the folder lacks it, once for callers at the same time. */
  load: (path: string) => Promise<void>;
  description: SeriesRecording;
  /** Ids of channels of the description. */
  channels: readonly string[];
  /** Read after the channels; their expressions name channels of numbers or truth values by id. */
  derived?: readonly DerivedChannel[] | undefined;
  /** Points over a channel or derived channel of numbers, in place of time. */
  x?: NamedChannel | undefined;
  /** One trace for each value of a channel. */
  split?: NamedChannel | undefined;
}

/** A channel that the recording does not have. */
export class UnknownChannel extends Error {}

/** @throws UnknownChannel */
export function jobSource(source: SeriesSource): Omit<JobSource, 'path'> {
  const { derived = [], x, split } = source;
  return {
    recording: recordingOf(source.description),
    channels: channelsOf(source, source.channels),
    inputs: channelsOf(source, inputsOf(source)),
    derived,
    x,
    split,
  };
}

/** The channels that derived channels, `x` and `split` need. */
function inputsOf({ derived = [], x, split }: SeriesSource): string[] {
  const named = [x, split].filter((one) => one !== undefined && !derived.some(({ id }) => id === one.id));
  const inExpressions = derived.flatMap((one) => channelNames(one.derived).map(({ name }) => name));
  return [...new Set([...inExpressions, ...named.map((one) => (one as NamedChannel).id)])];
}

function channelsOf(source: SeriesSource, ids: readonly string[]): SeriesRecording['channels'] {
  const byId = new Map(source.description.channels.map((channel) => [channel.id, channel]));
  return ids.map((id) => {
    const channel = byId.get(id);
    if (channel === undefined)
      throw new UnknownChannel(`The recording has no channel ${JSON.stringify(id)}.`);
    return { id: channel.id, type: channel.type, column: channel.column };
  });
}

/** Rows of earlier versions at times that cannot be written are not read. */
function recordingOf(description: SeriesRecording): JobSource['recording'] {
  const { rowCount, time, overview } = description;
  const from = Math.max(time.from, recordingTimes.fromMs);
  const to = Math.min(time.to, recordingTimes.beforeMs - 1);
  return {
    rowCount,
    time: { from, to, sorted: time.sorted, basis: time.basis },
    ...(overview === undefined ? {} : { overview }),
  };
}
