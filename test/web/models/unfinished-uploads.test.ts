import { afterEach, expect, test, vi } from 'vitest';
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
