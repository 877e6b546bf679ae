/** The outputs of a session, newest first. */
import type { ApiClient, Query } from './api-client.ts';
import type { ListedOutput, SessionOutputs } from './types.ts';

const route = 'GET /api/v2/session/{id}/outputs';
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
