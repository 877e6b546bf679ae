/** Wire forms of the log of a run. */
import { z } from 'zod';
import { logLevels } from '../../domain/runs/run-log.ts';
import { formatTimestamp } from '../../domain/timestamp.ts';
import { jsonObjectOut, timestampOut } from '../../http/schemas.ts';
import type { LogPage } from '../../store/run-logs/read-log.ts';

export const logEntrySchema = z
  .object({
    position: z.int().meta({ description: 'Rises along the log, over all attempts.' }),
    at: timestampOut().meta({
      description: 'By the clock of the runner, or of the platform for its own lines.',
    }),
    attempt: z.int(),
    level: z.enum(logLevels),
    source: z
      .enum(['runner', 'platform'])
      .meta({ description: '`platform`: claimed, released, lost, cancelled, retried, published, ended.' }),
    message: z.string(),
    fields: jsonObjectOut().nullable(),
  })
  .meta({
    id: 'RunLogEntry',
    example: {
      position: 1_807_535_001_600_000,
      at: '2026-03-01T10:04:01.120Z',
      attempt: 1,
      level: 'warning',
      source: 'runner',
      message: 'Lap 3 has no sector times.',
      fields: { lap: 3 },
    },
  });

export const logPageSchema = z
  .object({
    entries: z.array(logEntrySchema),
    next: z.int().meta({ description: 'Send it as `after` for what follows.' }),
    complete: z.boolean().meta({ description: 'The run has ended, and nothing follows this page.' }),
  })
  .meta({ id: 'RunLogPage', example: { next: 1_807_535_001_600_000, complete: true } });

export function presentLogPage({ entries, ...page }: LogPage): z.input<typeof logPageSchema> {
  return {
    ...page,
    entries: entries.map(({ at, fields, ...entry }) => ({
      ...entry,
      at: formatTimestamp(at),
      fields: fields as Record<string, never> | null,
    })),
  };
}
