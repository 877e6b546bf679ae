import { useEffect, useState } from 'preact/hooks';
import type { Scale } from './model.ts';
import { margin, type Place } from './place.ts';
import { ticksOf } from './scale.ts';

/** The lines and numbers of both axes, and what they are of. */
export function Axes(props: {
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
      {ticksOf(x).map(({ value, text }) => (
        <text key={value} x={place.x(value)} y={bottom + 15} text-anchor={anchorOf(place.x(value), width)}>
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

/** Words at an edge of the drawing stay within it. */
const edge = 24;
const anchorOf = (x: number, width: number) =>
  x < margin.left + edge ? 'start' : x > width - margin.right - edge ? 'end' : 'middle';

/** The width of an element in pixels, as it changes. */
export function useWidth(frame: { current: HTMLElement | null }): number {
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
