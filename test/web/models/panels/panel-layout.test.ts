/** Layouts in addresses and the places of their panels, without a browser. */
import { deflateSync, strToU8 } from 'fflate';
import { expect, test } from 'vitest';
import { readLink, writeLink } from '../../../../web/src/dashboard/panels/link.ts';
import {
  type LayoutForm,
  newPanel,
  placeChannels,
  placed,
} from '../../../../web/src/dashboard/panels/model.ts';
import { scalesOf } from '../../../../web/src/dashboard/panels/place.ts';

const form: LayoutForm = {
  version: 1,
  x: 'distance',
  split: null,
  derived: [{ name: 'metres', unit: null, expression: 'integrate(speed / 3.6)' }],
  panels: [
    { ...newPanel('lines', ['speed', '=metres']), title: 'Höhe, 速度' },
    newPanel('track', ['latitude', 'longitude']),
    newPanel('table', ['gear']),
    { ...newPanel('media', []), output: 'nose' },
    { ...newPanel('text', []), text: 'New front wing.\nLook at turn 3.' },
  ],
};

const packed = (value: unknown) =>
  `~${Buffer.from(deflateSync(strToU8(JSON.stringify(value)))).toString('base64url')}`;

test('a layout in an address comes back as it was', () => {
  for (const link of [
    { id: null, form: null },
    { id: 12, form: null },
    { id: null, form },
    { id: 7, form },
  ]) {
    expect(readLink(writeLink(link)!)).toEqual(link);
  }
  expect(writeLink({ id: 7, form })).toMatch(/^7~[\w-]+$/);
});

test('an address that holds no layout of ours is none', () => {
  const broken = [
    '',
    '~',
    'x',
    '12~',
    '1'.repeat(16),
    '~AAAA',
    `~${'A'.repeat(9000)}`,
    packed('text'),
    packed({ ...form, version: 2 }),
    packed({ ...form, panels: Array.from({ length: 51 }, () => form.panels[0]) }),
    packed({ ...form, panels: [{ ...form.panels[0], kind: 'toString' }] }),
    packed({ ...form, panels: [{ ...form.panels[0], height: 1e9 }] }),
    packed({ ...form, panels: [{ ...form.panels[0], channels: [{}] }] }),
    packed({ ...form, panels: [{ ...form.panels[1], channels: ['latitude'] }] }),
    packed({ ...form, panels: [{ ...form.panels[4], text: 'x'.repeat(4001) }] }),
    packed({ ...form, panels: [{ ...form.panels[4], text: 7 }] }),
    // It unpacks to a thousand times its size.
    packed({ ...form, x: 'x'.repeat(1_000_000) }),
  ];
  for (const text of broken) expect(readLink(text), text.slice(0, 60)).toBeNull();
});

test('a layout that no address can hold is written in none', () => {
  const name = (index: number) =>
    Array.from({ length: 40 }, (_, at) => Math.sin(index * 99 + at).toString(36)).join('');
  const panels = Array.from({ length: 50 }, (_, index) => newPanel('lines', [name(index)]));
  expect(writeLink({ id: null, form: { ...form, panels } })).toBeNull();
});

test('a panel is moved over several places, and the others keep their order', () => {
  const kinds = (moved: LayoutForm) => moved.panels.map(({ kind }) => kind);
  expect(kinds(placed(form, 0, 2))).toEqual(['track', 'table', 'lines', 'media', 'text']);
  expect(kinds(placed(form, 2, 0))).toEqual(['table', 'lines', 'track', 'media', 'text']);
  expect(kinds(placed(form, 1, 1))).toEqual(kinds(form));
});

test('a box on a plot is its part of both axes, and a stroke of one', () => {
  // 80 pixels of axes across and 58 up leave 400 times 200 to draw on.
  const [x, y, size] = [{ min: 0, max: 400 }, { min: 0, max: 200 }, [480, 258]] as const;
  const box = (fromX: number, fromY: number, toX: number, toY: number) =>
    scalesOf({ fromX: 64 + fromX, fromY: 24 + fromY, toX: 64 + toX, toY: 24 + toY }, x, y, size[0], size[1]);
  expect(box(300, 150, 100, 50)).toEqual({ x: { min: 100, max: 300 }, y: { min: 50, max: 150 } });
  expect(box(100, 50, 300, 52)).toEqual({ x: { min: 100, max: 300 }, y });
  expect(box(100, 50, 101, 52)).toBeNull();
  expect(box(-50, -50, 100, 50)).toEqual({ x: { min: 0, max: 100 }, y: { min: 150, max: 200 } });
});

test('a track knows latitude and longitude by their names, and needs both', () => {
  expect(placeChannels(['speed', 'GPS_Longitude', 'gps lat', 'latency'])).toEqual([
    'gps lat',
    'GPS_Longitude',
  ]);
  expect(placeChannels(['latitude', 'speed'])).toEqual([]);
});
