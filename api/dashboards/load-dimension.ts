import { Problem } from '../../domain/errors.ts';
import { channelKey, outputIdOfKey } from '../../domain/recordings/channel-key.ts';
import { channelsOf, DerivedFault, parseDerived } from '../../domain/recordings/derived-syntax.ts';
import { type DimensionRow, findDimension } from '../../store/dashboards/dimension-reads.ts';
import {
  type DimensionSource,
  firstSources,
  sourcesOfOutputs,
  sourcesWithin,
} from '../../store/dashboards/dimension-sources.ts';
import { shareKeyOf } from '../caller-shares.ts';
import { inDashboardReads } from '../long-reads.ts';
import type { Services } from '../services.ts';
import type { AskedChannels, ChannelQuestion } from './find-channels.ts';
import type { DerivedDefinition } from './find-derived.ts';
import type { QuestionContext } from './question-route.ts';
import { seriesLimits } from './question-schema.ts';
import { channelsNamed } from './requested-channel.ts';

interface DimensionContext {
  readonly params: { readonly id: number };
  readonly services: Services;
}

/** The dashboard of a path; 404 when there is none. */
export async function loadDimension({ params, services }: DimensionContext): Promise<DimensionRow> {
  const dimension = await findDimension(services.database, params.id);
  if (dimension === undefined) throw new Problem('dimensionNotFound');
  return dimension;
}

/** The dashboard of a path and a question about its recordings; 404 when there is none. */
export async function loadQuestion<Wanted extends AskedChannels>(
  context: QuestionContext,
  wanted: Wanted,
): Promise<{
  readonly dimension: DimensionRow;
  readonly question: Wanted & Omit<ChannelQuestion, keyof AskedChannels>;
}> {
  const [dimension, sources] = await Promise.all([loadDimension(context), sourcesFor(context, wanted)]);
  const { signal, principal, request, services } = context;
  const caller = shareKeyOf(principal, request, services.settings.TRUSTED_PROXIES);
  return { dimension, question: { ...wanted, sources, signal, caller } };
}

/** Reads the recordings that the question may be about: a dashboard may have thousands, and each thousands of channels. */
async function sourcesFor(
  { params: { id }, services: { database }, principal, signal }: QuestionContext,
  wanted: AskedChannels,
): Promise<DimensionSource[]> {
  const { channels, derived = [], sameRows } = wanted;
  const inTurn = <T>(read: () => Promise<T>) => inDashboardReads(principal.userId, signal, read);
  const texts = [...(channels ?? []), ...axesOf(wanted), ...derived.flatMap(namesIn)];
  const outputIds = texts.flatMap((text) => outputIdOfKey(text) ?? []);
  if (channels === undefined && derived.length === 0 && axesOf(wanted).length === 0 && sameRows !== true)
    return await inTurn(() => firstSources(database, id, seriesLimits.channels));
  if (channels !== undefined) {
    const named = await sourcesOfOutputs(database, id, outputIds);
    if (isAnswered(wanted, named)) return named;
  }
  const filter = channels === undefined ? undefined : { outputIds, names: texts };
  const found = await inTurn(() => sourcesWithin(database, id, filter));
  if (found === undefined) throw new Problem('invalidRequest', { message: tooManyRecordings });
  return found;
}

const tooManyRecordings =
  'The dashboard has too many recordings for this question. Name channels by their keys, also in expressions and axes.';

const axesOf = ({ x, split }: AskedChannels) => [x, split].filter((text) => text !== undefined);

/** Whether no other recording matters: keys name all channels, and their recordings have the axes. */
function isAnswered(wanted: AskedChannels, sources: readonly DimensionSource[]): boolean {
  const { channels = [], derived = [] } = wanted;
  const keys = new Set(
    sources.flatMap((source) => source.channels.map(({ id }) => channelKey(source.outputId, id))),
  );
  const hasAxes = (source: DimensionSource) =>
    axesOf(wanted).every((text) => channelsNamed(source, text).length > 0);
  return derived.length === 0 && channels.every((key) => keys.has(key)) && sources.every(hasAxes);
}

/** The channels that an expression names; none where it has a fault, which is reported later. */
function namesIn({ expression }: DerivedDefinition): string[] {
  try {
    return channelsOf(parseDerived(expression)).map(({ name }) => name);
  } catch (error) {
    if (error instanceof DerivedFault) return [];
    throw error;
  }
}
