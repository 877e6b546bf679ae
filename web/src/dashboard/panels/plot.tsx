import { useEffect, useRef, useState } from 'preact/hooks';
import { formatValue } from '../../format.ts';
import type { ChartGroup } from '../chart-group.ts';
import { nearestIndex } from '../time.ts';
import { type Scale, scaleOf, type Trace } from './model.ts';
import { ticksOf, toScale } from './scale.ts';

const margin = { left: 64, right: 16, top: 24, bottom: 34 };
const colours = 8;

/** Curves or points of one channel over another. A dot follows the cursor. */
export function Plot(props: {
  label: string;
  traces: readonly Trace[];
  as: 'line' | 'dots';
  across: string;
  up: string;
  height: number;
  /** The axes are longitude and latitude: as many pixels a metre on both. */
  isMap?: boolean;
  group: ChartGroup;
}) {
  const { traces, height, group } = props;
  const frame = useRef<HTMLDivElement>(null);
  const dots = useRef<SVGGElement>(null);
  const width = useWidth(frame);
  const found = [scaleOf(traces.map(({ xs }) => xs)), scaleOf(traces.map(({ ys }) => ys))];
  const [x = null, y = null] = props.isMap === true ? mapScales(found, width, height) : found;
  const place = x === null || y === null ? null : placer(x, y, width, height);
  useEffect(() => {
    const follow = (timeMs: number | null) => {
      for (const [index, dot] of [...(dots.current?.children ?? [])].entries()) {
        const trace = traces[index];
        const at = timeMs === null || trace === undefined ? null : nearestIndex(trace.times, timeMs);
        const isWithin = at !== null && timeMs! >= trace!.times[0]! && timeMs! <= trace!.times.at(-1)!;
        const value = at === null ? null : trace!.ys[at];
        dot.setAttribute('visibility', isWithin && value !== null ? 'visible' : 'hidden');
        if (place !== null && isWithin && value != null)
          dot.setAttribute('transform', `translate(${place.x(trace!.xs[at]!)} ${place.y(value)})`);
      }
    };
    follow(group.cursorMs);
    return group.listen(follow);
  });
  return (
    <div ref={frame} class="plot" style={{ height: `${height}px` }}>
      {place === null ? (
        <p class="faint plot-none">No values in this range.</p>
      ) : (
        <svg width={width} height={height} role="img" aria-label={props.label}>
          <Axes
            x={x!}
            y={y!}
            place={place}
            width={width}
            height={height}
            across={props.across}
            up={props.up}
          />
          {traces.map((trace, index) => (
            <path
              key={trace.name}
              class={`plot-${props.as} plot-${(index % colours) + 1}`}
              d={pathOf(trace, place, props.as)}
            />
          ))}
          <g ref={dots}>
            {traces.map((trace) => (
              <circle key={trace.name} class="plot-cursor" r="5" visibility="hidden" />
            ))}
          </g>
        </svg>
      )}
    </div>
  );
}

/** How often each value is. */
export function Bars(props: {
  label: string;
  scale: Scale;
  shares: readonly number[];
  across: string;
  height: number;
}) {
  const { scale, shares, height } = props;
  const frame = useRef<HTMLDivElement>(null);
  const width = useWidth(frame);
  const y = { min: 0, max: Math.max(...shares, 0.0001) * 100 };
  const place = placer(scale, y, width, height);
  const step = (scale.max - scale.min) / shares.length;
  return (
    <div ref={frame} class="plot" style={{ height: `${height}px` }}>
      <svg width={width} height={height} role="img" aria-label={props.label}>
        <Axes
          x={scale}
          y={y}
          place={place}
          width={width}
          height={height}
          across={props.across}
          up="% of rows"
        />
        {shares.map((share, index) => {
          const [from, to] = [scale.min + step * index, scale.min + step * (index + 1)];
          const [left, right, top] = [place.x(from), place.x(to), place.y(share * 100)];
          return (
            <rect
              key={from}
              class="plot-bar"
              x={left + 1}
              y={top}
              width={Math.max(1, right - left - 2)}
              height={Math.max(0, place.y(0) - top)}
            >
              <title>{`${formatValue(from)} to ${formatValue(to)}: ${(share * 100).toFixed(1)} %`}</title>
            </rect>
          );
        })}
      </svg>
    </div>
  );
}

function mapScales([x, y]: readonly (Scale | null)[], width: number, height: number) {
  if (x == null || y == null) return [];
  const fitted = toScale({ x, y }, innerWidth(width), innerHeight(height));
  return [fitted.x, fitted.y];
}

const innerWidth = (width: number) => Math.max(1, width - margin.left - margin.right);
const innerHeight = (height: number) => Math.max(1, height - margin.top - margin.bottom);

interface Place {
  x: (value: number) => number;
  y: (value: number) => number;
}

function placer(x: Scale, y: Scale, width: number, height: number): Place {
  const [across, up] = [innerWidth(width), innerHeight(height)];
  return {
    x: (value) => margin.left + ((value - x.min) / (x.max - x.min)) * across,
    y: (value) => margin.top + up - ((value - y.min) / (y.max - y.min)) * up,
  };
}

const tenth = (value: number) => Math.round(value * 10) / 10;

function pathOf({ xs, ys }: Trace, place: Place, as: 'line' | 'dots'): string {
  let path = '';
  let isOpen = false;
  for (const [index, x] of xs.entries()) {
    const value = ys[index] ?? null;
    if (value === null) {
      isOpen = false;
      continue;
    }
    const [left, top] = [tenth(place.x(x)), tenth(place.y(value))];
    path += as === 'dots' ? `M${left} ${top}h0` : `${isOpen ? 'L' : 'M'}${left} ${top}`;
    isOpen = true;
  }
  return path;
}

function Axes(props: {
  x: Scale;
  y: Scale;
  place: Place;
  width: number;
  height: number;
  across: string;
  up: string;
}) {
  const { x, y, place, width, height } = props;
  const bottom = height - margin.bottom;
  return (
    <g class="plot-axes">
      {ticksOf(y).map(({ value, text }) => (
        <g key={value}>
          <line x1={margin.left} x2={width - margin.right} y1={place.y(value)} y2={place.y(value)} />
          <text x={margin.left - 6} y={place.y(value) + 4} text-anchor="end">
            {text}
          </text>
        </g>
      ))}
      {ticksOf(x).map(({ value, text }, index) => (
        <text
          key={value}
          x={place.x(value)}
          y={bottom + 15}
          text-anchor={index === 0 ? 'start' : index === 4 ? 'end' : 'middle'}
        >
          {text}
        </text>
      ))}
      <text x={(margin.left + width) / 2} y={height - 4} text-anchor="middle">
        {props.across}
      </text>
      <text class="plot-up" x={8} y={12}>
        {props.up}
      </text>
    </g>
  );
}

function useWidth(frame: { current: HTMLElement | null }): number {
  const [width, setWidth] = useState(600);
  useEffect(() => {
    const element = frame.current;
    if (element === null) return;
    const resize = new ResizeObserver(() => element.clientWidth > 0 && setWidth(element.clientWidth));
    resize.observe(element);
    return () => resize.disconnect();
  }, []);
  return width;
}
