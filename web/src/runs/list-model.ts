/** The list of runs: its view in the address, and how newer answers change it. Pure: tested without a browser. */
import type { Query } from '../../../client/api-client.ts';
import type { NodeRun, NodeRunList } from '../../../client/types.ts';
import { startOfDay } from '../days.ts';
import { titleOf } from '../names.ts';

export type RunQuery = Query<'GET /api/v2/node-runs'>;

export const stateFilters = [
  { value: '', label: 'All', states: '' },
  { value: 'open', label: 'Open', states: 'queued,held,waiting' },
  { value: 'held', label: 'Running', states: 'held' },
  { value: 'failed', label: 'Failed', states: 'failed' },
  { value: 'cancelled', label: 'Cancelled', states: 'cancelled' },
  { value: 'done', label: 'Done', states: 'completed,no-output,suspended' },
] as const;
type StateFilter = (typeof stateFilters)[number]['value'];

export interface RunListView {
  readonly state: StateFilter;
  readonly template: string;
  readonly projectId: number | null;
  readonly sessionId: string;
  readonly nodeInstanceId: number | null;
  /** Days as `2026-03-01`, both included; empty for no bound. */
  readonly from: string;
  readonly to: string;
  /** Failed runs by their reasons. */
  readonly grouped: boolean;
  readonly page: number;
}

const pageSize = 25;

export function readRunView(query: URLSearchParams): RunListView {
  const text = (name: string) => query.get(name) ?? '';
  return {
    state: stateFilters.find(({ value }) => value === text('state'))?.value ?? '',
    template: text('template'),
    projectId: wholeNumber(text('project')),
    sessionId: text('session'),
    nodeInstanceId: wholeNumber(text('node')),
    from: text('from'),
    to: text('to'),
    grouped: text('by') === 'reason' && text('state') === 'failed',
    page: wholeNumber(text('page')) ?? 1,
  };
}

function wholeNumber(text: string): number | null {
  const number = Number(text);
  return Number.isInteger(number) && number > 0 && number < 2 ** 31 ? number : null;
}

export function runQueryOf(view: RunListView): RunQuery {
  return {
    state: stateFilters.find(({ value }) => value === view.state)?.states || undefined,
    template: view.template || undefined,
    projectId: view.projectId ?? undefined,
    sessionId: view.sessionId || undefined,
    nodeInstanceId: view.nodeInstanceId ?? undefined,
    from: startOfDay(view.from),
    to: startOfDay(view.to, 1),
    page: view.page,
    pageSize,
  };
}

/**
 * The node template that is meant by a part of its name or title, since the platform compares whole names: `text` itself
 * where no known one fits, null where several do.
 */
export function templateMeant(text: string, known: readonly string[]): string | null {
  if (text === '' || known.includes(text)) return text;
  const part = text.toLowerCase();
  const fitting = known.filter((name) => `${name}\n${titleOf(name)}`.toLowerCase().includes(part));
  return fitting.length > 1 ? null : (fitting[0] ?? text);
}

export interface ShownRun {
  readonly run: NodeRun;
  /** It has left the list since: it is no longer what the filter asks for. */
  readonly isGone: boolean;
}

export interface ShownRuns {
  readonly rows: readonly ShownRun[];
  /** Runs that came since, and have no row yet. */
  readonly newer: number;
}

/** A newer answer for the same view: rows keep their places and take their new states. */
export function refreshed(shown: readonly ShownRun[], answer: NodeRunList): ShownRuns {
  const found = new Map(answer.nodeRuns.map((run) => [run.id, run]));
  const known = new Set(shown.map(({ run }) => run.id));
  const lastShown = shown.at(-1)?.run.id ?? '';
  return {
    rows: shown.map((row) => {
      const run = found.get(row.run.id);
      // Ids are made in the order of time. A row beyond the answer's end was only moved to the next page.
      const end = answer.nodeRuns.at(-1)?.id ?? '';
      const isBeyond = answer.totalPages > answer.page && row.run.id < end;
      return run === undefined ? { run: row.run, isGone: row.isGone || !isBeyond } : { run, isGone: false };
    }),
    newer: answer.nodeRuns.filter(({ id }) => !known.has(id) && id > lastShown).length,
  };
}
