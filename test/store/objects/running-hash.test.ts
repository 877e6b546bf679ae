import { createHash, randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import type { Intake } from '../../../store/objects/intake.ts';
import { RunningHash } from '../../../store/objects/running-hash.ts';

const noIntake = {} as Intake;

test('pieces of many uploads that come in turns get the digests of their own bytes, also over saved states', async () => {
  const uploads = await Promise.all(
    Array.from({ length: 20 }, async () => {
      const bytes = randomBytes(300);
      let running = await RunningHash.from({ offsetBytes: 0, hashState: null });
      return {
        bytes,
        take: (from: number, to: number) => running.update(bytes.subarray(from, to)),
        async goOn(offsetBytes: number) {
          running = await RunningHash.from({ offsetBytes, hashState: running.state() });
        },
        digest: () => running.digest(noIntake),
      };
    }),
  );
  for (let at = 0; at < 300; at += 10) {
    for (const upload of uploads) upload.take(at, at + 10);
    if (at % 100 === 50) for (const upload of uploads.toReversed()) await upload.goOn(at + 10);
  }
  for (const { bytes, digest } of uploads) {
    const expected = createHash('sha256').update(bytes).digest('hex');
    // A second look is the same.
    expect([digest(), digest()]).toEqual([expected, expected]);
  }
});
