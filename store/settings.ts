/** Variables of the database's clients. */
import { z } from 'zod';
import { databaseAddress } from '../settings/database-address.ts';

export const databaseSettings = z.object({
  DATABASE_URL: databaseAddress("The platform's own database"),
  /** Connections of one process at the most. */
  DATABASE_POOL_SIZE: z.coerce
    .number('must be a whole number from 2 to 200')
    .int('must be a whole number from 2 to 200')
    .min(2, 'must be a whole number from 2 to 200')
    .max(200, 'must be a whole number from 2 to 200')
    .default(16),
});
export type DatabaseVariables = z.output<typeof databaseSettings>;
