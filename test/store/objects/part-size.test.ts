/** Sizes of the parts of large objects. */
import { expect, test } from 'vitest';
import { growingPartBytes, mayHaveShortParts, partBytesOf } from '../../../domain/outputs/part-size.ts';

const gibibyte = 1024 ** 3;
/** The gateway of `npm start` lists so many parts in 4 KB, whatever their sizes are. */
const partsInAnAttribute = 600;

function growingBytes(parts: number): number {
  let bytes = 0;
  for (let number = 1; number <= parts; number += 1) bytes += growingPartBytes(number);
  return bytes;
}

test('an object of up to 37 GiB has few parts, and one of 500 GB not too many', () => {
  for (const size of [6 * gibibyte, 20 * gibibyte, 37 * gibibyte])
    expect(Math.ceil(size / partBytesOf(size))).toBeLessThanOrEqual(partsInAnAttribute);
  expect(Math.ceil((500 * gibibyte) / partBytesOf(500 * gibibyte))).toBeLessThanOrEqual(9_000);
  expect(partBytesOf(100 * 1024 ** 2)).toBe(8 * 1024 ** 2);
});

test('an object of unknown length has few parts to 17 GiB, and fits into 10,000 of them to 8 TB', () => {
  expect(growingBytes(partsInAnAttribute)).toBeGreaterThan(17 * gibibyte);
  expect(growingBytes(10_000)).toBeGreaterThan(8_000 * gibibyte);
  expect(growingPartBytes(700)).toBe(64 * 1024 ** 2);
});

test('pieces become short parts only where even the shortest of them are few', () => {
  expect(mayHaveShortParts(2 * gibibyte)).toBe(true);
  expect(mayHaveShortParts(4 * gibibyte)).toBe(false);
});
