/** What the two lists of sessions share: rows that keep their places, and those that are chosen. */
import { useEffect, useState } from 'preact/hooks';
import type { SessionList } from '../api.ts';
import { useRefreshedList } from '../ui/refreshed-list.ts';
import { refreshed, type ShownRow, type ShownRows } from './list-model.ts';

/** The sessions that `read` answers, read again and again; `loaded` has the rows that are shown. */
export function useSessionRows<Answer extends SessionList>(
  key: string,
  read: (signal: AbortSignal) => Promise<Answer>,
) {
  const rows = useRefreshedList(
    key,
    read,
    (answer): ShownRows => ({
      rows: answer.sessions.map((session) => ({ session, isGone: false })),
      newer: 0,
    }),
    ({ rows }, answer) => refreshed(rows, answer),
  );
  return { ...rows, loaded: { ...rows.list, data: rows.shown } };
}

/** @param key another one begins with none chosen */
export function useChosen(key: string, rows: readonly ShownRow[]) {
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  useEffect(() => setChosen(new Set()), [key]);
  const sessions = rows.filter(({ session }) => chosen.has(session.id)).map(({ session }) => session);
  return { chosen, setChosen, sessions, clear: () => setChosen(new Set()) };
}
