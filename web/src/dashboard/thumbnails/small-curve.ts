/** A small curve of a channel and its range. Pure: tested without a browser. */
import type { ChannelSeries } from '../../../../client/types.ts';
import { formatValue } from '../../format.ts';
import { lonelyPoints } from '../chart/curve.ts';

export const numbersOf = (values: ChannelSeries['values']) =>
  values.filter((value): value is number => typeof value === 'number');

interface Range {
  readonly lowest: number;
  readonly highest: number;
}

export function rangeOf({ values }: ChannelSeries): Range {
  const numbers = numbersOf(values);
  return { lowest: Math.min(...numbers), highest: Math.max(...numbers) };
}

/** `70 to 279.9 km/h` */
export const rangeWords = ({ unit }: ChannelSeries, { lowest, highest }: Range) =>
  `${formatValue(lowest)} to ${formatValue(highest)} ${unit ?? ''}`.trimEnd();

const air = 3;

/** As the path of an SVG. A gap in the values is a gap in the line, and a value between two gaps a dot. */
export function curveOf(
  { times, values }: ChannelSeries,
  { lowest, highest }: Range,
  { width, height }: { readonly width: number; readonly height: number },
): string {
  const [from = 0, to = 1] = [times[0], times.at(-1)];
  const lonely = new Set(lonelyPoints(values.map((value) => (typeof value === 'number' ? value : null))));
  let isDown = false;
  return values
    .map((value, index) => {
      if (typeof value !== 'number') {
        isDown = false;
        return '';
      }
      const x = (width * (times[index]! - from)) / Math.max(1, to - from);
      const part = highest === lowest ? 0.5 : (value - lowest) / (highest - lowest);
      const y = height - air - (height - 2 * air) * part;
      const step = `${isDown ? 'L' : 'M'}${x.toFixed(1)} ${y.toFixed(1)}${lonely.has(index) ? 'h0' : ''}`;
      isDown = true;
      return step;
    })
    .join('');
}
