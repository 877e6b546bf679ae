/** What stays the same of an output when its node makes it again. */
import type { InputWire } from '../calls/wire.ts';

/**
 * The output's own source key; else what names the original of a copy that a reprocess has appended, or the source of a
 * recording; else its identifier.
 */
export function sourceKeyOf({
  outputIdentifier,
  metadata,
}: Pick<InputWire, 'outputIdentifier' | 'metadata'>): string {
  const { sourceKey, $copyOf, source } = { ...metadata };
  const of = (name: unknown, field: string) => (name as Record<string, unknown> | null | undefined)?.[field];
  const isRecording = metadata?.kind === 'recording';
  const names = [sourceKey, of($copyOf, 'outputIdentifier')];
  if (isRecording) names.push(of(source, 'key'), of(source, 'outputIdentifier'));
  return (
    (names.find((name) => typeof name === 'string' && name !== '') as string | undefined) ?? outputIdentifier
  );
}
