/** How newer answers change the list of sessions, and its rows as people read them. Pure: tested without a browser. */
import type { SessionList, SessionListRow } from '../../../client/types.ts';
import { guardedText, needsQuotes } from '../../../domain/reports/spreadsheet-text.ts';
import { plural } from '../format.ts';
import { isClosed, valueText } from '../session/metadata-model.ts';
import { sharedWindow } from '../shared/model.ts';
import { sessionStyles } from '../states.ts';

export interface ShownRow {
  readonly session: SessionListRow;
  /** It has left the list since: it is no longer what the filters ask for, or it is deleted. */
  readonly isGone: boolean;
}

export interface ShownRows {
  readonly rows: readonly ShownRow[];
  /** Sessions that came since, and have no row yet. */
  readonly newer: number;
}

/** A newer answer for the same view: rows keep their places and show what is true by now. */
export function refreshed(shown: readonly ShownRow[], answer: SessionList): ShownRows {
  const found = new Map(answer.sessions.map((session) => [session.id, session]));
  const known = new Set(shown.map(({ session }) => session.id));
  const unknown = answer.sessions.filter(({ id }) => !known.has(id)).length;
  const missing = shown.filter(({ session }) => !found.has(session.id));
  // As many as came before them have moved the last rows to the next page.
  const moved = new Set(answer.page < answer.totalPages ? missing.slice(-unknown || missing.length) : []);
  return {
    rows: shown.map((row) => {
      const session = found.get(row.session.id);
      if (session !== undefined) return { session, isGone: false };
      return { session: row.session, isGone: row.isGone || !moved.has(row) };
    }),
    newer: unknown,
  };
}

/** The sessions in the order of these ids; a session that is deleted by now has no row. */
export function inOrderOf(
  ids: readonly string[],
  sessions: readonly SessionListRow[],
): readonly SessionListRow[] {
  const found = new Map(sessions.map((session) => [session.id, session]));
  return ids.flatMap((id) => found.get(id) ?? []);
}

/** How many sessions there are. @param rows those that are shown, while the list is not there */
export const summaryOf = (list: SessionList | null, rows: number) => {
  const sessions = plural(list?.totalCount ?? rows, 'session', 'sessions');
  return list?.totalCountIsExact === false ? `more than ${sessions}` : sessions;
};

/** Nodes that have succeeded, of all. */
export function nodesDone({ nodeCounts }: Pick<SessionListRow, 'nodeCounts'>): {
  done: number;
  total: number;
} {
  const total = Object.values(nodeCounts).reduce((sum, count) => sum + count, 0);
  return { done: nodeCounts.Succeeded ?? 0, total };
}

/** `track.name` reads "name" in a chip; the path is its tooltip. */
export const lastName = (path: string) => path.slice(path.lastIndexOf('.') + 1);

/** The sessions as a table for spreadsheets, with a column for each pinned path. */
export function csvOf(sessions: readonly SessionListRow[]): string {
  const paths = [...new Set(sessions.flatMap((one) => one.pinnedMetadata.map(({ path }) => path)))];
  const heads = ['id', 'name', 'state', 'nodes done', 'nodes', 'project', 'template', 'owner', 'created'];
  const rows = sessions.map((one) => {
    const { done, total } = nodesDone(one);
    return [
      one.id,
      one.name,
      sessionStyles[one.state].label,
      done,
      total,
      one.projectTitle,
      one.sessionTemplateName,
      one.owner.name ?? one.owner.id,
      one.createdAt,
      one.lastActivityAt,
      one.outputBytes,
      ...paths.map((path) => valueAt(one, path)),
    ];
  });
  return [[...heads, 'last activity', 'bytes', ...paths], ...rows]
    .map((row) => row.map(csvCell).join(','))
    .join('\r\n');
}

function valueAt(session: SessionListRow, path: string): string {
  const pinned = session.pinnedMetadata.find((one) => one.path === path);
  return pinned === undefined ? '' : valueText(pinned.value);
}

function csvCell(value: string | number): string {
  if (typeof value === 'number') return String(value);
  const text = guardedText(value);
  return needsQuotes.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** `shared, open`, `shared, closed` or `closed`; null for other sessions. */
export function statusWords(session: SessionListRow): string | null {
  const window = sharedWindow(session);
  if (window !== null) return `shared, ${window.status}`;
  return isClosed(session.metadata) ? 'closed' : null;
}
