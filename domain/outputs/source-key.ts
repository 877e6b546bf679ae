/**
 * Source keys: outputs of a node whose metadata have the same `sourceKey` are versions of one source. A runner names its
 * results by them, since a reprocess appends outputs under other identifiers.
 */
import { isName } from '../text.ts';

/** Metadata are the caller's own: what is no name there is no source key. */
export function sourceKeyOf(metadata: Readonly<Record<string, unknown>> | null): string | undefined {
  const key = metadata?.sourceKey;
  return typeof key === 'string' && isName(key) ? key.trim() : undefined;
}
