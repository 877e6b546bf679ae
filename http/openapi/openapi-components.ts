/** What all operations of the OpenAPI document share: kinds of credentials, and the headers of every exchange. */
import { tokenPrefixes } from '../../domain/access/token-format.ts';
import { limits } from '../../domain/limits.ts';

const bearer = (kind: keyof typeof tokenPrefixes, description: string) =>
  ({ type: 'http', scheme: 'bearer', bearerFormat: `${tokenPrefixes[kind]}...`, description }) as const;

const requestIdExample = 'capture-07.upload-12';

/** What `parseIdempotencyKey` accepts, as a pattern that every reader knows. */
const keyPattern = (most: number) => `^(?:"(?:[!#-\\[\\]-~]|\\\\["\\\\]){1,${most}}"|[!#-~]{1,${most}})$`;

export const sharedComponents = {
  securitySchemes: {
    accessToken: bearer(
      'access',
      'Valid for eight hours after sign-in. The names in a requirement are the accepted roles.',
    ),
    offlineToken: bearer(
      'offline',
      'For capture devices, valid for twelve months, within the role of its Administrator.',
    ),
    runnerToken: bearer('runner', 'For runners. The name in a requirement is the required scope.'),
    ingestToken: bearer('ingest', 'The secret of a managed ingest.'),
    ingestSecret: {
      type: 'apiKey',
      in: 'header',
      name: 'X-Ingest-Secret',
      description: 'The secret of a managed ingest.',
    },
    serviceKey: {
      type: 'http',
      scheme: 'bearer',
      description: 'The key shared by platform and authentication service; for these only.',
    },
  },
  parameters: {
    RequestId: {
      in: 'header',
      name: 'X-Request-Id',
      description:
        'Id of the request in responses and logs. One that is not 1 to 128 characters of `A-Za-z0-9._-` is replaced.',
      schema: { type: 'string' },
      example: requestIdExample,
    },
    IdempotencyKey: {
      in: 'header',
      name: 'Idempotency-Key',
      description:
        'A unique text chosen by the caller for each new request. For 24 hours the same request under it is ' +
        'executed once, and every repeat gets the first response. 1 to 255 visible characters, in double quotes or bare.',
      schema: { type: 'string', pattern: keyPattern(limits.idempotencyKeyCharacters) },
      example: '"8e03978e-40d5-43e8-bc93-6894a57f9324"',
    },
  },
  headers: {
    RequestId: {
      description: 'Id of the request: as sent, or a new one.',
      schema: { type: 'string', pattern: '^[A-Za-z0-9._-]{1,128}$' },
      example: requestIdExample,
    },
    Challenge: {
      description: 'The required kind of credentials.',
      schema: { type: 'string', const: 'Bearer' },
      example: 'Bearer',
    },
    RetryAfter: {
      description: 'Seconds to wait before a retry, if known.',
      schema: { type: 'integer', minimum: 1 },
      example: 1,
    },
  },
} as const;

const spellings: Readonly<Record<string, string>> = {
  etag: 'ETag',
  'last-event-id': 'Last-Event-ID',
  'content-md5': 'Content-MD5',
  'x-amz-checksum-sha256': 'x-amz-checksum-sha256',
};

/** `x-request-id` as people write it: `X-Request-Id`. */
export function headerName(name: string): string {
  const plain = name.toLowerCase();
  return spellings[plain] ?? plain.replaceAll(/(^|-)[a-z]/g, (letter) => letter.toUpperCase());
}
