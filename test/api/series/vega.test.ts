import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { describe, expect, test } from 'vitest';
import type { Series } from '../../../api/series/reader.ts';
import { vegaFolder } from '../../activities/tabular/support.ts';
import { seriesStage, sourceOf } from './support.ts';

const { bench, reader } = await seriesStage();

/** The time column that each file must be found to have; null: rows are numbered. */
const timeColumns: Record<string, string | null> = {
  'airports.csv': null,
  'birdstrikes.csv': 'Flight Date',
  'co2-concentration.csv': 'Date',
  'disasters.csv': 'Year',
  'github.csv': 'time',
  'global-temp.csv': 'year',
  'iowa-electricity.csv': 'year',
  'la-riots.csv': 'death_date',
  'seattle-weather-hourly-normals.csv': 'date',
  'seattle-weather.csv': 'date',
  'sp500-2000.csv': 'date',
  'sp500.csv': 'date',
  'species.csv': null,
  'stocks.csv': 'date',
  'us-employment.csv': 'month',
  'weather.csv': 'date',
  'windvectors.csv': null,
  'zipcodes.csv': null,
  'unemployment.tsv': null,
  'barley.json': 'year',
  'cars.json': 'Year',
  'countries.json': 'year',
  'crimea.json': 'date',
  'driving.json': 'year',
  'earthquakes.json': 'properties.time',
  'flights-20k.json': 'date',
  'football.json': 'date',
  'gapminder.json': 'year',
  'movies.json': 'Release Date',
  'ohlc.json': 'date',
  'penguins.json': null,
  'unemployment-across-industries.json': 'date',
  'volcano.json': null,
  'weekly-weather.json': null,
};
/** Maps and graphs. */
const noTables = /^(annual-precip|londonBoroughs|londonTubeLines|miserables|us-10m|world-110m)\.json$/;

type Row = Record<string, unknown>;

/** An own small reading of csv, apart from the product's. */
function readCsv(text: string, delimiter: string): Row[] {
  const cells = text.matchAll(
    new RegExp(`("(?:[^"]|"")*"|[^"${delimiter}\\r\\n]*)(${delimiter}|\\r?\\n|$)`, 'g'),
  );
  const lines: string[][] = [[]];
  for (const [, cell = '', end] of cells) {
    lines.at(-1)?.push(cell.startsWith('"') ? cell.slice(1, -1).replaceAll('""', '"') : cell);
    if (end !== delimiter) lines.push([]);
  }
  const [heading = [], ...rows] = lines.filter((line) => line.length > 1);
  return rows.map((row) => Object.fromEntries(row.map((cell, index) => [heading[index] ?? '', cell])));
}

function flatten(value: Row, prefix = ''): Row {
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, member]) =>
      typeof member === 'object' && member !== null && !Array.isArray(member)
        ? Object.entries(flatten(member as Row, `${prefix}${name}.`))
        : [[`${prefix}${name}`, member]],
    ),
  );
}

function readFile(file: string): Row[] {
  const text = readFileSync(join(vegaFolder, file), 'utf8');
  if (file.endsWith('.csv')) return readCsv(text, ',');
  if (file.endsWith('.tsv')) return readCsv(text, '\t');
  const value: unknown = JSON.parse(text);
  if (Array.isArray(value)) return value.map((row) => flatten(row));
  const { features, values } = value as { features?: Row[]; values?: number[] };
  return features === undefined
    ? (values ?? []).map((each) => ({ values: each }))
    : features.map((row) => flatten(row));
}

function toTime(value: unknown): number {
  const text = String(value);
  if (/^\d{4}$/.test(text)) return Date.UTC(Number(text), 0, 1);
  if (/^\d{13}$/.test(text)) return Number(text);
  const isIso = /^\d{4}-/.test(text);
  if (!isIso) return Date.parse(`${text} UTC`);
  return Date.parse(text.includes('T') && !text.endsWith('Z') ? `${text}Z` : text);
}

function toValue(value: unknown, type: string, isJson: boolean): unknown {
  if (value === undefined || value === null || (value === '' && !isJson)) return null;
  if (type === 'number' || type === 'integer') return Number(value);
  if (typeof value === 'object') return JSON.stringify(value);
  return type === 'boolean' ? value : String(value);
}

const files = readdirSync(vegaFolder).filter((file) => /\.(csv|tsv|json)$/.test(file));

describe('series of real files equal the values in the files', () => {
  const tables = files.filter((file) => !noTables.test(file) && !/budget\.json|flights-200k/.test(file));
  test.each(tables)('%s', async (file) => {
    const rows = readFile(file);
    const recorded = await bench.record({ path: join(vegaFolder, file) });
    const { description } = recorded;
    if (timeColumns[file] !== undefined) expect(description.time.name).toBe(timeColumns[file]);
    expect(description.rowCount).toBe(rows.length);
    const name = description.time.name;
    const timed = rows.map((row, index) => ({ row, time: name === null ? index : toTime(row[name]) }));
    timed.sort((a, b) => a.time - b.time);
    const series = await reader.read({ sources: [sourceOf(recorded)], maxPoints: 50_000 });
    expect(series).toHaveLength(description.channels.length);
    for (const [index, channel] of description.channels.entries()) {
      const found = series[index] as Series;
      expect(found.channel).toBe(channel.id);
      expect(found.times).toEqual(timed.map(({ time }) => time));
      // A heading that held a unit is found by its beginning.
      const heading = Object.keys(rows[0] as Row).find(
        (key) => key === channel.name || key === `${channel.name} (${channel.unit})`,
      );
      const expected = timed.map(({ row }) =>
        toValue(row[heading ?? channel.name], channel.type, file.endsWith('.json')),
      );
      expect(found.values).toEqual(expected);
    }
  });

  test.each(files.filter((file) => noTables.test(file)))(
    '%s, which is no table, is refused',
    async (file) => {
      await expect(bench.record({ path: join(vegaFolder, file) })).rejects.toThrow(/table/);
    },
  );

  test('flights-200k.json, with more rows than points', async () => {
    const rows = readFile('flights-200k.json') as { delay: number; distance: number; time: number }[];
    const recorded = await bench.record({ path: join(vegaFolder, 'flights-200k.json') });
    expect(recorded.description).toMatchObject({ rowCount: 200_000, time: { name: 'time' } });
    const [delay = [], distance = []] = (
      await reader.read({ sources: [sourceOf(recorded)], maxPoints: 2000 })
    ).map(({ values }) => values as number[]);
    expect(Math.min(...delay)).toBe(rows.reduce((min, row) => Math.min(min, row.delay), 0));
    expect(Math.max(...distance)).toBe(rows.reduce((max, row) => Math.max(max, row.distance), 0));
  });

  test('flights-3m.parquet, whole and in windows', async () => {
    const path = join(vegaFolder, 'flights-3m.parquet');
    const recorded = await bench.record({ path });
    const { description } = recorded;
    expect(description).toMatchObject({
      format: 'parquet',
      rowCount: 3_000_000,
      time: { name: 'date', kind: 'absolute' },
    });
    const instance = await DuckDBInstance.create(':memory:');
    const connection = await instance.connect();
    const rowsOf = async (sql: string) => (await connection.runAndReadAll(sql, [path])).getRowsJS();
    const [extremes] = await rowsOf(
      'SELECT min(delay), max(delay), min(distance), max(distance) FROM read_parquet($1)',
    );
    const channels = ['delay', 'distance'];
    const whole = await reader.read({ sources: [sourceOf(recorded, channels)], maxPoints: 2000 });
    expect(
      whole.flatMap(({ values }) => [Math.min(...(values as number[])), Math.max(...(values as number[]))]),
    ).toEqual(extremes?.map(Number));
    expect(whole.every(({ times }) => times.length > 1500 && times.length <= 2000)).toBe(true);
    for (const day of [10, 60]) {
      const fromMs = Date.UTC(2001, 0, 1 + day);
      const toMs = fromMs + 6 * 3_600_000;
      const rows = await rowsOf(
        `SELECT epoch_ms(date) AS t, delay, distance, origin, destination FROM read_parquet($1)
          WHERE epoch_ms(date) BETWEEN ${fromMs} AND ${toMs} ORDER BY t`,
      );
      expect(rows.length).toBeGreaterThan(100);
      const series = await reader.read({ sources: [sourceOf(recorded)], fromMs, toMs, maxPoints: 50_000 });
      const columns = ['delay', 'distance', 'origin', 'destination'];
      for (const [index, name] of columns.entries()) {
        const found = series.find(({ channel }) => channel === name) as Series;
        expect(found.times).toEqual(rows.map((row) => Number(row[0])));
        expect([...found.values].sort()).toEqual(rows.map((row) => toNumberOrText(row[index + 1])).sort());
      }
    }
    connection.closeSync();
    instance.closeSync();
  });
});

function toNumberOrText(value: unknown): unknown {
  return typeof value === 'bigint' ? Number(value) : value;
}
