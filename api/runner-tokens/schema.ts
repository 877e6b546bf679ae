/** Wire forms of runner tokens (contract: Runner token request; decisions 9). */
import { z } from 'zod';
import { runnerScopes } from '../../domain/access/access.ts';
import { exampleValues } from '../../domain/examples.ts';
import { limits } from '../../domain/limits.ts';
import { isName } from '../../domain/text.ts';
import { nameText, timestampOut } from '../../http/schemas.ts';
import { runnerExampleValues } from '../runner-examples.ts';

const { runnerTokenTypes, runnerTokenAdministratorMaxHours: maxHours } = limits;

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
      .number({ error: `ttlHours must be a whole number from 1 to ${maxHours}.` })
      .int(`ttlHours must be a whole number from 1 to ${maxHours}.`)
      .min(1, `ttlHours must be between 1 and ${maxHours}.`)
      .max(maxHours, `ttlHours must be between 1 and ${maxHours}.`)
      .nullish()
      .transform((hours) => hours ?? limits.runnerTokenDefaultHours)
      .meta({
        description: `1 to ${limits.runnerTokenDeveloperMaxHours} for Developers, to ${maxHours} for Administrators; default ${limits.runnerTokenDefaultHours}.`,
      }),
    label: z
      .string()
      .refine((label) => label === '' || isName(label, limits.nameCharacters), {
        error: `must hold at most ${limits.nameCharacters} characters and no control characters`,
      })
      .transform((label) => label.trim())
      .meta({ type: 'string', maxLength: limits.nameCharacters })
      .nullish()
      .transform((label) => label ?? '')
      .meta({ description: 'Free text: where the token is used.' }),
  })
  .meta({
    id: 'RunnerTokenRequest',
    example: {
      runnerTypes: [runnerExampleValues.runnerType],
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
    example: { token: 'hrt_...', id: runnerExampleValues.tokenId, expiresAt, scopes: runnerScopes },
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
    id: 'RunnerTokenMetadata',
    example: {
      id: runnerExampleValues.tokenId,
      label,
      runnerTypes: [runnerExampleValues.runnerType],
      scopes: runnerScopes,
      createdBy: exampleValues.userId,
      createdAt: exampleValues.startedAt,
      expiresAt,
      lastUsedAt: exampleValues.processedAt,
      revoked: false,
      tokenHint: '4xQ2',
    },
  });
