/** A channel of one recording that a request asks for. */
import { channelKey, outputIdOfKey } from '../../domain/recordings/channel-key.ts';
import type { Derived } from '../../domain/recordings/derived-syntax.ts';
import type { DimensionChannel, DimensionSource } from '../../store/dashboards/dimension-sources.ts';

export type RequestedChannel = {
  readonly key: string;
  readonly source: DimensionSource;
  readonly channel: Pick<DimensionChannel, 'id' | 'name' | 'unit' | 'type'>;
  /** Its expression, with channels named by their ids. */
  readonly derived?: Derived;
};

/** A key names one channel of a recording, a name all so named. */
export function channelsNamed(source: DimensionSource, text: string): readonly DimensionChannel[] {
  const mayBeKey = outputIdOfKey(text) === source.outputId;
  const byKey = mayBeKey
    ? source.channels.find(({ id }) => channelKey(source.outputId, id) === text)
    : undefined;
  return byKey === undefined ? source.channels.filter(({ name }) => name === text) : [byKey];
}
