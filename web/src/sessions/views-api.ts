/** The routes of saved views of the list of sessions. */
import type { NewSessionView, SessionView } from '../../../client/types.ts';
import { platform } from '../http.ts';

/** The saved views of the list of sessions: the person's own, then those of others. */
export async function listSessionViews(signal: AbortSignal): Promise<readonly SessionView[]> {
  return (await platform.call('GET /api/v2/session/views', { signal })).views;
}

/** @param id null: a new view */
export async function saveSessionView(id: string | null, body: NewSessionView): Promise<void> {
  if (id === null) await platform.call('POST /api/v2/session/views', { body });
  else await platform.call('PUT /api/v2/session/views/{viewId}', { params: { viewId: id }, body });
}

export async function deleteSessionView(id: string): Promise<void> {
  await platform.call('DELETE /api/v2/session/views/{viewId}', { params: { viewId: id } });
}
