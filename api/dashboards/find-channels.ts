/** The channels that a request names, and the recordings that they are of. */

import { Problem } from '../../domain/errors.ts';
import { quote } from '../../domain/issue.ts';
import { channelKey } from '../../domain/recordings/channel-key.ts';
import type { DimensionChannel, DimensionSource } from '../../store/dashboards/dimension-sources.ts';
import type { NamedChannel } from '../series/protocol.ts';
import type { SeriesRecording } from '../series/reader.ts';
import { type DerivedDefinition, findDerived } from './find-derived.ts';
import { seriesLimits } from './question-schema.ts';
import { channelsNamed, type RequestedChannel } from './requested-channel.ts';

export type ChannelQuestion = {
  readonly sources: readonly DimensionSource[];
  /** Keys or names; absent: the first channels. */
  readonly channels?: readonly string[] | undefined;
  /** Key, name, or `=name` of a derived channel. */
  readonly x?: string | undefined;
  /** Key or name. */
  readonly split?: string | undefined;
  /** All channels of a recording have points of the same rows. */
  readonly sameRows?: boolean | undefined;
  readonly derived?: readonly DerivedDefinition[] | undefined;
  readonly from?: Date | undefined;
  readonly to?: Date | undefined;
  readonly signal: AbortSignal;
  /** Who asks, as shares count callers. */
  readonly caller: string;
};

/** The question itself. */
export type AskedChannels = Omit<ChannelQuestion, 'sources' | 'signal' | 'caller'>;

const invalid = (message: string) => new Problem('invalidRequest', { message });

/**
 * A key names one channel, a name every channel so named; each is there once, in the order asked for. Derived channels follow,
 * for each recording that has all their channels.
 * @throws Problem 400 for a channel or an expression that does not fit the dashboard
 */
export function findChannels(question: ChannelQuestion): RequestedChannel[] {
  const { sources, channels, derived = [] } = question;
  const computed = findDerived(sources, derived);
  const most = seriesLimits.channels - computed.length;
  const stored = channels === undefined ? firstDrawable(question, computed, most) : named(sources, channels);
  const wanted = [...stored, ...computed];
  // Without any channel to draw, nothing else would find it missing.
  if (wanted.length === 0) checkAxes(question);
  if (wanted.length > seriesLimits.channels)
    throw invalid(
      `channels name ${wanted.length} channels; at most ${seriesLimits.channels} are read at once.`,
    );
  for (const one of wanted) checkDrawable(question, one, computed);
  return wanted;
}

const requested = (source: DimensionSource, channel: DimensionChannel): RequestedChannel => ({
  key: channelKey(source.outputId, channel.id),
  source,
  channel,
});

function named(sources: readonly DimensionSource[], channels: readonly string[]): RequestedChannel[] {
  const all = sources.flatMap((source) => source.channels.map((channel) => requested(source, channel)));
  const byKey = new Map(all.map((wanted) => [wanted.key, wanted]));
  const byName = Map.groupBy(all, ({ channel }) => channel.name);
  const found = channels.flatMap((text) => {
    const one = byKey.get(text);
    const some = one === undefined ? byName.get(text) : [one];
    if (some === undefined) throw invalid(`Channel ${quote(text)} is not part of this dashboard.`);
    return some;
  });
  return [...new Set(found)];
}

const isOverRows = ({ x, split }: ChannelQuestion) => x !== undefined || split !== undefined;

/**
 * The channels that are read where the call names none: the first ones. With `x` or `split`: numbers and booleans of
 * recordings that have both. With `sameRows`: numbers and booleans.
 */
function firstDrawable(
  question: ChannelQuestion,
  computed: readonly RequestedChannel[],
  most: number,
): RequestedChannel[] {
  const found: RequestedChannel[] = [];
  const takesTexts = !isOverRows(question) && question.sameRows !== true;
  for (const source of question.sources) {
    const axes = axisIds(question, source, computed);
    if (axes.includes(undefined)) continue;
    for (const channel of source.channels) {
      if (found.length >= most) return found;
      if ((takesTexts || channel.type !== 'text') && !axes.includes(channel.id))
        found.push(requested(source, channel));
    }
  }
  return found;
}

/** Undefined for an axis that the recording lacks. */
function axisIds(
  { x, split }: ChannelQuestion,
  source: DimensionSource,
  computed: readonly RequestedChannel[],
): (string | undefined)[] {
  const axes = [x, split].filter((text) => text !== undefined);
  return axes.map((text) => channelsNamed(source, text)[0]?.id ?? computedOf(computed, source, text));
}

function checkAxes({ sources, ...question }: ChannelQuestion): void {
  for (const axis of ['x', 'split'] as const) {
    const text = question[axis];
    if (text !== undefined && !sources.some((source) => channelsNamed(source, text).length > 0))
      throw invalid(notPart(axis, text));
  }
}

function checkDrawable(
  question: ChannelQuestion,
  { source, channel }: RequestedChannel,
  computed: readonly RequestedChannel[],
): void {
  if (question.sameRows === true && channel.type === 'text')
    throw invalid(`Channel ${quote(channel.name)} holds text, which has no points with sameRows.`);
  if (!isOverRows(question)) return;
  if (channel.type === 'text')
    throw invalid(`Channel ${quote(channel.name)} holds text, which has no points with x or split.`);
  if (!(source.description as SeriesRecording).time.sorted) {
    const name = quote(source.name);
    throw invalid(
      `The rows of recording ${name} are not in the order of time, so x and split do not fit it.`,
    );
  }
  const { x } = question;
  // A derived channel that this recording lacks is looked for as any other channel, and refused.
  const isComputed = x !== undefined && computedOf(computed, source, x) !== undefined;
  axisOf(isComputed ? question : { ...question, derived: [] }, source, 'x');
  axisOf(question, source, 'split');
}

const computedOf = (
  computed: readonly RequestedChannel[],
  source: DimensionSource,
  text: string,
): string | undefined => computed.find((one) => one.source === source && one.key === text)?.key;

/**
 * The channel of a recording that `x` or `split` names; undefined when the request has none.
 * @throws Problem 400 when the recording has none or several, or a channel of a type that does not fit
 */
export function axisOf(
  question: ChannelQuestion,
  source: DimensionSource,
  axis: 'x' | 'split',
): NamedChannel | undefined {
  const text = question[axis];
  if (text === undefined) return undefined;
  const computed = axis === 'x' ? question.derived?.find(({ name }) => `=${name}` === text) : undefined;
  if (computed !== undefined) return { id: text, name: computed.name };
  const [channel, ...others] = channelsNamed(source, text);
  if (channel === undefined) throw invalid(missing(question, source, axis, text));
  const { id, name, type } = channel;
  if (others.length > 0)
    throw invalid(
      `${axis}: recording ${quote(source.name)} has several channels ${quote(text)}; name one by its key.`,
    );
  if (axis === 'x' && type !== 'number' && type !== 'integer')
    throw invalid(`x: channel ${quote(name)} holds no numbers.`);
  return { id, name };
}

function missing(
  { sources }: ChannelQuestion,
  source: DimensionSource,
  axis: 'x' | 'split',
  text: string,
): string {
  const isElsewhere = sources.some((one) => channelsNamed(one, text).length > 0);
  return isElsewhere
    ? `${axis}: channel ${quote(text)} is of another recording than the channels of ${quote(source.name)}.`
    : notPart(axis, text);
}

const notPart = (axis: 'x' | 'split', text: string) =>
  `${axis}: channel ${quote(text)} is not part of this dashboard.`;
