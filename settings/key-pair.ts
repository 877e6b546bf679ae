/** The keys of an object store, which come together or not at all. */
import type { z } from 'zod';

const isGiven = (value: unknown) => typeof value === 'string';
const pairs = [
  ['S3_ACCESS_KEY_ID', 'S3_SECRET_ACCESS_KEY'],
  ['S3_SECRET_ACCESS_KEY', 'S3_ACCESS_KEY_ID'],
] as const;

/** Refuses half of a pair of keys and reports the missing half. Without both the machine's own role counts. */
export const withKeyPair = <Schema extends z.ZodObject>(schema: Schema): Schema =>
  pairs.reduce(
    (checked, [missing, given]) =>
      checked.refine(
        (values: Record<string, unknown>) => isGiven(values[missing]) || !isGiven(values[given]),
        {
          path: [missing],
          error: `is required with ${given}`,
          // Reported with the faults of other variables.
          when: () => true,
        },
      ),
    schema,
  );
