/** What the two lists of sessions share: rows that keep their places, and those that are chosen. */
import { useEffect, useState } from 'preact/hooks';
import type { SessionList } from '../api.ts';
import { keepInEntry } from '../scroll-place.ts';
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

/**
 * The chosen rows, also after Back from a comparison of them.
 * @param key another one begins with none chosen
 */
export function useChosen(key: string, rows: readonly ShownRow[]) {
  const [chosen, setChosen] = useState(() => keptChoice(key));
  useEffect(() => setChosen(keptChoice(key)), [key]);
  const choose = (ids: ReadonlySet<string>) => {
    keepInEntry({ chosen: { key, ids: [...ids] } });
    setChosen(ids);
  };
  const sessions = rows.filter(({ session }) => chosen.has(session.id)).map(({ session }) => session);
  return { chosen, setChosen: choose, sessions, clear: () => choose(new Set()) };
}

function keptChoice(key: string): ReadonlySet<string> {
  const kept = window.history.state?.chosen;
  return new Set(kept?.key === key ? kept.ids : []);
}
