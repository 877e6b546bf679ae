import { useEffect, useRef, useState } from 'preact/hooks';
import { useResource } from '../../hooks.ts';
import { readFirstCharts } from './first-charts.ts';
import { inTurn } from './in-turn.ts';
import { curveOf, rangeOf, rangeWords } from './small-curve.ts';

const most = { charts: 1, points: 120 };
const size = { width: 96, height: 24 };

/** The first curve of a dashboard in a row of their list; it is read when the row comes into sight. */
export function SparkLine(props: { dimensionId: number }) {
  const place = useRef<HTMLDivElement>(null);
  const [isSeen, setIsSeen] = useState(false);
  useEffect(() => {
    const observer = new IntersectionObserver((entries) => {
      if (entries.some(({ isIntersecting }) => isIntersecting)) setIsSeen(true);
    });
    if (place.current !== null) observer.observe(place.current);
    return () => observer.disconnect();
  }, []);
  return (
    <div ref={place} class="spark">
      {isSeen && <Curve id={String(props.dimensionId)} />}
    </div>
  );
}

function Curve({ id }: { id: string }) {
  const read = useResource(id, (signal) => inTurn(() => readFirstCharts(id, most, signal), signal));
  if (read.error !== null) return <span class="faint">could not be read</span>;
  if (read.data === null) return null;
  const series = read.data.series[0];
  if (series === undefined) return <span class="faint">no curve</span>;
  const range = rangeOf(series);
  return (
    <>
      <svg viewBox={`0 0 ${size.width} ${size.height}`} aria-hidden="true" focusable="false">
        <path d={curveOf(series, range, size)} />
      </svg>
      <span class="spark-words">
        <span>{series.name}</span> <span class="faint">{rangeWords(series, range)}</span>
      </span>
    </>
  );
}
