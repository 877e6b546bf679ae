import type { RefObject, VNode } from 'preact';
import { useLayoutEffect, useMemo, useState } from 'preact/hooks';
import { IconButton } from '../ui/buttons.tsx';
import { foldToFit } from './graph-fold.ts';
import type { GraphLayout, GraphSizes } from './graph-layout.ts';

const smallest = 0.3;
/** On a phone a graph is scrolled rather than too small to be read. */
const narrowPx = 600;
const readable = 0.65;
/** At a smaller scale names lose their ends: the graph is set in bands. */
const named = 0.45;
/** Room around the nodes: see session.css. */
const marginPx = 60;
/** The share of the window's height that has room below the head of the page. */
const roomShare = 0.6;

/** A smaller node shows its sign and its name alone. */
export const isSmall = (zoom: number) => zoom < readable;

/** The line height of a small node's name, which keeps its size: see graph.css. */
const lineHeightPx = 13.2;

/** How many lines of its name fit into a node, beside its state where it shows that. */
export const nameLines = (zoom: number, nodeHeightPx: number) =>
  isSmall(zoom) ? Math.max(1, Math.floor((nodeHeightPx * zoom) / lineHeightPx)) : 2;

/**
 * The scale of a graph, which fits its frame until the reader chooses another, and its buttons. A graph that is too wide to be
 * read in one band is set in several.
 */
export function useZoom(
  frame: RefObject<HTMLElement | null>,
  unfolded: GraphLayout,
  sizes: GraphSizes,
): { zoom: number; layout: GraphLayout; tools: VNode } {
  const [chosen, setChosen] = useState<number | null>(null);
  const [asked, setAsked] = useState(false);
  const widthPx = useWidth(frame);
  const isNarrow = widthPx < narrowPx;
  const fits = asked || !isNarrow;
  const width = Math.max(1, widthPx - marginPx);
  const layout = useMemo(
    () =>
      fits && width / unfolded.width < named
        ? foldToFit(unfolded, sizes, { width, height: window.innerHeight * roomShare })
        : unfolded,
    [unfolded, sizes, fits, width],
  );
  const whole = Math.min(1, width / Math.max(1, layout.width));
  const opened = widthPx === 0 ? 1 : fits ? whole : Math.max(readable, whole);
  const least = widthPx === 0 ? smallest : Math.min(smallest, whole);
  const zoom = chosen ?? opened;
  const by = (factor: number) => setChosen(Math.min(1.5, Math.max(least, zoom * factor)));
  useWheel(frame, by);
  const fit = () => {
    setAsked(true);
    setChosen(null);
  };
  const tools = <ZoomTools by={by} fit={fit} isWhole={fits && chosen === null} />;
  return { zoom, layout, tools };
}

/** Turning the wheel with Ctrl zooms. */
function useWheel(frame: RefObject<HTMLElement | null>, by: (factor: number) => void): void {
  useLayoutEffect(() => {
    const element = frame.current;
    if (element === null) return;
    // Not passive: the browser would zoom the whole page.
    const turn = (event: WheelEvent) => {
      if (!event.ctrlKey) return;
      event.preventDefault();
      by(event.deltaY < 0 ? 1.1 : 1 / 1.1);
    };
    element.addEventListener('wheel', turn, { passive: false });
    return () => element.removeEventListener('wheel', turn);
  });
}

function ZoomTools(props: { by: (factor: number) => void; fit: () => void; isWhole: boolean }) {
  return (
    <div class="graph-tools">
      <IconButton icon="minus" label="Zoom out" onClick={() => props.by(1 / 1.25)} />
      <button
        type="button"
        class="button button-small button-quiet"
        title="Show the whole graph"
        aria-pressed={props.isWhole}
        onClick={props.fit}
      >
        Fit
      </button>
      <IconButton icon="plus" label="Zoom in" onClick={() => props.by(1.25)} />
    </div>
  );
}

/** The present width of an element; 0 until it is known. */
function useWidth(element: RefObject<HTMLElement | null>): number {
  const [widthPx, setWidthPx] = useState(0);
  // Before the first frame: the graph would be seen at another scale, and a press on its tools counted from that.
  useLayoutEffect(() => {
    const { current } = element;
    if (current === null) return;
    const measure = () => setWidthPx(current.clientWidth);
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(current);
    return () => observer.disconnect();
  }, []);
  return widthPx;
}
