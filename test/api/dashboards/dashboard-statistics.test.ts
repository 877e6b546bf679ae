import { describe, expect, test } from 'vitest';
import { dashboardWorld } from './dashboard-world.ts';

const { dimensionId, firstMs, get, rows } = await dashboardWorld();
const at = (row: number) => new Date(firstMs + row * 1000).toISOString();

describe('GET /api/v2/dashboard/dimensions/{id}/statistics', () => {
  test('answers for each channel of the whole recording', async () => {
    const { status, body } = await get(`${dimensionId}/statistics`);
    const values = Array.from({ length: rows }, (_, row) => (row === 1234 ? 1000 : Math.sin(row / 50)));
    const mean = values.reduce((sum, value) => sum + value, 0) / rows;
    const lowest = values.indexOf(Math.min(...values));
    expect(status).toBe(200);
    expect(body).toEqual({
      dimensionId,
      from: at(0),
      to: at(rows - 1),
      statistics: [
        {
          key: '7:speed',
          name: 'speed',
          unit: 'm/s',
          count: rows,
          missing: 0,
          min: { value: values[lowest], at: at(lowest) },
          max: { value: 1000, at: at(1234) },
          mean: expect.closeTo(mean, 9),
          standardDeviation: expect.closeTo(
            Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (rows - 1)),
            9,
          ),
          states: null,
        },
        {
          key: '7:side',
          name: 'side',
          unit: null,
          count: rows,
          missing: 0,
          min: null,
          max: null,
          mean: null,
          standardDeviation: null,
          states: [
            { value: 'left', ms: 2_500_000, share: expect.closeTo(0.5, 3) },
            { value: 'right', ms: 2_499_000, share: expect.closeTo(0.5, 3) },
          ],
        },
      ],
    });
  });

  test('answers for a window, and names no extreme where there is no row', async () => {
    const { body } = await get(`${dimensionId}/statistics?channels=speed&from=${at(1230)}&to=${at(1239)}`);
    expect(body).toMatchObject({ from: at(1230), to: at(1239) });
    expect(body.statistics).toMatchObject([{ count: 10, max: { value: 1000, at: at(1234) } }]);
    const none = await get(`${dimensionId}/statistics?channels=speed&from=2027-01-01T00:00:00Z`);
    expect(none.body.statistics).toMatchObject([{ count: 0, missing: 0, min: null, max: null, mean: null }]);
  });

  test.each([
    ['channels=', 'channels must name 1 to 64 channels.'],
    ['channels=altitude', "Channel 'altitude' is not part of this dashboard."],
    ['from=yesterday', 'from must be an ISO 8601 timestamp.'],
    ['from=2026-01-02&to=2026-01-01', 'from must not be after to.'],
  ])('refuses %s', async (text, message) => {
    expect(await get(`${dimensionId}/statistics?${text}`)).toMatchObject({
      status: 400,
      body: { status: 'error', message },
    });
  });

  test('answers 404 for a dashboard that does not exist', async () => {
    expect((await get('999999/statistics')).status).toBe(404);
  });
});
