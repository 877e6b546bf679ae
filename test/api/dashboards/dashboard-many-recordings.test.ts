/** Questions to a dashboard whose recordings are more than memory should hold. */
import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { limits } from '../../../domain/limits.ts';
import { dashboardWorld } from './dashboard-world.ts';

const { call, firstMs, get, insertDimension, record } = await dashboardWorld();

const at = (second: number) => new Date(firstMs + second * 1000).toISOString();
const source = await record(100, `time,speed,distance\n${at(0)},1,10\n${at(1)},2,20\n`);
const count = 70;
/** Descriptions of thousands of channels are as long. */
const padding = () => randomBytes((1.1 * limits.questionSourceBytes) / count / 2).toString('hex');
const sources = Array.from({ length: count }, (_, index) => ({
  ...source,
  outputId: 100 + index,
  channels: source.channels.map((channel) => ({ ...channel, key: `${100 + index}:${channel.id}` })),
  description: { ...source.description, padding: padding() },
}));
const id = await insertDimension('b', sources);
const [speed, distance] = sources.at(-1)!.channels.map(({ key }) => key) as [string, string];
const series = (json: object) => call(`/api/v2/dashboard/dimensions/${id}/series`, json);
const refused = {
  status: 400,
  body: expect.objectContaining({
    status: 'error',
    message:
      'The dashboard has too many recordings for this question. Name channels by their keys, also in expressions and axes.',
  }),
};

test('the first channels are read, and those that are named by their keys', async () => {
  const first = await get(`${id}/series`);
  expect([first.status, first.body.series.length, first.body.series[0].channel]).toEqual([
    200,
    64,
    '100:speed',
  ]);
  const named = await series({
    channels: [speed],
    x: distance,
    derived: [{ name: 'twice', unit: null, expression: `2 * "${speed}"` }],
  });
  expect([named.status, named.body.series.map(({ values }: { values: number[] }) => values)]).toEqual([
    200,
    [
      [1, 2],
      [2, 4],
    ],
  ]);
});

test.each([
  ['of all channels over another one', { x: 'distance' }],
  ['of all channels at the same rows', { sameRows: true }],
  ['of channels by name', { channels: ['speed'] }],
  [
    'with an expression of names',
    { channels: [speed], derived: [{ name: 'n', unit: null, expression: 'speed * 2' }] },
  ],
])('a question %s is refused before they are read', async (_, question) => {
  expect(await series(question)).toMatchObject(refused);
});
