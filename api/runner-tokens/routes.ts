/** Making, listing and revoking runner tokens (contract: Runner administration; decisions 3 and 9). */
import { z } from 'zod';
import { access } from '../../domain/access/access.ts';
import { Problem } from '../../domain/errors.ts';
import { refuseTokenRequest } from '../../domain/runners/runner-token.ts';
import { formatTimestamp, formatTimestampOrNull } from '../../domain/timestamp.ts';
import { uuid } from '../../http/schemas.ts';
import { newTokenValue } from '../../store/runners/runner-token-value.ts';
import {
  type CreatorState,
  createRunnerToken,
  type RunnerTokenItem,
  readRuntimes,
  revokeRunnerToken,
  runnerTokenPages,
} from '../../store/runners/runner-tokens.ts';
import type { Principal } from '../identity/auth-client.ts';
import { resumed } from '../resumed.ts';
import { defineRoute } from '../route.ts';
import { runnerExampleValues } from '../runner-examples.ts';
import type { Services } from '../services.ts';
import { createdTokenSchema, newTokenSchema, tokenItemSchema } from './schema.ts';

const path = '/api/v2/admin/runner-tokens';
const tags = ['Runner administration'];

const create = defineRoute({
  id: 'createRunnerToken',
  method: 'POST',
  path,
  summary: 'Creates a runner token; its value is shown once',
  description:
    'The token covers the node templates of its runner types, within its creator’s current role: a ' +
    'Developer’s tokens cover only runner types of runtime `external`. It ends with its creator, and when all tokens ' +
    'of its creator are revoked.',
  tags,
  access: access.runnerTokens,
  audit: { object: 'runnerToken' },
  idempotent: 'secret',
  body: newTokenSchema,
  responses: { 201: { description: 'The token.', schema: createdTokenSchema } },
  errors: ['forbidden'],
  async handler({ body, principal, services, requestId, log }) {
    const { now, runtimes } = await readRuntimes(services.database, body.runnerTypes);
    const creator = await creatorOf(services, principal, requestId);
    const refusal = refuseTokenRequest(creator.role, body, runtimes);
    if (refusal !== null) {
      const key = refusal.why === 'forbidden' ? 'forbidden' : 'invalidRequest';
      throw new Problem(key, { message: refusal.message });
    }
    const { value, digest, hint } = newTokenValue(services.objects.secrets);
    const made = await createRunnerToken(services.database, { ...body, digest, hint }, creator, now);
    const { userId } = principal;
    log.info({ audit: 'createRunnerToken', userId, tokenId: made.id }, 'runner token created');
    return {
      status: 201,
      body: {
        token: value,
        id: made.id,
        expiresAt: formatTimestamp(made.expiresAt),
        scopes: body.scopes,
      },
      headers: { 'cache-control': 'no-store' },
    };
  },
});

/**
 * The caller as the authentication service shows it to the platform itself. Read before the caller's own token is
 * checked once more: otherwise a revocation of all of their tokens in between would miss the new one.
 */
async function creatorOf(
  { runners, auth }: Services,
  principal: Principal,
  requestId: string,
): Promise<CreatorState & { readonly role: Principal['role'] }> {
  const { role, ...state } = await runners.tokens.creators.stateOf(principal.userId, requestId);
  const caller = await auth.identify(principal.bearer, requestId);
  if (role === null || caller === null) throw new Problem('unauthorized');
  return { ...state, role };
}

const list = defineRoute({
  id: 'listRunnerTokens',
  method: 'GET',
  path,
  summary: 'Lists runner tokens without their values, oldest first',
  description:
    'Developers see their own, Administrators all. A token stays in the list for some months after its end.',
  tags,
  access: access.runnerTokens,
  responses: { 200: { description: 'The tokens.', items: tokenItemSchema } },
  async handler({ principal, services }) {
    const pages = runnerTokenPages(services.database, ownersSeenBy(principal));
    return { status: 200, items: presented(resumed(await pages.next(), pages)) };
  },
});

async function* presented(pages: AsyncIterable<RunnerTokenItem[]>) {
  for await (const page of pages) yield page.map(present);
}

const revoke = defineRoute({
  id: 'revokeRunnerToken',
  method: 'DELETE',
  path: `${path}/{id}`,
  summary: 'Revokes a runner token',
  description:
    'It is refused from now on, its open calls end within seconds, and its tasks are released ' +
    'without counting as an attempt. It is answered, about a second later, when every process of the platform refuses the ' +
    'token. A repeat changes nothing.',
  tags,
  access: access.runnerTokens,
  audit: { object: 'runnerToken', from: 'id' },
  params: z.object({ id: uuid().meta({ description: 'The token.', example: runnerExampleValues.tokenId }) }),
  responses: { 204: { description: 'Revoked.' } },
  errors: ['tokenNotFound'],
  refusals: { params: 'tokenNotFound' },
  async handler({ params, principal, services, log }) {
    const isKnown = await revokeRunnerToken(services.database, params.id, ownersSeenBy(principal));
    if (!isKnown) throw new Problem('tokenNotFound');
    const { userId } = principal;
    log.info({ audit: 'revokeRunnerToken', userId, tokenId: params.id }, 'runner token revoked');
    await services.runners.tokens.releaseEndedTasks();
    await services.runners.tokens.forgetEverywhere();
    return { status: 204 };
  },
});

/** The users whose tokens the caller may see: null for all. */
function ownersSeenBy(principal: Principal): string | null {
  return principal.role === 'Administrator' ? null : principal.userId;
}

function present(row: RunnerTokenItem): z.input<typeof tokenItemSchema> {
  return {
    id: row.id,
    label: row.label,
    runnerTypes: [...row.runnerTypes],
    scopes: [...row.scopes],
    createdBy: row.createdBy,
    createdAt: formatTimestamp(row.createdAt),
    expiresAt: formatTimestamp(row.expiresAt),
    lastUsedAt: formatTimestampOrNull(row.lastUsedAt),
    revoked: row.revoked,
    tokenHint: row.hint,
  };
}

export const runnerTokenRoutes = [create, list, revoke];
