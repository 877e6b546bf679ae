import type { SessionOutputs } from '../api.ts';
import { plural } from '../format.ts';
import type { Resource } from '../hooks.ts';

const step = 1_000;

/** Below a list of the newest outputs: shows more of them. @param shown how many the list may have */
export function ShowMore(props: {
  of: Resource<SessionOutputs>;
  shown: number;
  what: readonly [singular: string, plural: string];
  show: (count: number) => void;
}) {
  const { of, shown, what } = props;
  if (of.data === null || of.data.nextCursor === null) return null;
  const { totalCount, totalCountIsExact } = of.data;
  const isRest = totalCountIsExact && totalCount <= shown + step;
  return (
    <button
      type="button"
      class="button button-small"
      disabled={of.loading}
      onClick={() => props.show(shown + step)}
    >
      {isRest ? `Show all ${plural(totalCount, ...what)}` : `Show ${plural(step, `more ${what[0]}`, `more ${what[1]}`)}`}
    </button>
  );
}
