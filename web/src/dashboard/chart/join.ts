/** Curves over one list of times. Pure: tested without a browser. */

export interface TimedCurve<Value> {
  /** Rising. */
  readonly times: readonly number[];
  readonly values: readonly Value[];
}

/**
 * All times in order, and the value of each curve there; undefined where it has none. A time is there as often as in the
 * curve that has it most often: of several rows of one time the highest may be the peak of the recording.
 */
export function joinCurves<Value>(curves: readonly TimedCurve<Value>[]): {
  times: number[];
  values: (Value | undefined)[][];
} {
  const times: number[] = [];
  const values = curves.map((): (Value | undefined)[] => []);
  const places = curves.map(() => 0);
  const timeAt = (curve: number) => curves[curve]!.times[places[curve]!] ?? Number.POSITIVE_INFINITY;
  const earliest = () => Math.min(...places.map((_, curve) => timeAt(curve)));
  for (let next = earliest(); next < Number.POSITIVE_INFINITY; next = earliest()) {
    for (const [curve, list] of values.entries()) {
      for (; timeAt(curve) === next; places[curve]! += 1) list.push(curves[curve]!.values[places[curve]!]);
      while (times.length < list.length) times.push(next);
    }
    for (const list of values) while (list.length < times.length) list.push(undefined);
  }
  return { times, values };
}
