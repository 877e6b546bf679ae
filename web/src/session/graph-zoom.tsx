import type { RefObject, VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Icon } from '../ui/icon.tsx';
import type { GraphLayout } from './graph-layout.ts';

const smallest = 0.3;
/** On a phone a graph is scrolled rather than too small to be read. */
const narrowPx = 600;
const readable = 0.65;
/** Room around the nodes: see session.css. */
const marginPx = 60;

/** The scale of a graph, which fits its frame until the reader chooses another, and its buttons. */
export function useZoom(
  frame: RefObject<HTMLElement | null>,
  layout: GraphLayout,
): { zoom: number; tools: VNode } {
  const [chosen, setChosen] = useState<number | 'whole' | null>(null);
  const [widthPx, setWidthPx] = useState(0);
  useEffect(() => {
    const element = frame.current;
    if (element === null) return;
    const observer = new ResizeObserver(() => setWidthPx(element.clientWidth));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  const whole = Math.max(1, widthPx - marginPx) / Math.max(1, layout.width);
  const opened = widthPx === 0 ? 1 : Math.min(1, Math.max(widthPx < narrowPx ? readable : smallest, whole));
  // A long chain is wider than any scale at which it can be read: it fits when one asks for it.
  const least = widthPx === 0 ? smallest : Math.min(smallest, whole);
  const zoom = chosen === 'whole' ? Math.min(1, whole) : (chosen ?? opened);
  const by = (factor: number) => setChosen(Math.min(1.5, Math.max(least, zoom * factor)));
  useEffect(() => {
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
  const tools = (
    <div class="graph-tools">
      <button
        type="button"
        class="button button-icon"
        aria-label="Zoom out"
        title="Zoom out"
        onClick={() => by(1 / 1.25)}
      >
        <Icon name="minus" />
      </button>
      <button
        type="button"
        class="button button-small button-quiet"
        title="Show the whole graph"
        aria-pressed={chosen === 'whole' || zoom === Math.min(1, whole)}
        onClick={() => setChosen('whole')}
      >
        Fit
      </button>
      <button
        type="button"
        class="button button-icon"
        aria-label="Zoom in"
        title="Zoom in"
        onClick={() => by(1.25)}
      >
        <Icon name="plus" />
      </button>
    </div>
  );
  return { zoom, tools };
}
