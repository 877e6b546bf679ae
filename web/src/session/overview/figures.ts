/** Key figures of a session, from its small JSON outputs and its recordings. Pure: tested without a browser. */

import type { ListedOutput } from '../../../../client/types.ts';
import { formatElapsed } from '../../dashboard/figure-texts.ts';
import { formatValue, plural } from '../../format.ts';
import { outputTitle } from '../../names.ts';

export interface Figure {
  readonly label: string;
  readonly value: string;
  readonly unit: string;
  /** Shown behind the value, and no part of the figure's name. */
  readonly note?: string;
  /** The value, to be drawn. */
  readonly number: number;
  /** The node that wrote the document of the figure. */
  readonly nodeInstanceId?: number;
}

/** Figures of one label, as of several nodes that do the same, get the names of their nodes. */
export function distinct(figures: readonly Figure[], nodeTitle: (id: number) => string): Figure[] {
  const byLabel = Map.groupBy(figures, ({ label }) => label);
  return figures.map((figure) => {
    const { label, nodeInstanceId } = figure;
    if (nodeInstanceId === undefined || byLabel.get(label)!.length === 1) return figure;
    return { ...figure, label: `${label}, ${nodeTitle(nodeInstanceId)}` };
  });
}

/** The numbers at the top of a document: `topSpeed: 341.7`, or `topSpeed: { value: 341.7, unit: 'km/h' }`. */
export function figuresOf(json: unknown): Figure[] {
  if (typeof json !== 'object' || json === null || Array.isArray(json)) return [];
  return Object.entries(json).flatMap(([key, value]): Figure[] => {
    const named = labelOf(key);
    if (typeof value === 'number') return [{ ...named, value: formatValue(value), number: value }];
    if (typeof value !== 'object' || value === null) return [];
    const { value: number, unit } = value as { value?: unknown; unit?: unknown };
    if (typeof number !== 'number') return [];
    const measure = typeof unit === 'string' ? unit : named.unit;
    return [{ ...named, value: formatValue(number), unit: measure, number }];
  });
}

/** `top speed [km/h]` has a unit; `lapCount` reads `Lap count`. */
function labelOf(key: string): { label: string; unit: string } {
  const [, name = key, unit = ''] = /^(.*)\[([^\]]+)\]$/.exec(key) ?? [];
  const words = wordsOf(name.trimEnd());
  return { label: words.charAt(0).toUpperCase() + words.slice(1), unit };
}

/** `lap count` of `lapCount`; names for people stay as they are written, such as `RPM` and `Temperatur Öl`. */
function wordsOf(name: string): string {
  if (/\s/.test(name) || !/[a-z0-9][A-Z]|[-_]/.test(name)) return name;
  return name
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replaceAll(/[-_]+/g, ' ')
    .trim()
    .toLowerCase();
}

/** What the conversion of a table says of it. */
interface Description {
  readonly time?: { readonly from?: unknown; readonly to?: unknown; readonly basis?: unknown };
  readonly channels?: unknown;
  readonly warnings?: unknown;
}
interface Recording {
  /** The file's name. */
  readonly name: string;
  readonly rows: number;
  readonly description: Description;
}
type Fields = Readonly<Record<string, unknown>>;

const maxChannels = 4;
/** Coordinates: their highest value is of no interest. */
const places = /^(gps[ _-]?)?(lat|lon|lng|long|latitude|longitude)$/i;

/** How much was recorded, for how long, and the highest values of the first channels. With a dashboard or without. */
export function figuresOfRecordings(outputs: readonly ListedOutput[]): Figure[] {
  const recordings = recordingsOf(outputs);
  const rows = recordings.reduce((sum, recording) => sum + recording.rows, 0);
  const [count = '', unit = ''] = plural(rows, 'row', 'rows').split(' ');
  // Numbers of rows are no times.
  const lengths = recordings.map(({ description: { time } }) =>
    time?.basis === 'row-number' ? 0 : Number(time?.to) - Number(time?.from),
  );
  const known = lengths.filter((ms) => ms > 0);
  const maxMs = Math.max(...known, 0);
  const duration = { label: 'Duration', value: formatElapsed(maxMs, 1000), unit: '', number: maxMs / 1000 };
  const note = `longest of ${known.length}`;
  return [
    ...highest(recordings),
    ...(rows === 0 ? [] : [{ label: 'Recorded', value: count, unit, number: rows }]),
    ...(maxMs === 0 ? [] : [known.length > 1 ? { ...duration, note } : duration]),
  ];
}

export interface Remark {
  readonly text: string;
  /** The files that it is about. */
  readonly files: readonly string[];
}

/** What the conversion remarked about the recordings: rows that it skipped, a time that it did not find. */
export function remarksOf(outputs: readonly ListedOutput[]): Remark[] {
  const found = new Map<string, string[]>();
  for (const { name, description } of recordingsOf(outputs)) {
    if (!Array.isArray(description.warnings)) continue;
    for (const text of new Set(description.warnings.filter((warning) => typeof warning === 'string')))
      found.set(text, [...(found.get(text) ?? []), name]);
  }
  return [...found].map(([text, files]) => ({ text, files }));
}

/** The newest recording of each uploaded file; outputs come newest first. */
function recordingsOf(outputs: readonly ListedOutput[]): Recording[] {
  const found = new Map<unknown, Recording>();
  for (const output of outputs) {
    const { id, metadata } = output;
    if (metadata?.kind !== 'recording') continue;
    const description = (metadata.description ?? metadata.brief ?? {}) as Description;
    const source = (metadata.source as Fields | null | undefined)?.outputId ?? `output ${id}`;
    if (found.has(source)) continue;
    const rows = typeof metadata.rowCount === 'number' ? metadata.rowCount : 0;
    const name = outputTitle(output).replace(/, recording$/, '');
    found.set(source, { name, rows, description });
  }
  return [...found.values()];
}

function highest(recordings: readonly Recording[]): Figure[] {
  const found = new Map<string, { name: string; unit: string; max: number }>();
  for (const { description } of recordings) {
    if (!Array.isArray(description.channels)) continue;
    for (const channel of description.channels as (Fields | null)[]) {
      const { name, unit, type, min, max } = channel ?? {};
      if (typeof name !== 'string' || (type !== 'number' && type !== 'integer')) continue;
      if (typeof min !== 'number' || typeof max !== 'number' || min === max || places.test(name)) continue;
      const measure = typeof unit === 'string' ? unit : '';
      const before = found.get(`${name} ${measure}`)?.max ?? max;
      found.set(`${name} ${measure}`, { name, unit: measure, max: Math.max(before, max) });
    }
  }
  return [...found.values()].slice(0, maxChannels).map(({ name, unit, max }) => ({
    label: `Highest ${wordsOf(name)}`,
    value: formatValue(max),
    unit,
    number: max,
  }));
}
