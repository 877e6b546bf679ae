/** A dashboard of many recordings with thousands of channels. */
import { expect, test } from 'vitest';
import { listedChannels } from '../../../../web/src/dashboard/machines.ts';
import { type Channel, firstChoice, panelsFor } from '../../../../web/src/dashboard/model.ts';

/** @param onRead called when the name of a channel is read */
const channelsOf = (count: number, onRead = () => {}): Channel[] =>
  Array.from({ length: count }, (_, index) => ({
    key: `7:c${index}`,
    id: `c${index}`,
    get name() {
      onRead();
      return `signal ${index}`;
    },
    unit: 'V',
    realm: 'default',
    groupId: 'default',
    groupName: 'default',
    sourceName: 'drive.csv',
    timeKind: 'absolute',
    kind: 'number',
    stepMs: 1000,
  }));

test('all channels are looked through once, and not for each channel that its layout names', () => {
  let reads = 0;
  const channels = channelsOf(500, () => {
    reads += 1;
  });
  const keys = channels.map(({ key }) => key);
  const panels = [{ title: 'default [V]', group: 'default', unit: 'V', channels: keys }];
  const dashboard = { layout: { version: 1, panels }, sources: [] } as never;
  expect(firstChoice(dashboard, channels, 'absolute')).toEqual(keys.slice(0, 24));
  expect(panelsFor(dashboard, channels, new Set(keys.slice(0, 2)))).toMatchObject([
    { title: 'signal 0, signal 1', unit: 'V', channels: [{ key: '7:c0' }, { key: '7:c1' }] },
  ]);
  expect(reads).toBeLessThan(10 * channels.length);
});

test('a channel that a layout names is that of each recording, by its key, id or name', () => {
  const [first, second] = channelsOf(2) as [Channel, Channel];
  const channels = [first, { ...first, key: '8:c0' }, second];
  const chosenBy = (name: string) =>
    firstChoice({ layout: { panels: [{ channels: [name, null, 3] }, null] } } as never, channels, 'absolute');
  expect(['7:c0', 'c0', 'signal 0', 'signal 1'].map(chosenBy)).toEqual([
    ['7:c0'],
    ['7:c0', '8:c0'],
    ['7:c0', '8:c0'],
    ['7:c1'],
  ]);
});

test('a long list of channels shows the first ones and the chosen ones; the others are found by a search', () => {
  const channels = channelsOf(5000);
  const listed = listedChannels(channels, new Set(['7:c1', '7:c4999']));
  expect([listed.length, listed.at(-1)?.key]).toEqual([202, '7:c4999']);
  const few = channels.slice(0, 200);
  expect(listedChannels(few, new Set())).toBe(few);
});
