/** Variables of the platform's own object store, and of the key that encrypts those of others. */
import { z } from 'zod';
import type { S3Access } from './data-sources.ts';

const address = 'must be an address like https://s3.example.org';

export const objectSettings = z.object({
  /** The S3-compatible store of the data source `platform`. */
  S3_ENDPOINT: z.url({ protocol: /^https?$/, error: address }),
  S3_REGION: z.string().default('us-east-1'),
  S3_BUCKET: z.string().default('platform'),
  /** Put before every key, for a bucket that others use too. */
  S3_PREFIX: z.string().default(''),
  S3_ACCESS_KEY_ID: z.string(),
  S3_SECRET_ACCESS_KEY: z.string(),
  /** `true`: the bucket stands in the path; `false`: in the host name. */
  S3_FORCE_PATH_STYLE: z
    .enum(['true', 'false', '1', '0'], { error: 'must be true or false' })
    .default('true')
    .transform((value) => value === 'true' || value === '1'),
  /** Encrypts the keys of registered data sources; without it they cannot be read again. */
  SECRETS_KEY: z.string().min(32, { error: 'must hold at least 32 characters' }),
});
export type ObjectVariables = z.output<typeof objectSettings>;

/** Place and keys of the data source `platform`. */
export function platformAccess(settings: ObjectVariables): S3Access {
  return {
    endpoint: settings.S3_ENDPOINT,
    region: settings.S3_REGION,
    bucket: settings.S3_BUCKET,
    prefix: settings.S3_PREFIX,
    forcePathStyle: settings.S3_FORCE_PATH_STYLE,
    accessKeyId: settings.S3_ACCESS_KEY_ID,
    secretAccessKey: settings.S3_SECRET_ACCESS_KEY,
  };
}
