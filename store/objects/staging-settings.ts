/** Variables of the room in which bytes wait on their way to a store. */
import { tmpdir } from 'node:os';
import { z } from 'zod';
import { limits } from '../../domain/limits.ts';
import { wholeNumber } from '../../domain/settings.ts';
import { StagingArea } from './staging-area.ts';

export const stagingSettings = z.object({
  TEMP_DIR: z
    .string()
    .optional()
    .meta({ description: "Folder for temporary files; absent: the system's folder." }),
  STAGING_MAX_BYTES: wholeNumber(limits.stagingBytesMin, Number.MAX_SAFE_INTEGER)
    .default(limits.stagingBytesDefault)
    .meta({
      description:
        'Maximum bytes of uploads that each process keeps in `TEMP_DIR` on the way to a store. Further uploads ' +
        'wait for space; without space in time they get 503 with `Retry-After`.',
    }),
});

export function openStaging(settings: z.output<typeof stagingSettings>): StagingArea {
  return new StagingArea({
    folder: settings.TEMP_DIR ?? tmpdir(),
    maxBytes: settings.STAGING_MAX_BYTES,
  });
}
