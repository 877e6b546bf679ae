import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { RunLogEntry } from '../runs-api.ts';
import { Icon } from '../ui/icon.tsx';
import { chunkLines, type LogLines, piecesOf } from './log-lines.ts';

/** A scroll that ends this close to the last line follows it. */
const nearEndPx = 24;

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
  opensAt: 'start' | 'end' | 'error';
}) {
  const { lines, wrap, opensAt } = props;
  const frame = useRef<HTMLElement>(null);
  const [place, setPlace] = useState({ topPx: 0, heightPx: 600 });
  const [follows, setFollows] = useState(opensAt === 'end');
  const [, setMeasured] = useState(0);
  const jumped = useRef(false);
  /** The line to bring into view once it is drawn. */
  const wanted = useRef<number | null>(null);
  const shown = lines.window(place.topPx, place.heightPx);

  const readPlace = () => {
    const element = frame.current;
    if (element !== null) setPlace({ topPx: element.scrollTop, heightPx: element.clientHeight });
  };
  useEffect(() => {
    lines.forgetHeights();
    setMeasured((count) => count + 1);
  }, [wrap, lines]);
  useEffect(() => {
    const observer = new ResizeObserver(readPlace);
    if (frame.current !== null) observer.observe(frame.current);
    return () => observer.disconnect();
  }, []);

  // Another log begins anew.
  const before = useRef(lines);
  if (before.current !== lines) {
    before.current = lines;
    jumped.current = false;
    wanted.current = null;
  }
  useLayoutEffect(() => {
    const element = frame.current;
    if (element === null) return;
    let isNews = false;
    for (const chunk of element.querySelectorAll<HTMLElement>('[data-chunk]'))
      isNews = lines.measure(Number(chunk.dataset.chunk), chunk.offsetHeight) || isNews;
    if (isNews) setMeasured((count) => count + 1);
    if (opensAt === 'error' && !jumped.current && lines.firstError !== null) {
      jumped.current = true;
      wanted.current = lines.firstError;
      element.scrollTop = lines.offset(Math.floor(lines.firstError / chunkLines));
      readPlace();
    }
    if (wanted.current !== null) {
      const line = element.querySelector<HTMLElement>(`[data-line="${wanted.current}"]`);
      if (line === null) return;
      wanted.current = null;
      element.scrollTop += line.getBoundingClientRect().top - element.getBoundingClientRect().top - 60;
    } else if (follows) {
      element.scrollTop = element.scrollHeight;
    }
  });

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
        onScroll={(event) => {
          const { scrollTop, scrollHeight, clientHeight } = event.currentTarget;
          setFollows(scrollTop + clientHeight >= scrollHeight - nearEndPx && wanted.current === null);
          readPlace();
        }}
      >
        <div style={{ height: `${shown.abovePx}px` }} />
        {chunks.map((chunk) => (
          <Chunk
            key={chunk}
            lines={lines}
            chunk={chunk}
            search={props.search}
            withAttempt={props.manyAttempts}
          />
        ))}
        <div style={{ height: `${shown.belowPx}px` }} />
      </section>
      {!follows && lines.entries.length > 0 && (
        <button
          type="button"
          class="button button-small log-end"
          onClick={() => {
            setFollows(true);
            if (frame.current !== null) frame.current.scrollTop = frame.current.scrollHeight;
          }}
        >
          <Icon name="down" />
          {lines.isComplete ? 'To the end' : 'Follow'}
        </button>
      )}
    </div>
  );
}

/** Drawn again only when lines have been added to it. */
function Chunk(props: { lines: LogLines; chunk: number; search: string; withAttempt: boolean }) {
  const { lines, chunk, search, withAttempt } = props;
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
          />
        ))}
      </div>
    ),
    [lines, chunk, entries.length, search, withAttempt],
  );
}

function Line(props: { entry: RunLogEntry; index: number; search: string; withAttempt: boolean }) {
  const { entry, search } = props;
  const fields = entry.fields === null ? '' : JSON.stringify(entry.fields);
  return (
    <div class={`log-line log-${entry.level} log-from-${entry.source}`} data-line={props.index}>
      <time class="log-at" dateTime={entry.at} title={entry.at}>
        {clock(entry.at)}
      </time>
      {props.withAttempt && <span class="log-attempt">#{entry.attempt}</span>}
      <span class="log-level">{entry.source === 'platform' ? 'platform' : entry.level}</span>
      <span class="log-message">
        <Marked text={entry.message} search={search} />
        {fields !== '' && fields !== '{}' && (
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

/** `10:04:01.120` in the zone of the person's machine. */
function clock(iso: string): string {
  const date = new Date(iso);
  const pad = (value: number, length = 2) => String(value).padStart(length, '0');
  return `${pad(date.getHours())}:${pad(date.getMinutes())}:${pad(date.getSeconds())}.${pad(date.getMilliseconds(), 3)}`;
}
