import { afterEach, expect, test, vi } from 'vitest';
import { hasSameBytes } from '../../../web/src/session/upload/same-bytes.ts';
import { unfinishedUploads } from '../../../web/src/session/upload/unfinished.ts';

afterEach(() => vi.unstubAllGlobals());

/** As a browser's: its keys are those of its entries. */
function storageOf(entries: Record<string, string>) {
  const methods = {
    getItem: (key: string) => entries[key] ?? null,
    removeItem: (key: string) => void delete entries[key],
  };
  return Object.assign(Object.create(methods), entries) as Storage;
}

test('an entry that cannot be read hides no other unfinished upload', () => {
  const good = JSON.stringify({ creationTime: new Date().toISOString() });
  const storage = storageOf({
    'tus::7//20//cut.bin::1': '{"creationTime":',
    'tus::7//20//none.bin::2': 'null',
    'tus::7//20//%E0%A4%A.bin::3': good,
    'tus::8//30//whole.bin::4': good,
  });
  vi.stubGlobal('localStorage', storage);
  expect(unfinishedUploads()).toMatchObject([{ nodeInstanceId: 8, fileName: 'whole.bin', sizeBytes: 30 }]);
});

test('a file of other bytes, or of fewer, is not the one that was chosen, also where the browser reads it', async () => {
  const chosen = new Uint8Array(1_000_000).fill(1);
  let bytes = chosen;
  const newFile = () => {
    bytes = chosen;
    return {
      size: chosen.length,
      slice: (from: number, to: number) => new Blob([bytes.slice(from, to)]),
    } as File;
  };
  for (const changed of [new Uint8Array(1_000_000).fill(2), chosen.slice(0, 500_000), new Uint8Array()]) {
    const file = newFile();
    expect(await hasSameBytes(file)).toBe(true);
    expect(await hasSameBytes(file)).toBe(true);
    bytes = changed;
    expect(await hasSameBytes(file)).toBe(false);
  }
  const growing = newFile();
  expect(await hasSameBytes(growing)).toBe(true);
  bytes = new Uint8Array(2_000_000).fill(1);
  expect(await hasSameBytes(growing)).toBe(true);
});
