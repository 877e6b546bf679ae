import type { RefObject } from 'preact';
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
  const [follows, setFollows] = useState(opensAt === 'end');
  const jumped = useRef(false);
  /** The line to bring into view once it is drawn. */
  const wanted = useRef<number | null>(null);
  const measure = useHeights(lines, wrap);
  const { place, readPlace } = useViewport(frame);

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
    measure(element);
    if (opensAt === 'error' && !jumped.current && lines.firstError !== null) {
      jumped.current = true;
      wanted.current = lines.firstError;
      element.scrollTop = lines.offset(Math.floor(lines.firstError / chunkLines));
      readPlace();
    }
    if (wanted.current !== null) {
      if (scrollToLine(element, wanted.current)) wanted.current = null;
    } else if (follows) {
      element.scrollTop = element.scrollHeight;
    }
  });

  return {
    frame,
    shown: lines.window(place.topPx, place.heightPx),
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

/** Measures the drawn lines of a frame. They are drawn again where their heights were not those expected. */
function useHeights(lines: LogLines, wrap: boolean) {
  const [, setMeasured] = useState(0);
  const draw = () => setMeasured((count) => count + 1);
  useEffect(() => {
    lines.forgetHeights();
    draw();
  }, [wrap, lines]);
  return (frame: HTMLElement) => {
    let isNews = false;
    for (const chunk of frame.querySelectorAll<HTMLElement>('[data-chunk]'))
      isNews = lines.measure(Number(chunk.dataset.chunk), chunk.offsetHeight) || isNews;
    if (isNews) draw();
  };
}

/** The part of the frame's content that is in view, as it was when it was read last. */
function useViewport(frame: RefObject<HTMLElement | null>) {
  const [place, setPlace] = useState({ topPx: 0, heightPx: 600 });
  const readPlace = () => {
    const element = frame.current;
    if (element !== null) setPlace({ topPx: element.scrollTop, heightPx: element.clientHeight });
  };
  useEffect(() => {
    const observer = new ResizeObserver(readPlace);
    if (frame.current !== null) observer.observe(frame.current);
    return () => observer.disconnect();
  }, []);
  return { place, readPlace };
}

/** False while the line is not drawn. */
function scrollToLine(frame: HTMLElement, index: number): boolean {
  const line = frame.querySelector<HTMLElement>(`[data-line="${index}"]`);
  if (line === null) return false;
  frame.scrollTop += line.getBoundingClientRect().top - frame.getBoundingClientRect().top - 60;
  return true;
}
