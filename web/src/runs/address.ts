/** Links to the list of runs: apart from its model, which the page of a session does not load. */
import type { RunListView } from './list-model.ts';

/** The address of a list; the shortest for the default view. */
export function runsAddress(view: Partial<RunListView>): string {
  const { state, template, projectId, sessionId, nodeInstanceId, from, to, grouped, page } = view;
  const parameters = new URLSearchParams();
  const parts = { state, template, project: projectId, session: sessionId, node: nodeInstanceId, from, to };
  for (const [name, value] of Object.entries(parts)) if (value) parameters.set(name, String(value));
  if (grouped === true && state === 'failed') parameters.set('by', 'reason');
  if (page !== undefined && page > 1) parameters.set('page', String(page));
  const text = parameters.toString();
  return text === '' ? '/runs' : `/runs?${text}`;
}
