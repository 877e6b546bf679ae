import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { describe, expect, test } from 'vitest';
import { sourcesWithin } from '../../../store/dashboards/dimension-sources.ts';
import { dashboardWorld } from './dashboard-world.ts';

const { api, dimensionId, dimensionSource, firstMs, folder, get, insertDimension, people, record, rows } =
  await dashboardWorld();
const at = (row: number) => new Date(firstMs + row * 1000).toISOString();

async function download(path: string) {
  const response = await fetch(`${api.url}/api/v2/dashboard/dimensions/${path}`, {
    headers: { authorization: `Bearer ${people.Developer.token}` },
  });
  return { response, bytes: Buffer.from(await response.arrayBuffer()) };
}

async function sources() {
  const read = await sourcesWithin(api.composed.services.database, dimensionId);
  return read as ReturnType<typeof dimensionSource>[];
}

describe('GET /api/v2/dashboard/dimensions/{id}/export', () => {
  test('sends every row of a window as csv, columns by channel and unit', async () => {
    const { response, bytes } = await download(`${dimensionId}/export?from=${at(10)}&to=${at(12)}`);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('text/csv; charset=utf-8');
    expect(response.headers.get('content-disposition')).toMatch(/^attachment; filename=".*\.csv"/);
    const value = (row: number) => Math.sin(row / 50);
    expect(bytes.toString().trim().split('\n')).toEqual([
      'time,speed [m/s],side',
      `${at(10)},${value(10)},left`,
      `${at(11)},${value(11)},right`,
      `${at(12)},${value(12)},left`,
    ]);
    const all = await download(`${dimensionId}/export?channels=side`);
    expect(all.bytes.toString().trim().split('\n')).toHaveLength(rows + 1);
  });

  test('sends Parquet with real times', async () => {
    const { response, bytes } = await download(`${dimensionId}/export?format=parquet&channels=speed`);
    expect(response.headers.get('content-type')).toBe('application/vnd.apache.parquet');
    const path = join(folder, 'export.parquet');
    await writeFile(path, bytes);
    const database = await DuckDBInstance.create(':memory:');
    const connection = await database.connect();
    const found = await connection.runAndReadAll(
      `SELECT count(*), epoch_ms(min(time)), max("speed [m/s]") FROM read_parquet('${path}')`,
    );
    expect(found.getRows()[0]?.map(Number)).toEqual([rows, firstMs, 1000]);
    connection.closeSync();
    database.closeSync();
  });

  test('names the recording of each row where there are several', async () => {
    const [source] = await sources();
    const id = await insertDimension('b', [source!, { ...source!, outputId: 8, name: 'second, "best".csv' }]);
    const { bytes } = await download(`${id}/export?channels=speed,8:side&to=${at(0)}`);
    expect(bytes.toString().trim().split('\n')).toEqual([
      'recording,time,speed [m/s],side',
      `drive.csv,${at(0)},0.0,`,
      `"second, ""best"".csv",${at(0)},0.0,left`,
    ]);
  });

  test('numbers a channel only where another column of the file has its name', async () => {
    const named = await record(11, 'time [s],recording,row,time\n0,1,2,3\n1,2,3,4\n');
    const id = await insertDimension('f', [named, await record(12, 'time [s],level\n0,1\n')]);
    const heading = async (query: string) =>
      (await download(`${id}/export${query}`)).bytes.toString().split('\n')[0];
    expect(await heading('?channels=11:recording,11:row,11:time')).toBe('time [s],recording,row,time');
    expect(await heading('')).toBe('recording,time [s],recording (2),row,time,level');
  });

  test('numbers the rows of a recording without a time, as its charts do', async () => {
    const [source] = await sources();
    const time = { ...source!.time, kind: 'relative' };
    const id = await insertDimension('e', [
      {
        ...source!,
        outputId: 10,
        time,
        description: {
          ...source!.description,
          time: { ...source!.description.time, basis: 'row-number' as const },
        },
      },
    ]);
    const { bytes } = await download(`${id}/export?channels=speed&to=${at(0)}`);
    expect(bytes.toString().trim().split('\n')).toEqual(['row,speed [m/s]', `${firstMs},0.0`]);
  });

  test('refuses what it cannot write', async () => {
    const [source] = await sources();
    const relative = { ...source!, outputId: 9, time: { ...source!.time, kind: 'relative' } };
    const mixed = await insertDimension('c', [source!, relative]);
    const huge = await insertDimension('d', [{ ...source!, rowCount: 100_000_001 }]);
    const cases = [
      [`${dimensionId}/export?format=xlsx`, 'format must be csv or parquet.'],
      [`${dimensionId}/export?channels=nothing`, "Channel 'nothing' is not part of this dashboard."],
      [`${mixed}/export`, 'Recordings with dates and recordings without dates must be exported apart.'],
      [`${huge}/export`, 'An export has at most 200000000 cells; ask for fewer channels or a shorter time.'],
    ];
    for (const [path, message] of cases)
      expect(await get(path!)).toMatchObject({ status: 400, body: { message } });
    const apart = await download(`${mixed}/export?channels=9:speed&to=${at(1)}`);
    expect(apart.bytes.toString().split('\n')[0]).toBe('time [s],speed [m/s]');
  });
});
