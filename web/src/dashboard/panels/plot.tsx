import { useEffect, useId, useRef, useState } from 'preact/hooks';
import type { ChartGroup } from '../chart/group.ts';
import { nearestIndex } from '../time.ts';
import { Axes, useWidth } from './axes.tsx';
import { type Drawing, type Held, pathOf, wholeOf } from './drawing.ts';
import type { Trace } from './model.ts';
import { type Box, innerHeight, innerWidth, margin, type Place, placer, scalesOf } from './place.ts';
import { shifted, toScale, zoomed } from './scale.ts';

const colours = 8;

/** Curves or points of one channel over another. A dot follows the cursor. A box that is dragged is shown alone. */
export function Plot(props: {
  drawing: Drawing;
  height: number;
  group: ChartGroup;
  /** Null: all of it. */
  held: Held | null;
  onHold: (held: Held | null) => void;
}) {
  const { drawing, height, group, onHold } = props;
  const frame = useRef<HTMLDivElement>(null);
  const width = useWidth(frame);
  const wanted = props.held ?? wholeOf(drawing);
  const shown =
    wanted !== null && drawing.isMap ? toScale(wanted, innerWidth(width), innerHeight(height)) : wanted;
  const drag = useBox((box) => {
    const next = shown === null ? null : scalesOf(box, shown.x, shown.y, width, height);
    if (next !== null) onHold(next);
  });
  if (shown === null) {
    return (
      <div ref={frame} class="plot" style={{ height: `${height}px` }}>
        <p class="faint plot-none">No values in this range.</p>
      </div>
    );
  }
  return (
    <div
      ref={frame}
      class="plot"
      style={{ height: `${height}px` }}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: an application takes keys, so it must be reachable by them
      tabIndex={0}
      role="application"
      aria-roledescription="chart"
      aria-label={`${drawing.label}. Plus and minus zoom, arrow keys move, Escape shows everything.`}
      onKeyDown={(event) => {
        if (event.ctrlKey || event.metaKey || event.altKey) return;
        const next = byKey(event.key, shown);
        if (next === undefined) return;
        event.preventDefault();
        onHold(next);
      }}
      onDblClick={() => onHold(null)}
      {...drag.handlers}
    >
      <Picture drawing={drawing} shown={shown} width={width} height={height} group={group} box={drag.box} />
    </div>
  );
}

/** The axes, the traces with their dots, and the box that is dragged. */
function Picture(props: {
  drawing: Drawing;
  shown: Held;
  width: number;
  height: number;
  group: ChartGroup;
  box: Box | null;
}) {
  const { drawing, shown, width, height, box } = props;
  const { traces, as } = drawing;
  const clip = useId();
  const place = placer(shown.x, shown.y, width, height);
  return (
    <svg
      width={width}
      height={height}
      viewBox={`0 0 ${width} ${height}`}
      role="img"
      aria-label={drawing.label}
    >
      <clipPath id={clip}>
        <rect x={margin.left} y={margin.top} width={innerWidth(width)} height={innerHeight(height)} />
      </clipPath>
      <Axes {...shown} place={place} width={width} height={height} across={drawing.across} up={drawing.up} />
      <g clip-path={`url(#${clip})`}>
        {traces.map((trace, index) => (
          <path
            key={trace.name}
            class={`plot-${as} plot-${(index % colours) + 1}`}
            d={pathOf(trace, place, as)}
          />
        ))}
        <CursorDots traces={traces} place={place} group={props.group} />
      </g>
      {box !== null && (
        <rect
          class="plot-box"
          x={Math.min(box.fromX, box.toX)}
          y={Math.min(box.fromY, box.toY)}
          width={Math.abs(box.toX - box.fromX)}
          height={Math.abs(box.toY - box.fromY)}
        />
      )}
    </svg>
  );
}

/** A dot on each trace at the time of the cursor, moved without drawing the page again. */
function CursorDots(props: { traces: readonly Trace[]; place: Place; group: ChartGroup }) {
  const { traces, place, group } = props;
  const dots = useRef<SVGGElement>(null);
  useEffect(() => {
    const follow = (timeMs: number | null) => moveDots(dots.current, traces, place, timeMs);
    follow(group.cursorMs);
    return group.listen(follow);
  });
  return (
    <g ref={dots}>
      {traces.map((trace) => (
        <circle key={trace.name} class="plot-cursor" r="5" visibility="hidden" />
      ))}
    </g>
  );
}

/** Undefined for keys that do nothing. */
function byKey(key: string, { x, y }: Held): Held | null | undefined {
  const keys: Readonly<Record<string, () => Held | null>> = {
    '+': () => ({ x: zoomed(x, 0.5), y: zoomed(y, 0.5) }),
    '=': () => ({ x: zoomed(x, 0.5), y: zoomed(y, 0.5) }),
    '-': () => ({ x: zoomed(x, 2), y: zoomed(y, 2) }),
    ArrowLeft: () => ({ x: shifted(x, -0.2), y }),
    ArrowRight: () => ({ x: shifted(x, 0.2), y }),
    ArrowDown: () => ({ x, y: shifted(y, -0.2) }),
    ArrowUp: () => ({ x, y: shifted(y, 0.2) }),
    Escape: () => null,
    '0': () => null,
  };
  return keys[key]?.();
}

/** A box that is dragged with the mouse, in pixels of the element. Fingers scroll the page. */
function useBox(done: (box: Box) => void) {
  const [box, setBox] = useState<Box | null>(null);
  const at = (event: PointerEvent & { currentTarget: HTMLElement }) => {
    const { left, top } = event.currentTarget.getBoundingClientRect();
    return [event.clientX - left, event.clientY - top] as const;
  };
  return {
    box,
    handlers: {
      onPointerDown: (event: PointerEvent & { currentTarget: HTMLElement }) => {
        if (event.button !== 0 || event.pointerType === 'touch') return;
        event.currentTarget.setPointerCapture(event.pointerId);
        const [x, y] = at(event);
        setBox({ fromX: x, fromY: y, toX: x, toY: y });
      },
      onPointerMove: (event: PointerEvent & { currentTarget: HTMLElement }) => {
        if (box === null) return;
        const [toX, toY] = at(event);
        setBox({ ...box, toX, toY });
      },
      onPointerUp: () => {
        if (box !== null) done(box);
        setBox(null);
      },
      onPointerCancel: () => setBox(null),
    },
  };
}

function moveDots(
  dots: SVGGElement | null,
  traces: readonly Trace[],
  place: Place,
  timeMs: number | null,
): void {
  for (const [index, dot] of [...(dots?.children ?? [])].entries()) {
    const trace = traces[index];
    const at = timeMs === null || trace === undefined ? null : nearestIndex(trace.times, timeMs);
    const isWithin = at !== null && timeMs! >= trace!.times[0]! && timeMs! <= trace!.times.at(-1)!;
    const value = at === null ? null : trace!.ys[at];
    dot.setAttribute('visibility', isWithin && value !== null ? 'visible' : 'hidden');
    if (isWithin && value != null)
      dot.setAttribute('transform', `translate(${place.x(trace!.xs[at]!)} ${place.y(value)})`);
  }
}
