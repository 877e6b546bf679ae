import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { chunkLines, type LogLines } from './log-lines.ts';

/** A scroll that ends this close to the last line follows it. */
const nearEndPx = 24;

export type OpensAt = 'start' | 'end' | 'error';

/**
 * Which lines are in view, and where the frame stands: at its newest line while it follows, and once at the first error
 * of a log that opens there.
 */
export function useLogPlace(lines: LogLines, wrap: boolean, opensAt: OpensAt) {
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

  return {
    frame,
    shown,
    follows,
    /** There are lines below those in view. */
    hasMore: place.topPx + place.heightPx < lines.offset(lines.chunks) - nearEndPx,
    onScroll: ({ scrollTop, scrollHeight, clientHeight }: HTMLElement) => {
      setFollows(scrollTop + clientHeight >= scrollHeight - nearEndPx && wanted.current === null);
      readPlace();
    },
    toEnd: () => {
      setFollows(true);
      if (frame.current !== null) frame.current.scrollTop = frame.current.scrollHeight;
    },
  };
}
