/** The difference of recordings to one of them. Pure: tested without a browser. */
import type { ChannelSeries } from '../../../client/types.ts';
import type { Panel } from '../dashboard/model.ts';
import type { Recording } from './model.ts';

/** The key of the difference between a channel and that of the recording it is compared with. */
const differenceKey = (key: string) => `difference ${key}`;

/** The differences of a panel's numbers to the one that belongs to `against`; null where there are none. */
export function differencePanel(panel: Panel, against: Recording): Panel | null {
  const base = panel.channels.find((channel) => against.channels.includes(channel));
  const others = panel.channels.filter((channel) => channel !== base && channel.kind === 'number');
  if (base?.kind !== 'number' || others.length === 0) return null;
  return {
    id: `${panel.id} difference`,
    title: `${panel.title} − ${against.title}`,
    unit: panel.unit,
    channels: others.map((channel) => ({ ...channel, key: differenceKey(channel.key) })),
  };
}

/**
 * The series of `differencePanel`, by its keys.
 * @param rowsOf how many rows the channel of a key has in the visible time; undefined while that is not known
 */
export function differencesOf(
  panels: readonly Panel[],
  against: Recording,
  series: ReadonlyMap<string, ChannelSeries>,
  rowsOf: (key: string) => number | undefined,
): Map<string, ChannelSeries> {
  const areRows = ({ channel, times }: ChannelSeries) =>
    times.length <= maxRows || times.length === rowsOf(channel);
  const found = new Map<string, ChannelSeries>();
  for (const panel of panels) {
    const base = panel.channels.find((channel) => against.channels.includes(channel));
    const baseSeries = base === undefined ? undefined : series.get(base.key);
    if (baseSeries === undefined) continue;
    for (const { key, kind } of panel.channels) {
      const own = series.get(key);
      if (key === base?.key || kind !== 'number' || own === undefined) continue;
      const points = (areRows(own) && areRows(baseSeries) ? subtract : subtractMiddles)(own, baseSeries);
      found.set(differenceKey(key), { ...own, channel: differenceKey(key), ...points });
    }
  }
  return found;
}

/** More points than these are the first, lowest, highest and last of short times, where they are not all rows. */
const maxRows = 1000;

interface Points {
  times: readonly number[];
  values: (number | null)[];
}

const numbersOf = ({ values }: ChannelSeries) =>
  values.map((value) => (typeof value === 'number' && Number.isFinite(value) ? value : null));

/** At each point of `own` its distance to the line of `base`; null beyond its ends and in its gaps. */
export function subtract(own: ChannelSeries, base: ChannelSeries): Points {
  const [numbers, line] = [numbersOf(own), { times: base.times, values: numbersOf(base) }];
  let place = 0;
  const values = own.times.map((time, index) => {
    while (place + 1 < line.times.length && line.times[place + 1]! < time) place += 1;
    const [value, from] = [numbers[index] ?? null, heightAt(line, place, time)];
    return value === null || from === null ? null : value - from;
  });
  return { times: own.times, values };
}

/** The height of the line behind a point; null beyond its ends and in its gaps. */
function heightAt({ times, values }: Points, place: number, time: number): number | null {
  const next = Math.min(place + 1, times.length - 1);
  const [t0, t1] = [times[place], times[next]];
  const [v0, v1] = [values[place] ?? null, values[next] ?? null];
  if (t0 === undefined || t1 === undefined || v0 === null || v1 === null) return null;
  if (time < t0 || time > t1) return null;
  return t1 === t0 ? v0 : v0 + ((v1 - v0) * (time - t0)) / (t1 - t0);
}

/** As many as that several points of each curve are in one of them. */
const shortTimes = 250;

/**
 * The distance between the middles of both curves within the same short times, where points are extremes: neither their jumps
 * nor the moments at which they lie are any of the difference.
 */
export function subtractMiddles(own: ChannelSeries, base: ChannelSeries): Points {
  const from = Math.max(own.times[0] ?? Number.NaN, base.times[0] ?? Number.NaN);
  const to = Math.min(own.times.at(-1) ?? Number.NaN, base.times.at(-1) ?? Number.NaN);
  if (!(from < to)) return { times: [], values: [] };
  const borders = Array.from(
    { length: shortTimes + 1 },
    (_, index) => from + ((to - from) * index) / shortTimes,
  );
  const [a, b] = [own, base].map((one) => middlesOf({ times: one.times, values: numbersOf(one) }, borders));
  const values = a!.map((value, index) => {
    const other = b![index] ?? null;
    return value === null || other === null ? null : value - other;
  });
  return { times: values.map((_, index) => (borders[index]! + borders[index + 1]!) / 2), values };
}

/** The middle between the lowest and the highest place of a line from each border to the next; null where it has a gap. */
function middlesOf(line: Points, borders: readonly number[]): (number | null)[] {
  const { times, values } = line;
  let place = 0;
  return borders.slice(1).map((end, index) => {
    const start = borders[index]!;
    while (place + 1 < times.length && times[place + 1]! <= start) place += 1;
    let last = place;
    const heights = [heightAt(line, place, start)];
    for (; last + 1 < times.length && times[last + 1]! <= end; last += 1)
      heights.push(values[last + 1] ?? null);
    heights.push(heightAt(line, last, end));
    const present = heights.filter((height) => height !== null);
    return present.length < heights.length ? null : (Math.min(...present) + Math.max(...present)) / 2;
  });
}
