/** Copies of outputs: a reprocess of an Input node appends its newest output once more (decisions, section 7). */
import { isJsonObject } from '../text.ts';

/** What names an output. */
export interface OutputName {
  readonly outputId: number;
  readonly outputIdentifier: string;
}

/** The key of a copy's metadata that holds the original's {@link OutputName}; callers cannot write keys with a `$`. */
export const copyOfKey = '$copyOf';

/** The output whose bytes these are: the original of a copy, or the output itself. */
export function originOf(
  output: OutputName & { readonly metadata: Readonly<Record<string, unknown>> | null },
): OutputName {
  const original = output.metadata?.[copyOfKey];
  if (isJsonObject(original)) {
    const { outputId, outputIdentifier } = original;
    if (typeof outputId === 'number' && typeof outputIdentifier === 'string') {
      return { outputId, outputIdentifier };
    }
  }
  return { outputId: output.outputId, outputIdentifier: output.outputIdentifier };
}
