/** A key figure over the sessions of a project, from their metadata or their outputs. Pure: tested without a browser. */
import type { SessionListRow } from '../../../client/types.ts';
import { formatBytes, formatValue } from '../format.ts';

export interface TrendPoint {
  readonly id: string;
  readonly name: string;
  readonly at: number;
  readonly value: number;
}

/** What every session has beside its metadata, in bytes. */
const sizePath = 'size of outputs';
const deepest = 4;

/** The paths of numbers, the most frequent first: `vehicle.speed`. */
export function figurePaths(sessions: readonly SessionListRow[], pinned: readonly string[]): string[] {
  const counts = new Map<string, number>();
  for (const { metadata } of sessions)
    for (const path of numberPaths(metadata, '', deepest)) counts.set(path, (counts.get(path) ?? 0) + 1);
  const rank = (path: string) => (pinned.includes(path) ? 1 : 0);
  const paths = [...counts.keys()].sort(
    (a, b) => rank(b) - rank(a) || counts.get(b)! - counts.get(a)! || (a < b ? -1 : 1),
  );
  return [...paths, sizePath];
}

function numberPaths(value: unknown, path: string, left: number): string[] {
  if (typeof value === 'number' && Number.isFinite(value)) return [path];
  if (typeof value !== 'object' || value === null || Array.isArray(value) || left === 0) return [];
  return Object.entries(value).flatMap(([key, inner]) =>
    numberPaths(inner, path === '' ? key : `${path}.${key}`, left - 1),
  );
}

/** A value of a figure; a size in the unit of the largest one, so that all of a chart can be compared. */
export const figureText = (path: string, value: number, largest: number) =>
  path === sizePath ? sizeIn(formatBytes(largest), value) : formatValue(value);

/** `0.012 GB` beside `4.2 GB`. */
function sizeIn(other: string, bytes: number): string {
  const unit = other.split(' ')[1]!;
  const value = bytes / 1024 ** ['B', 'KB', 'MB', 'GB', 'TB'].indexOf(unit);
  return `${formatValue(Number(value.toPrecision(3)))} ${unit}`;
}

/** Oldest first. */
export function trendOf(sessions: readonly SessionListRow[], path: string): TrendPoint[] {
  return sessions
    .flatMap(({ id, name, createdAt, metadata, outputBytes }) => {
      const value =
        path === sizePath
          ? outputBytes
          : path
              .split('.')
              .reduce<unknown>(
                (inner, key) => (inner as Readonly<Record<string, unknown>> | null | undefined)?.[key],
                metadata,
              );
      return typeof value === 'number' ? [{ id, name, at: Date.parse(createdAt), value }] : [];
    })
    .sort((a, b) => a.at - b.at);
}

/** In the address, before the name of a figure of outputs. */
export const ofOutputs = 'outputs: ';

/** The figures of outputs, those of most sessions first. */
export function outputPaths(figures: ReadonlyMap<string, ReadonlyMap<string, number>>): string[] {
  const counts = new Map<string, number>();
  for (const own of figures.values())
    for (const name of own.keys()) counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts.keys()].sort((a, b) => counts.get(b)! - counts.get(a)!).map((name) => ofOutputs + name);
}

/** Oldest first. */
export function outputTrendOf(
  sessions: readonly SessionListRow[],
  figures: ReadonlyMap<string, ReadonlyMap<string, number>>,
  path: string,
): TrendPoint[] {
  return sessions
    .flatMap(({ id, name, createdAt }) => {
      const value = figures.get(id)?.get(path.slice(ofOutputs.length));
      return value === undefined ? [] : [{ id, name, at: Date.parse(createdAt), value }];
    })
    .sort((a, b) => a.at - b.at);
}
