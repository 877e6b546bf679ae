/** Wire forms of the limits of what is held at once (additions, section 2). */
import { z } from 'zod';
import { exampleValues } from '../../domain/examples.ts';
import { runnerNames } from '../../domain/runner-name.ts';
import { concurrencyKinds, concurrencyMax } from '../../domain/runners/concurrency.ts';
import { formatTimestamp } from '../../domain/timestamp.ts';
import { timestampOut } from '../../http/schemas.ts';
import type { ConcurrencyLimit } from '../../store/registry/concurrency-limits.ts';
import { runnerExampleValues } from '../runner-examples.ts';

export const concurrencyParams = z.object({
  name: z
    .string()
    .max(runnerNames.maxCharacters)
    .meta({ description: 'A node template or runner type.', example: runnerExampleValues.template }),
});

const kind = z
  .enum(concurrencyKinds)
  .optional()
  .meta({ description: 'Needed where a node template and a runner type have the name.' });
export const concurrencyQuery = z.object({ kind });

const places = () => z.int().min(0).max(concurrencyMax).nullable();

export const concurrencyChangeSchema = z
  .object({
    kind,
    max: places().meta({ description: 'In all. 0: no task is claimed. Null: any number.' }),
    perProject: places().default(null).meta({ description: 'Tasks of one project.' }),
    perSession: places().default(null).meta({ description: 'Tasks of one session.' }),
  })
  .meta({ id: 'ConcurrencyChange', example: { max: 5, perProject: 2 } });

const values = z
  .object({ max: z.int().nullable(), perProject: z.int().nullable(), perSession: z.int().nullable() })
  .meta({ id: 'Concurrency', example: { max: 5, perProject: 2, perSession: null } });

export const concurrencySchema = z
  .object({
    kind: z.enum(concurrencyKinds),
    name: z.string(),
    ...values.shape,
    held: z.int().meta({ description: 'Tasks that are held now.' }),
    declared: values.nullable().meta({ description: 'By the manifest.' }),
    chosen: values.nullable().meta({ description: 'By an operator, in place of the manifest.' }),
    changedBy: z.guid().nullable().meta({ description: 'The operator; null: the manifest.' }),
    changedAt: timestampOut(),
  })
  .meta({
    id: 'ConcurrencyLimit',
    example: {
      kind: 'nodeTemplate',
      name: runnerExampleValues.template,
      max: 5,
      perProject: 2,
      perSession: null,
      held: 3,
      declared: null,
      changedBy: exampleValues.userId,
    },
  });

export function presentConcurrency(limit: ConcurrencyLimit): z.input<typeof concurrencySchema> {
  return { ...limit, changedAt: formatTimestamp(limit.changedAt) };
}
