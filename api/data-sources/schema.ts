/** Wire forms of data sources (decisions 4). */
import { z } from 'zod';
import { readEndpoint } from '../../domain/network/endpoint.ts';
import { isName, isStorableText } from '../../domain/text.ts';
import { nameText } from '../../http/schemas.ts';

/** Text without control characters or blanks around it. */
const plainText = (minCharacters: number, maxCharacters: number, what: string) => {
  const error = `${what} must hold ${minCharacters} to ${maxCharacters} characters, without blanks or control characters.`;
  return z
    .string({ error })
    .min(minCharacters, { error })
    .max(maxCharacters, { error })
    .regex(/^[^\s\p{Cc}]*$/u, { error })
    .refine(isStorableText, { error });
};

const fields = {
  kind: z.literal('s3', { error: "kind must be 's3'." }),
  endpoint: z
    .string({ error: 'endpoint must be an http or https address.' })
    .refine((value) => readEndpoint(value) !== null, { error: 'endpoint must be an http or https address.' })
    .meta({ type: 'string', format: 'uri', example: 'https://s3.example.org' }),
  region: plainText(0, 64, 'region'),
  bucket: plainText(3, 255, 'bucket'),
  prefix: plainText(0, 512, 'prefix').meta({ description: 'Prefix of every object key.' }),
  accessKeyId: plainText(1, 256, 'accessKeyId'),
  secretAccessKey: plainText(1, 1024, 'secretAccessKey').meta({
    description: 'Write-only.',
  }),
  forcePathStyle: z
    .boolean({ error: 'forcePathStyle must be true or false.' })
    .meta({ description: 'True: the bucket is part of the path; false: part of the host name.' }),
};

const named = nameText().meta({
  description: 'The name that `dataSourceName` of a node refers to.',
  example: 'default',
});

export const dataSourceParams = z.object({
  name: z
    .string()
    .refine((value) => isName(value))
    .meta({ description: 'Name of the data source.', example: 'default' }),
});

const requestExample = {
  kind: 's3',
  endpoint: 'https://s3.example.org',
  region: 'eu-central-1',
  bucket: 'recordings',
  prefix: 'platform/',
  accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
  forcePathStyle: true,
};

export const newDataSourceSchema = z
  .object({
    name: named,
    ...fields,
    kind: fields.kind.default('s3'),
    region: fields.region.default('us-east-1'),
    prefix: fields.prefix.default(''),
    forcePathStyle: fields.forcePathStyle.default(true),
  })
  .meta({ id: 'DataSourceRequest', example: requestExample });

export const dataSourceChangeSchema = z
  .object({
    name: nameText().meta({
      description: 'Must equal the name in the path: a data source cannot be renamed.',
    }),
    ...fields,
  })
  .partial()
  .meta({ id: 'DataSourceChange', example: requestExample });
