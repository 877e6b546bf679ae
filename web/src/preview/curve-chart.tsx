import { useEffect, useRef, useState } from 'preact/hooks';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { clockFormatter, withoutLine } from '../dashboard/chart/options.ts';
import { UtcDate } from '../dashboard/chart/utc-date.ts';
import { formatValue } from '../format.ts';
import { useDarkScheme } from '../hooks.ts';
import type { Curves } from './read.ts';

const height = 320;

/** One column over the axis, with a selector for the column. */
export function CurveChart({ curves }: { curves: Curves }) {
  const [chosen, setChosen] = useState(0);
  const curve = curves.curves[chosen] ?? curves.curves[0]!;
  const frame = useCurve(curves, curve);
  const numbers = curve.values.filter((value) => value !== null);
  const lowest = numbers.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY);
  const highest = numbers.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY);
  return (
    <div class="preview-chart">
      <label class="preview-choice">
        <span>Values of</span>
        <select
          class="select"
          value={String(chosen)}
          onChange={(event) => setChosen(Number(event.currentTarget.value))}
        >
          {curves.curves.map(({ name }, index) => (
            <option key={`${index} ${name}`} value={String(index)}>
              {name}
            </option>
          ))}
        </select>
        <span class="faint">
          {numbers.length > 0 && `${formatValue(lowest)} to ${formatValue(highest)}`} over {curves.axis.name}
        </span>
      </label>
      <div
        ref={frame}
        class="preview-plot"
        role="img"
        aria-label={`Curve of ${curve.name} over ${curves.axis.name}, from ${formatValue(lowest)} to ${formatValue(highest)}`}
      />
    </div>
  );
}

/** Draws a curve over the axis into the element that has the returned reference. */
function useCurve(curves: Curves, curve: Curves['curves'][number]) {
  const frame = useRef<HTMLDivElement>(null);
  const dark = useDarkScheme();
  useEffect(() => {
    const element = frame.current;
    if (element === null) return;
    const chart = new uPlot(
      options(curves, curve.name, element.clientWidth),
      [curves.xs, curve.values],
      element,
    );
    const resize = new ResizeObserver(() => {
      if (element.clientWidth > 0) chart.setSize({ width: element.clientWidth, height });
    });
    resize.observe(element);
    return () => {
      resize.disconnect();
      chart.destroy();
    };
  }, [curves, curve, dark]);
  return frame;
}

function options(curves: Curves, name: string, width: number): uPlot.Options {
  const style = getComputedStyle(document.documentElement);
  const colour = (variable: string) => style.getPropertyValue(variable).trim();
  const axis = {
    stroke: colour('--chart-axis'),
    font: `12px ${colour('--font')}`,
    grid: { stroke: colour('--chart-grid'), width: 1 },
    ticks: { show: false },
  };
  const stroke = colour('--series-1');
  const number = (_chart: uPlot, splits: number[]) => splits.map(formatValue);
  return {
    width,
    height,
    ms: 1,
    legend: { show: false },
    scales: { x: { time: curves.axis.kind === 'time' } },
    fmtDate: (pattern) => clockFormatter(pattern, () => true),
    tzDate: (time) => new UtcDate(time),
    axes: [
      { ...axis, ...(curves.axis.kind === 'time' ? {} : { values: number }) },
      { ...axis, size: 76, values: number },
    ],
    series: [
      {},
      { label: name, stroke, width: 1.5, points: { size: 5, width: 0, fill: stroke, filter: withoutLine } },
    ],
  };
}
