/** Wire forms of runner tokens (contract: Runner token request; decisions 9). */
import { z } from 'zod';
import { runnerScopes } from '../../domain/access/access.ts';
import { story } from '../../domain/examples.ts';
import { limits } from '../../domain/limits.ts';
import { nameText, timestampOut } from '../../http/schemas.ts';
import { runnerStory } from '../runner/examples.ts';

const { runnerTokenTypes, runnerTokenAdministratorMaxHours: longestHours } = limits;

const label = 'Laboratory 3';
const expiresAt = '2026-03-31T10:00:00.000Z';

/** Without duplicates, in the order given. */
const distinct = <T>(values: readonly T[]): T[] => [...new Set(values)];

export const newTokenSchema = z
  .object({
    runnerTypes: z
      .array(nameText())
      .min(1, 'runnerTypes must name at least one runner type.')
      .max(runnerTokenTypes, `runnerTypes must name at most ${runnerTokenTypes} runner types.`)
      .transform(distinct),
    scopes: z
      .array(z.enum(runnerScopes, { error: `scopes must be among ${runnerScopes.join(', ')}.` }))
      .min(1, 'scopes must name at least one scope.')
      .max(limits.queryListValues)
      .transform(distinct)
      .nullish()
      .transform((scopes) => scopes ?? ['tasks' as const])
      .meta({ description: 'Default: `tasks` alone.' }),
    ttlHours: z
      .number({ error: `ttlHours must be a whole number from 1 to ${longestHours}.` })
      .int(`ttlHours must be a whole number from 1 to ${longestHours}.`)
      .min(1, `ttlHours must be between 1 and ${longestHours}.`)
      .max(longestHours, `ttlHours must be between 1 and ${longestHours}.`)
      .nullish()
      .transform((hours) => hours ?? limits.runnerTokenDefaultHours)
      .meta({
        description: `1 to ${limits.runnerTokenDeveloperMaxHours} for Developers, to ${longestHours} for Administrators; default ${limits.runnerTokenDefaultHours}.`,
      }),
    label: z
      .union([z.literal(''), nameText()])
      .nullish()
      .transform((label) => label ?? '')
      .meta({ description: 'Free text: where the token is used.' }),
  })
  .meta({
    id: 'RunnerTokenRequest',
    example: {
      runnerTypes: [runnerStory.runnerType],
      scopes: runnerScopes,
      ttlHours: limits.runnerTokenDefaultHours,
      label,
    },
  });

const scopes = z.array(z.enum(runnerScopes));

export const createdTokenSchema = z
  .object({ token: z.string(), id: z.guid(), expiresAt: timestampOut(), scopes })
  .meta({
    id: 'RunnerTokenCreated',
    example: { token: 'hrt_...', id: runnerStory.tokenId, expiresAt, scopes: runnerScopes },
  });

export const tokenItemSchema = z
  .object({
    id: z.guid(),
    label: z.string(),
    runnerTypes: z.array(z.string()),
    scopes,
    createdBy: z
      .guid()
      .nullable()
      .meta({ description: 'Id of the user; null: the platform, for a deployed runner.' }),
    createdAt: timestampOut(),
    expiresAt: timestampOut(),
    lastUsedAt: timestampOut().nullable(),
    revoked: z.boolean().meta({ description: 'Also true when it ended with its creator.' }),
    tokenHint: z.string().meta({ description: 'Last four characters of the token.' }),
  })
  .meta({
    id: 'RunnerToken',
    example: {
      id: runnerStory.tokenId,
      label,
      runnerTypes: [runnerStory.runnerType],
      scopes: runnerScopes,
      createdBy: story.userId,
      createdAt: story.startedAt,
      expiresAt,
      lastUsedAt: story.processedAt,
      revoked: false,
      tokenHint: '4xQ2',
    },
  });
