/** Units of time as headings and texts write them, in lower case, with their milliseconds. */

const names: readonly (readonly [milliseconds: number, names: string])[] = [
  [1000, 's sec secs second seconds'],
  [1, 'ms msec millis millisecond milliseconds'],
  [1e-3, 'us µs μs microsecond microseconds'],
  [1e-6, 'ns nanosecond nanoseconds'],
  [60_000, 'min mins minute minutes'],
  [3_600_000, 'h hr hrs hour hours'],
  [86_400_000, 'd day days'],
];

export const timeUnits: ReadonlyMap<string, number> = new Map(
  names.flatMap(([milliseconds, list]) => list.split(' ').map((name) => [name, milliseconds] as const)),
);

export function unitMilliseconds(unit: string): number | null {
  return timeUnits.get(unit.toLowerCase()) ?? null;
}
