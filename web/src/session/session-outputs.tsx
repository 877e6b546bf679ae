import { newestOutputs as newestOutputsOf, type OutputFilter } from '../../../client/session-outputs.ts';
import type { NodeInstanceProgress, SessionOutputs } from '../api.ts';
import { plural } from '../format.ts';
import type { Resource } from '../hooks.ts';
import { platform } from '../http.ts';

const newestAtAGlance = 100;
/** How many nodes show their newest output. */
const maxNodes = 500;

/** The newest outputs that match, up to `count`. */
export const newestOutputs = (sessionId: string, count: number, filter: OutputFilter, signal: AbortSignal) =>
  newestOutputsOf(platform, sessionId, count, filter, signal);

/** What has come out of a session: its newest outputs and, where there are more, the newest of each node. */
export async function outputsAtAGlance(sessionId: string, signal: AbortSignal): Promise<SessionOutputs> {
  const newest = await newestOutputs(sessionId, newestAtAGlance, {}, signal);
  if (newest.nextCursor === null) return newest;
  const { outputs } = await newestOutputs(sessionId, maxNodes, { latest: true }, signal);
  const shown = new Set(newest.outputs.map(({ id }) => id));
  return { ...newest, outputs: [...newest.outputs, ...outputs.filter(({ id }) => !shown.has(id))] };
}

/** Changes whenever a node has a newer output, or other bytes in the place of one. */
export const outputVersion = (nodes: readonly NodeInstanceProgress[]): string =>
  nodes
    .map(({ id, currentOutputId, lastProcessed }) => `${id}:${currentOutputId}:${lastProcessed}`)
    .join(' ');

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
  const { outputs, totalCount, totalCountIsExact } = of.data;
  const isRest = totalCountIsExact && totalCount <= shown + step;
  return (
    <button
      type="button"
      class="button button-small"
      // While the same list is read again, as it is all the time in a busy session, more can be shown.
      disabled={of.loading && outputs.length < shown}
      onClick={() => props.show(shown + step)}
    >
      {isRest
        ? `Show all ${plural(totalCount, ...what)}`
        : `Show ${plural(step, `more ${what[0]}`, `more ${what[1]}`)}`}
    </button>
  );
}
