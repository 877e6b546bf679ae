import { useRef } from 'preact/hooks';
import { formatValue } from '../../format.ts';
import { Axes, useWidth } from './axes.tsx';
import type { Scale } from './model.ts';
import { type Place, placer } from './place.ts';

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
      <svg
        width={width}
        height={height}
        viewBox={`0 0 ${width} ${height}`}
        role="img"
        aria-label={props.label}
      >
        <Axes
          x={scale}
          y={y}
          place={place}
          width={width}
          height={height}
          across={props.across}
          up="% of values"
        />
        {shares.map((share, index) => {
          const from = scale.min + step * index;
          return (
            <Bar key={from} from={from} to={scale.min + step * (index + 1)} share={share} place={place} />
          );
        })}
      </svg>
    </div>
  );
}

/** The share of the values between two. */
function Bar({ from, to, share, place }: { from: number; to: number; share: number; place: Place }) {
  const [left, right, top] = [place.x(from), place.x(to), place.y(share * 100)];
  return (
    <rect
      class="plot-bar"
      x={left + 1}
      y={top}
      width={Math.max(1, right - left - 2)}
      height={Math.max(0, place.y(0) - top)}
    >
      <title>{`${formatValue(from)} to ${formatValue(to)}: ${(share * 100).toFixed(1)} %`}</title>
    </rect>
  );
}
