import { useMemo, useState } from 'preact/hooks';
import { readCompared } from '../../../client/compared-sessions.ts';
import {
  type ComparedSession,
  type Difference,
  differencesOf,
  textsOf,
} from '../../../client/session-differences.ts';
import type { Dashboard } from '../api.ts';
import { Swatch } from '../dashboard/chart/head.tsx';
import { plural } from '../format.ts';
import { useEvery, useResource } from '../hooks.ts';
import { platform } from '../http.ts';
import { titleOf } from '../names.ts';
import { useAbilities } from '../role.ts';
import { nodeStyle, sessionStyles } from '../states.ts';
import { Ago } from '../ui/ago.tsx';
import { Loaded } from '../ui/loaded.tsx';
import type { Recording } from './model.ts';

/** Each reading of twenty sessions is some eighty requests. */
const readAgainMs = 30_000;
const rowsAtOnce = 200;
const shortCharacters = 80;

interface Props {
  dashboards: readonly Dashboard[];
  recordings: readonly Recording[];
}

/** What is not the same in all sessions, as a table. It is read when it is opened. */
export function WhatDiffers(props: Props & { isOpen: boolean; onOpen: (isOpen: boolean) => void }) {
  if (new Set(props.dashboards.map(({ sessionId }) => sessionId)).size < 2) return null;
  return (
    <details
      class="card what-differs"
      open={props.isOpen}
      onToggle={({ currentTarget: { open } }) => open !== props.isOpen && props.onOpen(open)}
    >
      <summary>
        <h2>What differs</h2>
      </summary>
      {props.isOpen && <Differences {...props} />}
    </details>
  );
}

function Differences({ dashboards, recordings }: Props) {
  const bySession = Map.groupBy(dashboards, ({ sessionId }) => sessionId);
  const { readRuns } = useAbilities();
  const found = useResource(
    dashboards.map(({ id }) => id).join(),
    (signal) =>
      readCompared(platform, [...bySession.keys()], {
        dashboards: bySession,
        isWithoutRuns: !readRuns,
        signal,
      }),
    { keepWhileLoading: true },
  );
  const sessions = found.data?.sessions ?? [];
  useEvery(
    readAgainMs,
    sessions.some(({ session }) => session.state === 'running'),
    found.reload,
  );
  return (
    <Loaded of={found} failure="What differs could not be read." rows={4} label="Loading what differs">
      {({ missing }) => (
        <>
          <DifferenceTable sessions={sessions} recordings={recordings} />
          {missing.length > 0 && (
            <p class="faint">
              {plural(missing.length, 'session is', 'sessions are')} left out: deleted, or you may not see it.
            </p>
          )}
        </>
      )}
    </Loaded>
  );
}

function DifferenceTable(props: { sessions: readonly ComparedSession[]; recordings: readonly Recording[] }) {
  const { sessions } = props;
  const [count, setCount] = useState(rowsAtOnce);
  const { rows, same, leftOut } = useMemo(() => differencesOf(sessions), [sessions]);
  const groups = [...Map.groupBy(rows.slice(0, count), ({ of }) => of)];
  const others = `${plural(same, 'other thing is', 'other things are')} the same.`;
  return (
    <>
      {rows.length > 0 && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls sideways, and keys scroll only what has the focus
        <section class="compare-differences" aria-label="Table of what differs" tabIndex={0}>
          <table>
            <caption class="visually-hidden">What differs between the sessions</caption>
            <Heading {...props} />
            {groups.map(([of, ofGroup]) => (
              <tbody key={of}>
                <tr class="difference-group">
                  <th scope="rowgroup" colSpan={sessions.length + 1}>
                    <span>{ofTitle(of)}</span>
                  </th>
                </tr>
                {ofGroup.map((row) => (
                  <DifferenceRow key={row.name} row={row} />
                ))}
              </tbody>
            ))}
          </table>
        </section>
      )}
      {rows.length > count && (
        <p>
          {count} of {plural(rows.length, 'difference', 'differences')} are shown.{' '}
          <button type="button" class="button button-small" onClick={() => setCount(count + rowsAtOnce)}>
            Show more
          </button>
        </p>
      )}
      <p class="faint">{rows.length === 0 ? 'Nothing differs but the names and times.' : others}</p>
      {leftOut.map((sentence) => (
        <p key={sentence} class="faint">
          {sentence}
        </p>
      ))}
    </>
  );
}

function Heading({ sessions, recordings }: Parameters<typeof DifferenceTable>[0]) {
  return (
    <thead>
      <tr>
        <th scope="col">What</th>
        {sessions.map(({ session }, place) => {
          const before = sessions.slice(0, place).filter((one) => one.session.name === session.name).length;
          const recording = recordings.find(({ sessionId }) => sessionId === session.id);
          return (
            <th key={session.id} scope="col">
              {recording !== undefined && <Swatch index={recording.colour} />}{' '}
              <a href={`/sessions/${session.id}`}>
                {session.name}
                {before > 0 && ` (${before + 1})`}
              </a>{' '}
              <span class="faint difference-age">
                <Ago at={session.createdAt} />
              </span>
            </th>
          );
        })}
      </tr>
    </thead>
  );
}

function DifferenceRow({ row }: { row: Difference }) {
  const texts = textsOf(inWords(row));
  return (
    <tr>
      <th scope="row">{row.name}</th>
      {texts.map((text, place) => (
        <td key={place}>
          <Value text={text} />
        </td>
      ))}
    </tr>
  );
}

/** A long value is cut, and opens. */
function Value({ text }: { text: string }) {
  if (text === '') {
    return (
      <span class="faint">
        <span aria-hidden="true">–</span>
        <span class="visually-hidden">none</span>
      </span>
    );
  }
  if (text.length <= shortCharacters) return <>{text}</>;
  return (
    <details>
      <summary>{text.slice(0, shortCharacters - 20)}…</summary>
      {text}
    </details>
  );
}

const ofTitle = (of: string) => (of.startsWith('Node ') ? `Node ${titleOf(of.slice(5))}` : of);

/** With the words of the console for states. */
function inWords(row: Difference): Difference {
  if (row.name !== 'State') return row;
  const wordOf = (value: unknown) => {
    if (typeof value !== 'string') return value;
    return row.of === 'Session'
      ? sessionStyles[value as keyof typeof sessionStyles].label
      : nodeStyle(value).label;
  };
  return { ...row, values: row.values.map(wordOf) };
}
