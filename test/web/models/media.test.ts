/** Pictures and video on the time axis, without a browser. */
import { expect, test } from 'vitest';
import type { ListedOutput } from '../../../client/types.ts';
import { frameAt, framesOf } from '../../../web/src/dashboard/media/model.ts';

const start = Date.UTC(2026, 2, 14, 9, 30);
const output = (id: number, name: string, contentType: string | null, metadata: object | null = null) =>
  ({ id, outputIdentifier: name, contentType, metadata, sizeBytes: 100 }) as unknown as ListedOutput;

test('only what a browser draws without running it is shown', () => {
  const outputs = [
    output(1, 'a.png', 'image/png'),
    output(2, 'b.svg', 'image/svg+xml'),
    output(3, 'c.mp4', 'Video/MP4; codecs=avc1'),
    output(4, 'd.html', 'text/html'),
    output(5, 'e', null),
  ];
  expect(framesOf(outputs, '', start).map(({ output: one, isVideo }) => [one.id, isVideo])).toEqual([
    [1, false],
    [3, true],
  ]);
  expect(framesOf(outputs, 'A.P', start)).toHaveLength(1);
});

test('the picture of a moment is the last that has begun, and the first before all', () => {
  const frames = framesOf(
    [
      output(1, 'c.png', 'image/png', { capturedAt: new Date(start + 20_000).toISOString() }),
      output(2, 'b.png', 'image/png', { offsetSeconds: 10 }),
      output(3, 'a.png', 'image/png', { capturedAt: 'soon' }),
    ],
    '',
    start,
  );
  const at = (seconds: number | null) =>
    frameAt(frames, seconds === null ? null : start + seconds * 1000)?.output.id;
  expect([at(null), at(-5), at(0), at(9.9), at(10), at(19), at(20), at(900)]).toEqual([
    3, 3, 3, 3, 2, 2, 1, 1,
  ]);
  expect(frameAt([], start)).toBeNull();
});

test('over a time without a clock pictures are as far apart as they were captured, from the start', () => {
  const at = (seconds: number) => ({ capturedAt: new Date(start + seconds * 1000).toISOString() });
  const outputs = [
    output(1, 'c.png', 'image/png', at(20)),
    output(2, 'a.png', 'image/png', at(5)),
    output(3, 'd.png', 'image/png', { ...at(90), offsetSeconds: 60 }),
    output(4, 'b.png', 'image/png', { offsetSeconds: 10 }),
    output(5, 'log.csv', 'text/csv', at(0)),
  ];
  const places = (part: string) =>
    framesOf(outputs, part, 1000, 'elapsed').map(({ output: { id }, atMs }) => [id, atMs]);
  expect(places('')).toEqual([
    [2, 1000],
    [4, 11_000],
    [1, 16_000],
    [3, 61_000],
  ]);
  expect(places('c.p')).toEqual([[1, 16_000]]);
});

test('over rows pictures have no place but an order', () => {
  const outputs = [
    output(1, 'b.png', 'image/png', { offsetSeconds: 60 }),
    output(2, 'a.png', 'image/png', { offsetSeconds: 0 }),
  ];
  const frames = framesOf(outputs, '', 0, 'rows');
  expect(frames.map(({ output: { id }, atMs }) => [id, atMs])).toEqual([
    [2, 0],
    [1, 0],
  ]);
  expect([frameAt(frames, null), frameAt(frames, 500)].map((frame) => frame?.output.id)).toEqual([2, 2]);
});

test('a picture whose time has no zone was taken in UTC', () => {
  const { TZ: zone } = process.env;
  process.env.TZ = 'Asia/Tokyo';
  try {
    const pictures = [output(1, 'a.png', 'image/png', { capturedAt: '2026-03-14T09:30:05' })];
    expect(framesOf(pictures, '', start)[0]!.atMs).toBe(start + 5_000);
  } finally {
    if (zone === undefined) delete process.env.TZ;
    else process.env.TZ = zone;
  }
});
