/** Variables of the room in which bytes wait on their way to a store. */
import { tmpdir } from 'node:os';
import { z } from 'zod';
import { limits } from '../../domain/limits.ts';
import { StagingArea } from './staging-area.ts';

export const stagingSettings = z.object({
  TEMP_DIR: z
    .string()
    .optional()
    .meta({ description: 'Where data are put for a short time; absent: the folder of the system.' }),
  STAGING_MAX_BYTES: z.coerce
    .number('must be a whole number')
    .int('must be a whole number')
    .min(limits.stagingBytesMin, `must be at least ${limits.stagingBytesMin}`)
    .max(Number.MAX_SAFE_INTEGER, `must be at most ${Number.MAX_SAFE_INTEGER}`)
    .default(limits.stagingBytesDefault)
    .meta({
      description:
        'Most bytes of uploads that each process keeps in `TEMP_DIR` while they are on their way to a store. Uploads for ' +
        'which there is no room wait, and are answered 503 with `Retry-After` where none comes.',
    }),
});

export function openStaging(settings: z.output<typeof stagingSettings>): StagingArea {
  return new StagingArea({
    folder: settings.TEMP_DIR ?? tmpdir(),
    maxBytes: settings.STAGING_MAX_BYTES,
  });
}
