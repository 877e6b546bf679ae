/** The points of a chart's curves, and its values as text. */
import type uPlot from 'uplot';
import type { ChannelSeries } from '../../api.ts';
import { legendName } from '../model.ts';
import { formatMoment } from '../time.ts';
import { heights, valueAt, type Words } from './curve.ts';
import { joinCurves } from './join.ts';
import type { ChartProps } from './props.ts';

/** All curves over the union of their times; a curve without a sample at a time just continues. */
export function alignCurves(
  curves: (ChannelSeries | undefined)[],
  words: Words,
  originMs: number,
  logarithmic: boolean,
): uPlot.AlignedData {
  // A logarithm has no place for zero and below.
  const placed = (values: (number | null)[]) =>
    logarithmic ? values.map((value) => (value !== null && value > 0 ? value : null)) : values;
  const drawn = curves.map((curve) => ({
    times: curve?.times ?? [],
    heights: curve === undefined ? [] : placed(heights(curve, words)),
  }));
  const shift = (times: readonly number[]) =>
    originMs === 0 ? [...times] : times.map((time) => time - originMs);
  const first = drawn[0];
  if (first !== undefined && drawn.every((curve) => sameTimes(curve.times, first.times))) {
    return [shift(first.times), ...drawn.map((curve) => curve.heights)];
  }
  const { times, values } = joinCurves(
    drawn.map((curve) => ({ times: shift(curve.times), values: curve.heights })),
  );
  return [times, ...values];
}

function sameTimes(a: readonly number[], b: readonly number[]): boolean {
  return a === b || (a.length === b.length && a.every((time, index) => time === b[index]));
}

/** Written directly into the DOM: the cursor moves far more often than the page should render. */
export function showValues(
  elements: Map<string, HTMLElement>,
  props: ChartProps,
  timeMs: number | null,
): void {
  for (const channel of props.panel.channels) {
    const element = elements.get(channel.key);
    if (element === undefined) continue;
    const text = timeMs === null ? '' : valueAt(props.series.get(channel.key), channel, timeMs);
    if (element.textContent !== text) element.textContent = text;
  }
}

/** The text for screen readers after a key moved the cursor. */
export function spokenValues(props: ChartProps, timeMs: number): string {
  const stepMs = Math.min(...props.panel.channels.map((channel) => channel.stepMs));
  const moment = formatMoment(timeMs, props.clock, props.originMs, stepMs);
  const values = props.panel.channels.map(
    (channel) =>
      `${legendName(channel, props.panel.channels)} ${valueAt(props.series.get(channel.key), channel, timeMs)} ${channel.unit}`,
  );
  return `${moment}: ${values.join(', ')}`;
}
