import { useEffect, useRef, useState } from 'preact/hooks';

/** A panel that is dragged within `nearness` pixels of the edge of the window scrolls the page by `step` in each frame. */
const edge = { nearness: 70, step: 10 };

/**
 * Panels that are dragged to another place by mouse, pen or finger, or moved by the arrow keys. `move` is false where there is
 * no such place.
 */
export function useDragging(move: (from: number, to: number) => boolean) {
  const dragged = useRef<{ from: number; x: number; y: number; frame: number } | null>(null);
  /** The handle that gets the focus when the panel is at its new place. */
  const follows = useRef<number | null>(null);
  const [over, setOver] = useState<number | null>(null);
  const markTarget = () => {
    if (dragged.current === null) return;
    const { from, x, y } = dragged.current;
    const at = panelAt(x, y);
    setOver(at === from ? null : at);
  };
  const scroll = () => {
    if (dragged.current === null) return;
    const { y } = dragged.current;
    const by = y < edge.nearness ? -edge.step : y > innerHeight - edge.nearness ? edge.step : 0;
    (document.fullscreenElement ?? document.scrollingElement)?.scrollBy(0, by);
    if (by !== 0) markTarget();
    dragged.current.frame = requestAnimationFrame(scroll);
  };
  const end = () => {
    if (dragged.current !== null) cancelAnimationFrame(dragged.current.frame);
    dragged.current = null;
    setOver(null);
  };
  useEffect(() => end, []);
  return {
    over,
    follows,
    begin: (from: number, { clientX: x, clientY: y }: PointerEvent) => {
      dragged.current = { from, x, y, frame: requestAnimationFrame(scroll) };
    },
    to: ({ clientX: x, clientY: y }: PointerEvent) => {
      if (dragged.current === null) return;
      Object.assign(dragged.current, { x, y });
      markTarget();
    },
    drop: ({ clientX, clientY }: PointerEvent) => {
      const from = dragged.current?.from;
      const to = panelAt(clientX, clientY);
      end();
      if (from !== undefined && to !== null && to !== from) move(from, to);
    },
    end,
    step: (index: number, by: number) => {
      if (move(index, index + by)) follows.current = index + by;
    },
  };
}

/** The number of the panel at a place of the window. */
function panelAt(x: number, y: number): number | null {
  const cell = document.elementFromPoint(x, y)?.closest<HTMLElement>('.panel-cell');
  return cell?.dataset.panel === undefined ? null : Number(cell.dataset.panel);
}

const steps: Readonly<Record<string, number>> = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1 };

/** Takes a panel by the pointer or by the keys. */
export function DragHandle(props: {
  index: number;
  count: number;
  dragging: ReturnType<typeof useDragging>;
}) {
  const { index, dragging } = props;
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (dragging.follows.current !== index) return;
    dragging.follows.current = null;
    button.current?.focus();
  });
  if (props.count < 2) return null;
  return (
    <button
      ref={button}
      type="button"
      class="button button-small panel-handle"
      aria-label={`Move panel ${index + 1}: arrow keys`}
      title="Drag, or press the arrow keys, to move this panel"
      onPointerDown={(event) => {
        if (event.button !== 0 || !event.isPrimary) return;
        event.currentTarget.setPointerCapture(event.pointerId);
        dragging.begin(index, event);
      }}
      onPointerMove={dragging.to}
      onPointerUp={dragging.drop}
      onPointerCancel={dragging.end}
      onKeyDown={(event) => {
        if (event.key === 'Escape') dragging.end();
        const by = steps[event.key];
        if (by === undefined) return;
        event.preventDefault();
        dragging.step(index, by);
      }}
    >
      ⠿
    </button>
  );
}
