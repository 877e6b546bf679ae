import {
  type ListedOutput,
  listSessionOutputs,
  type NodeInstanceProgress,
  type SessionOutputs,
} from '../api.ts';
import { plural } from '../format.ts';
import type { Resource } from '../hooks.ts';

const maxPage = 500;
const newestAtAGlance = 100;

/** @property latest only the newest output of each node */
interface OutputFilter {
  readonly nodeInstanceId?: number;
  readonly latest?: boolean;
  readonly search?: string;
}

/** The newest outputs that match, up to `count`, in as many pages as they need. */
export async function newestOutputs(
  sessionId: string,
  count: number,
  filter: OutputFilter,
  signal: AbortSignal,
): Promise<SessionOutputs> {
  const outputs: ListedOutput[] = [];
  for (let cursor: string | undefined; ; ) {
    const limit = Math.min(count - outputs.length, maxPage);
    const page = await listSessionOutputs(sessionId, { ...filter, cursor, limit }, signal);
    outputs.push(...page.outputs);
    if (page.nextCursor === null || outputs.length >= count) return { ...page, outputs };
    cursor = page.nextCursor;
  }
}

/** What has come out of a session: its newest outputs and, where there are more, the newest of each node. */
export async function outputsAtAGlance(sessionId: string, signal: AbortSignal): Promise<SessionOutputs> {
  const newest = await newestOutputs(sessionId, newestAtAGlance, {}, signal);
  if (newest.nextCursor === null) return newest;
  const { outputs } = await newestOutputs(sessionId, maxPage, { latest: true }, signal);
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
  const { totalCount, totalCountIsExact } = of.data;
  const isRest = totalCountIsExact && totalCount <= shown + step;
  return (
    <button
      type="button"
      class="button button-small"
      disabled={of.loading}
      onClick={() => props.show(shown + step)}
    >
      {isRest
        ? `Show all ${plural(totalCount, ...what)}`
        : `Show ${plural(step, `more ${what[0]}`, `more ${what[1]}`)}`}
    </button>
  );
}
