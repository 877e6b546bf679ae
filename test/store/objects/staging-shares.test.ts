import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { StagedPart } from '../../../store/objects/staging.ts';
import { StagingArea, StagingFull } from '../../../store/objects/staging-area.ts';

const mebibyte = 1024 * 1024;
const folder = mkdtempSync(join(tmpdir(), 'sdp-staging-'));
afterAll(() => rmSync(folder, { recursive: true }));
/** Half of it is 32 MB. */
const newArea = () => new StagingArea({ folder, maxBytes: 24 * mebibyte, waitSeconds: 1 });
const never = new AbortController().signal;

function begin(area: StagingArea, caller: string, mebibytes = 8) {
  const part = new StagedPart(area, mebibytes * mebibyte, never, caller);
  const fill = async (count = mebibytes) => {
    for (let at = 0; at < count * 16; at += 1) await part.append(Buffer.alloc(mebibyte / 16));
  };
  return { part, fill };
}

describe('the room of one caller', () => {
  test('is half, however many parts are begun and not ended, and others have theirs', async () => {
    const area = newArea();
    const greedy = Array.from({ length: 40 }, () => begin(area, 'greedy'));
    const filling = await Promise.allSettled(greedy.map(({ fill }) => fill(2)));
    const refused = filling.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []));
    expect(refused.length).toBeGreaterThan(10);
    expect(refused.every((reason) => reason instanceof StagingFull)).toBe(true);
    for (const caller of ['other', 'third']) {
      const { part, fill } = begin(area, caller);
      await fill();
      part.filled();
      part.dispose(true);
    }
    for (const { part } of greedy) part.dispose(false);
  });

  test('is free for others also while it has parts that wait', async () => {
    const area = newArea();
    const greedy = Array.from({ length: 40 }, () => begin(area, 'greedy'));
    let ended = 0;
    const filling = greedy.map(async ({ fill }) => {
      await fill(2).catch(() => undefined);
      ended += 1;
    });
    const { part, fill } = begin(area, 'other');
    await fill();
    expect(ended).toBeLessThan(greedy.length);
    await Promise.all(filling);
    for (const one of [part, ...greedy.map((begun) => begun.part)]) one.dispose(false);
  });

  test('lets it end all of its parts, also one that is larger', async () => {
    const area = newArea();
    const parts = Array.from({ length: 12 }, () => begin(area, 'greedy'));
    await Promise.all(
      parts.map(async ({ part, fill }) => {
        await fill();
        part.filled();
        part.dispose(true);
      }),
    );
    const { part, fill } = begin(area, 'greedy', 48);
    await fill();
    part.dispose(true);
  });
});
