/** Wire forms of retention. */
import { z } from 'zod';
import { exampleValues } from '../../domain/examples.ts';
import { limits } from '../../domain/limits.ts';
import { timestampOut } from '../../http/schemas.ts';

export const retentionRunSchema = z
  .object({
    id: z.int(),
    requestedAt: timestampOut(),
    requestedBy: z
      .guid()
      .nullable()
      .meta({ description: 'The Administrator who started it; null: the schedule.' }),
    startedAt: timestampOut().nullable(),
    endedAt: timestampOut().nullable(),
    sessions: z.int().meta({ description: 'Sessions deleted so far.' }),
    outputs: z.int().meta({ description: 'Outputs deleted so far, those of deleted sessions included.' }),
    orphans: z.int().meta({ description: 'Objects without a row that were deleted.' }),
    bytes: z.int(),
    error: z.string().nullable().meta({ description: 'What could not be checked or removed.' }),
  })
  .meta({
    id: 'RetentionRun',
    example: {
      id: 12,
      requestedAt: exampleValues.startedAt,
      requestedBy: null,
      startedAt: exampleValues.startedAt,
      endedAt: exampleValues.processedAt,
      sessions: 3,
      outputs: 41,
      orphans: 0,
      bytes: 73_400_320,
      error: null,
    },
  });

export const retentionPreviewSchema = z
  .object({
    sessions: z.object({
      count: z.int(),
      outputs: z.int().meta({ description: 'Outputs deleted with the sessions.' }),
      bytes: z.int(),
      items: z.array(
        z.object({
          sessionId: z.guid(),
          projectId: z.int(),
          createdAt: timestampOut(),
          outputs: z.int(),
          bytes: z.int(),
        }),
      ),
    }),
    outputs: z
      .object({ count: z.int(), bytes: z.int(), sessions: z.int() })
      .meta({ description: 'Old outputs of sessions that are kept.' }),
    orphans: z
      .object({ count: z.int(), bytes: z.int() })
      .nullable()
      .meta({ description: 'Objects without a row; null without `orphans=true`.' }),
    abandonedUploads: z.int().meta({ description: 'Uploads without activity for an hour.' }),
    complete: z.boolean().meta({
      description: `False when there is more: sessions beyond ${limits.retentionSessionsCounted}, objects beyond ${limits.retentionPagesListed * 1000}.`,
    }),
    runs: z.array(retentionRunSchema).meta({ description: 'The last ten, newest first.' }),
  })
  .meta({
    id: 'RetentionPreview',
    example: {
      sessions: {
        count: 1,
        outputs: 4,
        bytes: 1_048_576,
        items: [
          {
            sessionId: exampleValues.sessionId,
            projectId: exampleValues.projectId,
            createdAt: exampleValues.startedAt,
            outputs: 4,
            bytes: 1_048_576,
          },
        ],
      },
      outputs: { count: 7, bytes: 2_097_152, sessions: 2 },
      orphans: { count: 0, bytes: 0 },
      abandonedUploads: 0,
      complete: true,
    },
  });
