/** Which channels a request means, without a recording to read. */
import { expect, test } from 'vitest';
import { findChannels } from '../../../api/dashboards/find-channels.ts';
import type { DimensionSource } from '../../../store/dashboards/dimension-sources.ts';

const count = 2_000;
let idsRead = 0;
let namesRead = 0;
const channels = Array.from({ length: count }, (_, index) => ({
  get id() {
    idsRead += 1;
    return `c${index}`;
  },
  key: `7:c${index}`,
  get name() {
    namesRead += 1;
    return `channel ${index}`;
  },
  unit: null,
  type: 'number',
  group: 'all',
  realm: 'default',
}));
const source: DimensionSource = {
  outputId: 7,
  name: 'wide.csv',
  realm: 'default',
  time: { kind: 'absolute', from: null, to: null },
  rowCount: 1,
  groups: [],
  channels,
  dataSourceId: 1,
  objectKey: 'outputs/wide',
  sha256: null,
  description: { time: { sorted: true } },
};

const find = (axes: { x?: string; split?: string }) =>
  findChannels({ sources: [source], signal: new AbortController().signal, caller: 'one', ...axes });

test.each([
  ['by name', 'channel 1', 'channel 1999'],
  ['by key', '7:c1', '7:c1999'],
])('axes %s are looked for once in each recording, however many channels it has', (_, x, split) => {
  idsRead = 0;
  const found = find({ x, split });
  expect(found.map(({ key }) => key)).toEqual(
    Array.from({ length: 65 }, (_, index) => `7:c${index}`).filter((key) => key !== '7:c1'),
  );
  // Both axes are checked again for each channel that is found.
  expect(idsRead).toBeLessThan(count * 200);
});

test('the channels of expressions are looked for without reading all channels for each', () => {
  namesRead = 0;
  const names = Array.from({ length: 40 }, (_, index) => `"channel ${index * 40}"`);
  const derived = [{ name: 'sum', unit: null, expression: names.join(' + ') }];
  const [sum] = findChannels({
    sources: [source],
    channels: [],
    derived,
    signal: new AbortController().signal,
    caller: 'one',
  });
  expect(sum?.key).toBe('=sum');
  expect(namesRead).toBeLessThan(count * 10);
});
