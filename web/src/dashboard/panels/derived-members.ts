/** A derived channel is read of each recording that has its channels: one name stands for several curves. Pure. */
import type { ChannelSeries, ChannelStatistics } from '../../../../client/types.ts';
import type { Channel } from '../model.ts';

/** A channel of a panel, as it is drawn. */
export interface Member extends Channel {
  /** The key by which it is read. */
  readonly asked: string;
  /** The recording of a derived channel that several have. */
  readonly outputId?: number;
}

interface EachRecording {
  readonly members: Member[];
  readonly byKey: ReadonlyMap<string, ChannelSeries>;
}

/** The name of the recording that an output is. */
export const recordingName = (outputId: number | string, channels: readonly Channel[]): string =>
  channels.find(({ key }) => key.startsWith(`${outputId}:`))?.sourceName ?? String(outputId);

/**
 * A derived channel that was read of several recordings becomes one of each.
 * @param channels of the dashboard
 */
export function eachRecording(
  members: readonly Channel[],
  series: readonly ChannelSeries[],
  channels: readonly Channel[],
): EachRecording {
  const drawn = members.flatMap((member): [Member, ChannelSeries | undefined][] => {
    const { key } = member;
    const found = series.filter((one) => one.channel === key);
    if (found.length < 2) return [[{ ...member, asked: key }, found[0]]];
    return found.map((one) => {
      const outputId = one.outputId!;
      const sourceName = recordingName(outputId, channels);
      return [{ ...member, key: `${outputId}:${key}`, asked: key, sourceName, outputId }, one];
    });
  });
  const read = drawn.flatMap(([{ key }, one]) => (one === undefined ? [] : [[key, one] as const]));
  return { members: drawn.map(([member]) => member), byKey: new Map(read) };
}

/** The answers of a channel's own recording to a question about the channel, or those of the first recording. */
export function ofRecording(
  { outputId }: Pick<Member, 'outputId'>,
  statistics: readonly ChannelStatistics[],
): ChannelStatistics[] {
  const own = outputId ?? statistics[0]?.outputId;
  return statistics.filter((one) => one.outputId === own);
}
