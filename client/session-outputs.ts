/** The outputs of a session, newest first, and one of a node by its identifier. */
import type { ApiClient, Query } from './api-client.ts';
import { ApiError } from './errors.ts';
import type { ListedOutput, NodeOutput, SessionOutputs } from './types.ts';

const route = 'GET /api/v2/session/{id}/outputs';
const nodeRoute = 'GET /api/v2/node-instance/{nodeInstanceId}/outputs';
const maxPage = 500;

export type OutputFilter = Omit<Query<typeof route>, 'cursor' | 'limit'>;

/** The newest outputs that match, up to `count`, in as many pages as they need. @throws ApiError */
export async function newestOutputs(
  client: ApiClient,
  sessionId: string,
  count: number,
  filter: OutputFilter = {},
  signal?: AbortSignal,
): Promise<SessionOutputs> {
  const outputs: ListedOutput[] = [];
  for (let cursor: string | undefined; ; ) {
    const limit = Math.min(count - outputs.length, maxPage);
    const query = { ...filter, cursor, limit };
    const page = await client.call(route, { params: { id: sessionId }, query, signal });
    outputs.push(...page.outputs);
    if (page.nextCursor === null || outputs.length >= count) return { ...page, outputs };
    cursor = page.nextCursor;
  }
}

/** As `newestOutputs`, each page as it comes. Apart from it, because every byte of script counts on a page. */
export async function* outputPages(
  client: ApiClient,
  sessionId: string,
  count: number,
  filter: OutputFilter,
): AsyncGenerator<SessionOutputs> {
  let [left, cursor]: [number, string | undefined | null] = [count, undefined];
  while (left > 0 && cursor !== null) {
    const query: Query<typeof route> = { ...filter, cursor, limit: Math.min(left, maxPage) };
    const page: SessionOutputs = await client.call(route, { params: { id: sessionId }, query });
    yield page;
    left -= page.outputs.length;
    cursor = page.nextCursor;
  }
}

/** The output of a node with this identifier; undefined without one, and without the node. @throws ApiError */
export async function outputNamed(
  client: ApiClient,
  nodeInstanceId: number,
  identifier: string,
): Promise<NodeOutput | undefined> {
  try {
    const found = await client.call(nodeRoute, { params: { nodeInstanceId }, query: { identifier } });
    // An earlier platform answers with all of them.
    return found.find(({ outputIdentifier }) => outputIdentifier === identifier);
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return undefined;
    throw error;
  }
}
