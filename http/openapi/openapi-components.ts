/** What all operations of the OpenAPI document share: kinds of credentials, and the headers of every exchange. */
import { tokenPrefixes } from '../../domain/access/token-format.ts';

const bearer = (kind: keyof typeof tokenPrefixes, description: string) =>
  ({ type: 'http', scheme: 'bearer', bearerFormat: `${tokenPrefixes[kind]}...`, description }) as const;

const requestId = {
  schema: { type: 'string', pattern: '^[A-Za-z0-9._-]{1,128}$' },
  example: 'capture-07.upload-12',
} as const;

export const sharedComponents = {
  securitySchemes: {
    accessToken: bearer(
      'access',
      'Eight hours, from a sign-in. The names in a requirement are the roles that it takes.',
    ),
    offlineToken: bearer(
      'offline',
      'Twelve months, for capture devices, within the role of its Administrator.',
    ),
    runnerToken: bearer('runner', 'For runners. The name in a requirement is the scope that it takes.'),
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
      description: 'The key that platform and authentication service share; for no one else.',
    },
  },
  parameters: {
    RequestId: {
      in: 'header',
      name: 'X-Request-Id',
      description:
        'Names the request in replies and logs. Anything of another form is replaced by a new one.',
      ...requestId,
    },
    IdempotencyKey: {
      in: 'header',
      name: 'Idempotency-Key',
      description:
        'A text of the caller’s own, new for each request that is meant anew: for 24 hours the same request under it is ' +
        'done once, and every repeat gets the first answer. 1 to 255 visible characters, in double quotes or bare.',
      schema: { type: 'string', minLength: 1, maxLength: 512 },
      example: '"8e03978e-40d5-43e8-bc93-6894a57f9324"',
    },
  },
  headers: {
    RequestId: { description: 'The name of the request: as sent, or a new one.', ...requestId },
    Challenge: {
      description: 'The kind of credentials that are wanted.',
      schema: { type: 'string', const: 'Bearer' },
      example: 'Bearer',
    },
    RetryAfter: {
      description: 'Seconds to wait before another try, where that is known.',
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
