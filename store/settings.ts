/** Variables of the database's clients. */
import { z } from 'zod';

export const databaseSettings = z.object({
  /** The platform's own database: `postgresql://user:password@host:port/database`. */
  DATABASE_URL: z
    .string({ error: 'must be an address like postgresql://user:password@host:5432/database' })
    .refine((value) => /^postgres(ql)?:\/\/./.test(value) && URL.canParse(value), {
      error: 'must be an address like postgresql://user:password@host:5432/database',
    }),
  /** Connections of one process at the most. */
  DATABASE_POOL_SIZE: z.coerce
    .number('must be a whole number from 2 to 200')
    .int('must be a whole number from 2 to 200')
    .min(2, 'must be a whole number from 2 to 200')
    .max(200, 'must be a whole number from 2 to 200')
    .default(16),
});
export type DatabaseVariables = z.output<typeof databaseSettings>;
