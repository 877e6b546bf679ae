import { useMemo } from 'preact/hooks';
import { shownZone } from '../format.ts';
import { Icon } from '../ui/icon.tsx';
import { useNamesOfPeople } from '../ui/people.ts';
import type { RunLogEntry } from './api.ts';
import { chunkLines, type LogLines, piecesOf, readable } from './log-lines.ts';
import { type OpensAt, useLogPlace } from './use-log-place.ts';

/**
 * The lines of a log, of which only those in view are in the document. It stays at the newest line until it is scrolled
 * away from there; a failed attempt opens at its first error.
 */
export function LogView(props: {
  lines: LogLines;
  /** Grows with every change of the lines. */
  version: number;
  wrap: boolean;
  search: string;
  /** Lines of several attempts: each says its own. */
  manyAttempts: boolean;
  /** Stands in place of lines. */
  none: string;
  opensAt: OpensAt;
}) {
  const { lines, wrap } = props;
  const { frame, shown, follows, hasMore, onScroll, toEnd } = useLogPlace(lines, wrap, props.opensAt);
  const names = useNamesOfPeople(lines.people);
  const chunks: number[] = [];
  for (let chunk = shown.first; chunk <= shown.last && chunk < lines.chunks; chunk += 1) chunks.push(chunk);
  return (
    <div class="log-frame">
      <section
        ref={frame}
        class={wrap ? 'log log-wrapped' : 'log'}
        aria-label="Lines of the log"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keys.
        tabIndex={0}
        onScroll={(event) => onScroll(event.currentTarget)}
      >
        {lines.entries.length === 0 && <p class="log-none">{props.none}</p>}
        <div style={{ height: `${shown.abovePx}px` }} />
        {chunks.map((chunk) => (
          <Chunk
            key={chunk}
            lines={lines}
            chunk={chunk}
            search={props.search}
            withAttempt={props.manyAttempts}
            names={names}
          />
        ))}
        <div style={{ height: `${shown.belowPx}px` }} />
      </section>
      {!follows && (lines.isComplete ? hasMore : lines.entries.length > 0) && (
        <button type="button" class="button button-small log-end" onClick={toEnd}>
          <Icon name="down" />
          {lines.isComplete ? 'To the end' : 'Follow'}
        </button>
      )}
    </div>
  );
}

/** Drawn again only when lines have been added to it. */
function Chunk(props: {
  lines: LogLines;
  chunk: number;
  search: string;
  withAttempt: boolean;
  names: ReadonlyMap<string | null, string>;
}) {
  const { lines, chunk, search, withAttempt, names } = props;
  const entries = lines.chunk(chunk);
  return useMemo(
    () => (
      <div data-chunk={chunk}>
        {entries.map((entry, index) => (
          <Line
            key={entry.position}
            entry={entry}
            index={chunk * chunkLines + index}
            search={search}
            withAttempt={withAttempt}
            names={names}
          />
        ))}
      </div>
    ),
    [lines, chunk, entries.length, search, withAttempt, names.size],
  );
}

function Line(props: {
  entry: RunLogEntry;
  index: number;
  search: string;
  withAttempt: boolean;
  names: ReadonlyMap<string | null, string>;
}) {
  const { entry, search } = props;
  const { message, fields } = readable(entry, props.names);
  return (
    <div class={`log-line log-${entry.level} log-from-${entry.source}`} data-line={props.index}>
      <time class="log-at" dateTime={entry.at} title={entry.at}>
        {clock(entry.at)}
      </time>
      {props.withAttempt && <span class="log-attempt">#{entry.attempt}</span>}
      <span class="log-level">{entry.source === 'platform' ? 'platform' : entry.level}</span>
      <span class="log-message" title={message === entry.message ? undefined : entry.message}>
        <Marked text={message} search={search} />
        {fields !== '' && (
          <span class="log-fields">
            {' '}
            <Marked text={fields} search={search} />
          </span>
        )}
      </span>
    </div>
  );
}

function Marked({ text, search }: { text: string; search: string }) {
  return (
    <>
      {piecesOf(text, search).map((piece, index) =>
        index % 2 === 1 ? <mark key={index}>{piece}</mark> : piece,
      )}
    </>
  );
}

/** `10:04:01.120` in the chosen zone. */
function clock(iso: string): string {
  const date = new Date(iso);
  if (shownZone === 'UTC') return date.toISOString().slice(11, 23);
  const pad = (value: number, length = 2) => String(value).padStart(length, '0');
  return `${pad(date.getHours())}:${pad(date.getMinutes())}:${pad(date.getSeconds())}.${pad(date.getMilliseconds(), 3)}`;
}
