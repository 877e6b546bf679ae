/** The marks of an axis of values. Pure: tested without a browser. */

/** The multiples of the step within the axis. They are counted: beyond 2^53 a number and the next one are the same. */
export function numberSplits(min: number, max: number, step: number): number[] {
  const first = Math.ceil(min / step);
  const count = Math.max(0, Math.floor(max / step) - first + 1);
  return Array.from({ length: count }, (_, index) => Number(((first + index) * step).toPrecision(12)));
}
