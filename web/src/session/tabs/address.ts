/** The parts of the session page, in its address. Pure: tested without a browser. */

export type SessionTab = 'overview' | 'pipeline' | 'files' | 'logs';

/** A chosen node without a tab is shown in the pipeline: such links are in messages and in other pages. */
export function readTab(query: URLSearchParams, canReadRuns: boolean): SessionTab {
  const tab = query.get('tab');
  if (tab === 'pipeline' || tab === 'files') return tab;
  if (tab === 'logs' && canReadRuns) return tab;
  return query.has('node') ? 'pipeline' : 'overview';
}

export function tabAddress(sessionId: string, tab: SessionTab, nodeInstanceId: number | null = null): string {
  const query = new URLSearchParams();
  if (tab !== 'overview') query.set('tab', tab);
  if (nodeInstanceId !== null) query.set('node', String(nodeInstanceId));
  const text = query.toString();
  return `/sessions/${encodeURIComponent(sessionId)}${text === '' ? '' : `?${text}`}`;
}
