/** Variables of the database's clients. */
import { z } from 'zod';
import { wholeNumber } from '../../domain/settings.ts';
import { databaseAddress } from '../../settings/database-address.ts';

export const databaseSettings = z.object({
  DATABASE_URL: databaseAddress("The platform's own database"),
  /** Maximum number of connections of the main pool of an API process; a worker always has 12. */
  DATABASE_POOL_SIZE: wholeNumber(2, 200).default(16),
});
const reportDatabase = databaseAddress(
  'The database for report downloads, with a read-only user; default: `DATABASE_URL`',
);

export const reportDatabaseSettings = z.object({
  REPORT_DATABASE_URL: reportDatabase.optional().meta(reportDatabase.meta() ?? {}),
});
