/** Variables of the platform's own object store, and of the key that encrypts those of others. */
import { z } from 'zod';
import { isAllowlistEntry } from '../../domain/network/endpoint.ts';
import { secretText } from '../../domain/settings.ts';
import { withKeyPair } from '../../settings/key-pair.ts';
import type { S3Access } from './data-sources.ts';

const address = 'must be an address like https://s3.example.org';

const objectVariables = z.object({
  S3_ENDPOINT: z.url({ protocol: /^https?$/, error: address }).meta({
    description: 'The S3-compatible store of the data source `platform`.',
  }),
  S3_REGION: z.string().default('us-east-1').meta({ description: 'Region of that store.' }),
  S3_BUCKET: z.string().default('platform').meta({ description: 'Bucket in that store; it must exist.' }),
  S3_PREFIX: z.string().default('').meta({ description: 'Prefix of every object key, for a shared bucket.' }),
  S3_ACCESS_KEY_ID: z
    .string()
    .optional()
    .meta({
      secret: true,
      description:
        'Key of that store. Without key and secret, the default AWS credential chain applies: ' +
        'AWS variables and files, then the role of the container, the pod or the machine.',
    }),
  S3_SECRET_ACCESS_KEY: z.string().optional().meta({ secret: true, description: 'Secret of that key.' }),
  S3_FORCE_PATH_STYLE: z
    .enum(['true', 'false', '1', '0'], { error: 'must be true or false' })
    .default('true')
    .transform((value) => value === 'true' || value === '1')
    .meta({ description: '`true`: the bucket is part of the path; `false`: part of the host name.' }),
  DATA_SOURCE_ENDPOINT_ALLOWLIST: z
    .string()
    .optional()
    .transform((value) => value?.split(',').map((entry) => entry.trim()))
    .refine((entries) => entries === undefined || entries.every(isAllowlistEntry), {
      error: 'must be hosts such as s3.example.org or addresses, separated by commas',
    })
    .meta({
      description:
        'Allowed endpoints of registered data sources: addresses or hosts, separated by commas; `*.` covers all subdomains. Only listed ' +
        'endpoints and `S3_ENDPOINT` may be in private networks or on this machine; link-local addresses ' +
        'are always refused. Absent: every public address. Set the same value for API and workers.',
    }),
  SECRETS_KEY: secretText(32).meta({
    secret: true,
    description:
      'Encrypts the keys of registered data sources and the secrets of webhooks, and digests runner tokens and ingest secrets. ' +
      'With another value none of them can be used.',
  }),
});

export const objectSettings = withKeyPair(objectVariables);
export type ObjectVariables = z.output<typeof objectSettings>;

/** Place and keys of the data source `platform`. */
export function platformAccess(settings: ObjectVariables): S3Access {
  const { S3_ACCESS_KEY_ID: accessKeyId, S3_SECRET_ACCESS_KEY: secretAccessKey } = settings;
  return {
    endpoint: settings.S3_ENDPOINT,
    region: settings.S3_REGION,
    bucket: settings.S3_BUCKET,
    prefix: settings.S3_PREFIX,
    forcePathStyle: settings.S3_FORCE_PATH_STYLE,
    accessKeyId: accessKeyId ?? '',
    secretAccessKey: secretAccessKey ?? '',
    usesOwnIdentity: accessKeyId === undefined,
  };
}
