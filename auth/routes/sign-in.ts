/** Tokens of people: sign-in, refresh, sign-out, bulk revocation, validation. */
import { z } from 'zod';
import { access } from '../../domain/access/access.ts';
import { Problem } from '../../domain/errors.ts';
import { exampleValues } from '../../domain/examples.ts';
import { limits } from '../../domain/limits.ts';
import { nameText, timestampOut } from '../../http/schemas.ts';
import { clientAddress } from '../../http/server/client-address.ts';
import { audit, originOf } from '../audit.ts';
import { refuseDevice, validateToken } from '../callers.ts';
import { defineRoute } from '../route.ts';
import { refresh, type SignedIn, signIn } from '../sign-in.ts';
import { endAllTokens, endToken, holdUser } from '../tokens.ts';
import { usernameKey } from '../user-keys.ts';
import { presentUser, userSchema, validationSchema } from '../user-view.ts';
import { findUserByName } from '../users.ts';

const tags = ['Authentication'];
const signedInSchema = z
  .object({
    accessToken: z.string(),
    tokenType: z.literal('Bearer'),
    expiresAt: timestampOut(),
    refreshToken: z.string().nullable().meta({ description: 'Null unless `rememberMe` is true.' }),
    refreshExpiresAt: timestampOut().nullable(),
    user: userSchema,
  })
  .meta({
    id: 'SignedIn',
    example: {
      accessToken: 'hat_...',
      expiresAt: '2026-03-01T18:00:00.000Z',
      refreshToken: 'hrf_...',
      refreshExpiresAt: '2026-03-31T10:00:00.000Z',
    },
  });

/** No cache on the way may store tokens. */
const neverStored = { 'cache-control': 'no-store' };

const tokenRoute = defineRoute({
  id: 'signIn',
  method: 'POST',
  path: '/api/authorization/token',
  summary: 'Creates an access token for a username and password',
  description: `Lives ${limits.accessTokenHours} hours. With \`rememberMe\` the response has a refresh token of ${limits.refreshTokenDays} days too.`,
  tags,
  access: access.open,
  body: z
    .object({
      username: z.string().max(1000),
      password: z.string(),
      rememberMe: z.boolean().default(false).meta({ description: 'True: also return a refresh token.' }),
    })
    .meta({
      id: 'SignInRequest',
      example: {
        username: exampleValues.username,
        password: 'correct horse battery staple',
        rememberMe: true,
      },
    }),
  responses: { 200: { description: 'The tokens and their user.', schema: signedInSchema } },
  errors: ['invalidCredentials', 'offlineTokenRefused', 'tooManyRequests'],
  async handler({ body, services, request, requestId }) {
    const { settings, database } = services;
    await refuseDevice(services, request.bearer);
    const address = clientAddress(
      request.remoteAddress,
      request.headers['x-forwarded-for'],
      settings.TRUSTED_PROXIES,
    );
    const signedIn = await signIn(database, settings.TOKEN_KEY, {
      ...body,
      address,
      origin: originOf({ services, request, requestId }),
    });
    return { status: 200, body: presentSignedIn(signedIn), headers: neverStored };
  },
});

const refreshRoute = defineRoute({
  id: 'refreshToken',
  method: 'POST',
  path: '/api/authorization/refresh',
  summary: 'Exchanges a refresh token for new tokens',
  description: 'The refresh token is replaced. Using a replaced one ends all tokens of its sign-in.',
  tags,
  access: access.open,
  body: z
    .object({ refreshToken: z.string() })
    .meta({ id: 'RefreshRequest', example: { refreshToken: 'hrf_...' } }),
  responses: { 200: { description: 'The tokens and their user.', schema: signedInSchema } },
  errors: ['unauthorized', 'offlineTokenRefused'],
  async handler({ body, services, request, requestId }) {
    const { database, settings } = services;
    await refuseDevice(services, request.bearer);
    const origin = originOf({ services, request, requestId });
    const signedIn = await refresh(database, settings.TOKEN_KEY, body.refreshToken, origin);
    return { status: 200, body: presentSignedIn(signedIn), headers: neverStored };
  },
});

const logoutRoute = defineRoute({
  id: 'signOut',
  method: 'POST',
  path: '/api/authorization/logout',
  summary: 'Ends the token of the call and its refresh token',
  description: 'Other sign-ins of the user stay valid.',
  tags,
  access: access.signOut,
  responses: { 204: { description: 'Ended.' } },
  async handler({ principal, services, request, requestId }) {
    await services.database.transaction(async (tx) => {
      await holdUser(tx, principal.user.id);
      await endToken(tx, principal.tokenId, principal.familyId);
      const origin = originOf({ services, request, requestId });
      await audit(tx, 'signOut', principal, { type: 'user', id: principal.user.id }, origin);
    });
    return { status: 204 };
  },
});

const revokeRoute = defineRoute({
  id: 'revokeTokens',
  method: 'POST',
  path: '/api/authorization/revoke',
  summary: 'Revokes every token of a user',
  description:
    'Administrators may revoke for anyone, others for themselves. Ends sign-ins and offline tokens.',
  tags,
  access: access.revokeTokens,
  body: z
    .object({ username: nameText() })
    .meta({ id: 'RevokeRequest', example: { username: exampleValues.username } }),
  responses: {
    200: {
      description: 'Number of revoked tokens.',
      schema: z
        .object({ status: z.literal('ok'), username: z.string(), revoked: z.int() })
        .meta({ id: 'TokensRevoked', example: { username: exampleValues.username, revoked: 3 } }),
    },
  },
  errors: ['forbidden', 'userNotFound'],
  async handler({ body, principal, services, request, requestId }) {
    const isSelf = usernameKey(body.username) === usernameKey(principal.user.username);
    if (!isSelf && principal.role !== 'Administrator') throw new Problem('forbidden');
    const user = await findUserByName(services.database, body.username);
    if (user === null) throw new Problem('userNotFound');
    const origin = originOf({ services, request, requestId });
    const revoked = await services.database.transaction(async (tx) => {
      const ended = await endAllTokens(tx, user.id);
      await audit(tx, 'revokeTokens', principal, { type: 'user', id: user.id }, origin);
      return ended;
    });
    return { status: 200, body: { status: 'ok', username: user.username, revoked } };
  },
});

const validateRoute = defineRoute({
  id: 'validateToken',
  method: 'POST',
  path: '/api/authorization/validate',
  summary: 'Validates an access or offline token and returns its user',
  description:
    'Needs no credentials, so that other services can validate tokens. Refresh and runner tokens are not accepted.',
  tags,
  access: access.open,
  body: z.object({ token: z.string() }).meta({ id: 'ValidationRequest', example: { token: 'hat_...' } }),
  responses: { 200: { description: 'The token is valid.', schema: validationSchema } },
  errors: ['unauthorized'],
  async handler({ body, services, log }) {
    const valid = await validateToken(services, body.token, log);
    if (valid === null) throw new Problem('unauthorized', { message: 'The token is not valid.' });
    return { status: 200, body: valid, headers: neverStored };
  },
});

function presentSignedIn(signedIn: SignedIn): z.input<typeof signedInSchema> {
  return {
    accessToken: signedIn.access.value,
    tokenType: 'Bearer',
    expiresAt: signedIn.access.expiresAt.toISOString(),
    refreshToken: signedIn.refresh?.value ?? null,
    refreshExpiresAt: signedIn.refresh?.expiresAt.toISOString() ?? null,
    user: presentUser(signedIn.user),
  };
}

export const signInRoutes = [tokenRoute, refreshRoute, logoutRoute, revokeRoute, validateRoute];
