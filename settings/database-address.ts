/** The schema of variables that hold an address of PostgreSQL. */
import { z } from 'zod';
import {
  databaseAddressFault,
  databaseAddressFiles,
  driverDatabaseAddress,
} from '../domain/network/database-address.ts';

const tls =
  '`?sslmode=` selects TLS (`verify-full` verifies the server, `require` only encrypts), `&sslrootcert=` names an ' +
  'authority of your own, `&sslcert=` and `&sslkey=` a client certificate.';

/** @param what which database it is, as the beginning of a sentence */
export function databaseAddress(what: string) {
  return z
    .string({ error: 'must be an address like postgresql://user:password@host:5432/database' })
    .superRefine((value, context) => {
      const fault = databaseAddressFault(value);
      // Not `custom`, which would report an absent variable too.
      if (fault !== undefined) context.addIssue({ code: 'custom', message: fault, input: value });
    })
    .transform((value) => (databaseAddressFault(value) === undefined ? driverDatabaseAddress(value) : value))
    .meta({
      secret: true,
      files: databaseAddressFiles,
      description: `${what}: \`postgresql://user:password@host:5432/database\`. ${tls}`,
    });
}
