/** What both routes of an offline token share: the authentication service's own, and the platform's on its behalf. */
import { z } from 'zod';
import { exampleValues } from '../domain/examples.ts';
import { timestampOut, uuid } from './schemas.ts';

const exampleId = '7d0a3b52-4c1e-4f86-9d27-1e5f8a6b3c90';
const exampleEnd = '2027-03-01T10:00:00.000Z';

const createdSchema = z
  .object({ token: z.string(), expiresAt: timestampOut() })
  .meta({ id: 'OfflineTokenCreated', example: { token: 'hot_...', expiresAt: exampleEnd } });

const itemSchema = z
  .object({
    secretId: z.guid(),
    userId: z.guid(),
    username: z.string(),
    expiresAt: timestampOut(),
    lastUsedAt: timestampOut().nullable(),
    revoked: z.boolean(),
    tokenHint: z.string(),
  })
  .meta({
    id: 'OfflineTokenMetadata',
    example: {
      secretId: exampleId,
      userId: exampleValues.userId,
      username: exampleValues.username,
      expiresAt: exampleEnd,
      lastUsedAt: exampleValues.processedAt,
      revoked: false,
      tokenHint: '4xQ2',
    },
  });

const tags: readonly string[] = ['Offline tokens'];

/** @param path of the list @param audience ends each summary */
export const offlineTokenRoutesAt = <Path extends string>(path: Path, audience = '') =>
  ({
    create: {
      method: 'POST',
      path,
      summary: `Creates an offline token${audience}`,
      description:
        'For a capture device. Its value is shown once. It expires after twelve months, or ends with its Administrator.',
      tags,
      responses: { 200: { description: 'The token.', schema: createdSchema } },
    },
    list: {
      method: 'GET',
      path,
      summary: `Lists the offline tokens of all Administrators${audience}`,
      description: 'Without their values. `lastUsedAt` is written at most once a minute.',
      tags,
      responses: { 200: { description: 'The tokens.', schema: z.array(itemSchema) } },
    },
    revoke: {
      method: 'DELETE',
      path: `${path}/{secretId}`,
      summary: `Revokes an offline token${audience}`,
      description: 'It is refused from now on; other tokens of its Administrator stay valid.',
      tags,
      params: z.object({
        secretId: uuid().meta({
          description: 'The id of the offline token in the list.',
          example: exampleId,
        }),
      }),
      responses: { 204: { description: 'Revoked.' } },
      errors: ['tokenNotFound'],
      refusals: { params: 'tokenNotFound' },
    },
  }) as const;
