/** A channel of one recording that a request asks for. */
import { channelKey } from '../../domain/recordings/channel-key.ts';
import type { Derived } from '../../domain/recordings/derived-syntax.ts';
import type { DimensionChannel, DimensionSource } from '../../store/dashboards/dimension-sources.ts';

export type RequestedChannel = {
  readonly key: string;
  readonly source: DimensionSource;
  readonly channel: Pick<DimensionChannel, 'id' | 'name' | 'unit' | 'type'>;
  /** Its expression, with channels named by their ids. */
  readonly derived?: Derived;
};

type Index = Readonly<Record<'byKey' | 'byName', ReadonlyMap<string, readonly DimensionChannel[]>>>;

/** Made once for each recording of a question: it may have thousands of channels and be asked for hundreds of names. */
const indexes = new WeakMap<DimensionSource, Index>();

/** A key names one channel of a recording, a name all so named. */
export function channelsNamed(source: DimensionSource, text: string): readonly DimensionChannel[] {
  const { byKey, byName } = indexOf(source);
  return byKey.get(text)?.slice(0, 1) ?? byName.get(text) ?? [];
}

function indexOf(source: DimensionSource): Index {
  const index = indexes.get(source) ?? {
    byKey: Map.groupBy(source.channels, ({ id }) => channelKey(source.outputId, id)),
    byName: Map.groupBy(source.channels, ({ name }) => name),
  };
  indexes.set(source, index);
  return index;
}
