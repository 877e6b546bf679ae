/** The two cursors that stay on the time axis, and what lies between them. Pure: tested without a browser. */
import type { ChannelSeries } from '../../../client/types.ts';
import { formatValue, plural } from '../format.ts';
import type { Clock } from './address.ts';
import { sampleAt, valueAt } from './chart/curve.ts';
import type { Channel } from './model.ts';

/** Milliseconds; null where there is none. */
export interface Marks {
  a: number | null;
  b: number | null;
}

/** `A 252.3`, `A 252.3 · B 247.9 · Δ −4.4`; empty without marks. */
export function markedValues(series: ChannelSeries | undefined, channel: Channel, { a, b }: Marks): string {
  const parts = [];
  if (a !== null) parts.push(`A ${valueAt(series, channel, a)}`);
  if (b !== null) parts.push(`B ${valueAt(series, channel, b)}`);
  const [first, second] = [a, b].map((at) => (at === null ? null : sampleAt(series, channel, at)));
  if (typeof first === 'number' && typeof second === 'number') parts.push(`Δ ${signed(second - first)}`);
  return parts.join(' · ');
}

const signed = (value: number) => (value < 0 ? `−${formatValue(-value)}` : formatValue(value));

/** `1.32 s`, `4 min 10.25 s`: as fine as rows `stepMs` apart need; `70 rows` where rows are numbered. */
export function formatDifference(ms: number, stepMs: number, clock: Clock): string {
  const sign = ms < 0 ? '−' : '';
  const whole = Math.abs(ms);
  if (clock === 'rows') return sign + plural(whole, 'row', 'rows');
  const minutes = Math.floor(whole / 60_000);
  const decimals = stepMs >= 1000 ? 0 : stepMs >= 100 ? 1 : stepMs >= 10 ? 2 : 3;
  const seconds = ((whole % 60_000) / 1000).toFixed(decimals);
  return minutes === 0 ? `${sign}${seconds} s` : `${sign}${minutes} min ${seconds} s`;
}

interface Extent {
  readonly left: number;
  readonly right: number;
}

/** The line for each stretch, the lowest that is free there; null: all `most` lines are taken. */
export function linesOf(stretches: readonly Extent[], most: number, margin: number): (number | null)[] {
  const lines: Extent[][] = Array.from({ length: most }, () => []);
  return stretches.map((stretch) => {
    const line = lines.findIndex((taken) =>
      taken.every(({ left, right }) => stretch.right + margin <= left || right + margin <= stretch.left),
    );
    lines[line]?.push(stretch);
    return line < 0 ? null : line;
  });
}

/** As {@link linesOf}; where `most` lines do not suffice, just one is used: more words would hide what they are about. */
export function sparseLines(stretches: readonly Extent[], most: number, margin: number): (number | null)[] {
  const lines = linesOf(stretches, most, margin);
  return lines.includes(null) ? linesOf(stretches, 1, margin) : lines;
}
