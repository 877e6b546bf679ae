/** The outputs of a session, newest first, and one of a node by its identifier. */
import type { ApiClient, Query } from './api-client.ts';
import { ApiError } from './errors.ts';
import type { NodeOutput, SessionOutputs } from './types.ts';

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
  const pages: SessionOutputs[] = [];
  for await (const page of outputPages(client, sessionId, count, filter, signal)) pages.push(page);
  return { ...pages.at(-1)!, outputs: pages.flatMap(({ outputs }) => outputs) };
}

/** The same, each page as it comes; at least one. */
export async function* outputPages(
  client: ApiClient,
  sessionId: string,
  count: number,
  filter: OutputFilter,
  signal?: AbortSignal,
): AsyncGenerator<SessionOutputs> {
  for (let left = count, cursor: string | undefined; ; ) {
    const query = { ...filter, cursor, limit: Math.min(left, maxPage) };
    const page = await client.call(route, { params: { id: sessionId }, query, signal });
    yield page;
    left -= page.outputs.length;
    if (page.nextCursor === null || left <= 0) return;
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
