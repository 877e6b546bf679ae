/** Accounts (decisions 3): read by staff, written by Administrators, a Trainee sees their own company. */

import { z } from 'zod';
import { access, roles } from '../../domain/access/access.ts';
import { Problem } from '../../domain/errors.ts';
import { exampleValues } from '../../domain/examples.ts';
import { limits } from '../../domain/limits.ts';
import { timestampOut, uuid } from '../../http/schemas.ts';
import { isSharedKey } from '../../http/shared-key.ts';
import { audit, originOf } from '../audit.ts';
import { refuseDevice } from '../callers.ts';
import { oncePerKey } from '../idempotency.ts';
import { hashPassword } from '../passwords.ts';
import { type AuthCaller, type AuthServices, defineRoute } from '../route.ts';
import { isVisible, presentUser, type UserRow, userSchema } from '../user-view.ts';
import {
  createUser,
  deleteUser,
  findActive,
  findUser,
  findUserByEmail,
  findUsers,
  listUsers,
  updateUser,
} from '../users.ts';
import {
  newUserSchema,
  userChangeFields,
  userListQuerySchema,
  userListSchema,
  userParams,
} from './user-schemas.ts';

const tags = ['Users'];
const path = '/api/authorization/users';
const params = userParams;
const refusals = { params: 'userNotFound' } as const;

const listUsersRoute = defineRoute({
  id: 'listUsers',
  method: 'GET',
  path,
  summary: 'Lists users, oldest first',
  description: 'By page, with search.',
  tags,
  access: access.usersList,
  query: userListQuerySchema,
  responses: {
    200: {
      description: 'One page of users.',
      schema: userListSchema,
    },
  },
  async handler({ query: { search, page, pageSize }, services }) {
    const { rows, totalCount } = await listUsers(services.database, search, page, pageSize);
    const totalPages = Math.ceil(totalCount / pageSize);
    return { status: 200, body: { users: rows.map(presentUser), page, pageSize, totalCount, totalPages } };
  },
});

const readUser = defineRoute({
  id: 'readUser',
  method: 'GET',
  path: `${path}/{userId}`,
  summary: 'Returns a user',
  description: 'Trainees see themselves and people of the same company; others are 404 to them.',
  tags,
  access: access.usersRead,
  params,
  responses: { 200: { description: 'The user.', schema: userSchema } },
  errors: ['userNotFound'],
  refusals,
  async handler({ params: { userId }, principal, services }) {
    return {
      status: 200,
      body: presentUser(visibleOrThrow(principal, await findUser(services.database, userId))),
    };
  },
});

const resolveUser = defineRoute({
  id: 'resolveUser',
  method: 'POST',
  path: `${path}/resolve`,
  summary: 'Finds a user by email address',
  description: 'Only among the users that the caller may see. Without such a user the answer is 404.',
  tags,
  access: access.usersRead,
  body: z
    .object({ email: z.string().max(limits.nameCharacters) })
    .meta({ id: 'ResolveRequest', example: { email: exampleValues.email } }),
  responses: { 200: { description: 'The user.', schema: userSchema } },
  errors: ['userNotFound'],
  async handler({ body, principal, services }) {
    return {
      status: 200,
      body: presentUser(visibleOrThrow(principal, await findUserByEmail(services.database, body.email))),
    };
  },
});

const lookUpUsers = defineRoute({
  id: 'lookUpUsers',
  method: 'POST',
  path: `${path}/lookup`,
  summary: 'Returns several users by id',
  description: 'Users that the caller may not see and unknown ids are omitted.',
  tags,
  access: access.usersRead,
  body: z
    .object({ ids: z.array(uuid()).max(limits.usersLookup) })
    .meta({ id: 'LookupRequest', example: { ids: [exampleValues.userId] } }),
  responses: {
    200: { description: 'The users, unordered.', schema: z.object({ users: z.array(userSchema) }) },
  },
  async handler({ body, principal, services }) {
    const rows = await findUsers(services.database, body.ids);
    return {
      status: 200,
      body: { users: rows.filter((row) => isVisible(principal, row)).map(presentUser) },
    };
  },
});

const createUserRoute = defineRoute({
  id: 'createUser',
  method: 'POST',
  path,
  summary: 'Creates a user',
  description:
    '`Admin` is accepted for Administrator. Usernames and addresses are unique, case-insensitively.',
  tags,
  access: access.usersWrite,
  idempotent: 'plain',
  body: newUserSchema,
  responses: { 201: { description: 'The user.', schema: userSchema } },
  errors: ['usernameTaken', 'tooManyRequests'],
  async handler({ body, principal, services, request, requestId }) {
    const { password, forceChangePasswordNextSignin, ...rest } = body;
    const user = { ...rest, forceChangePassword: forceChangePasswordNextSignin };
    const hash = await hashPassword(password, principal.user.id);
    const row = await services.database.transaction(
      oncePerKey(async (tx) => {
        const created = await createUser(tx, user, hash);
        const origin = originOf({ services, request, requestId });
        await audit(tx, 'createUser', principal, { type: 'user', id: created.id }, origin);
        return created;
      }),
    );
    return { status: 201, body: presentUser(row) };
  },
});

const updateUserRoute = defineRoute({
  id: 'updateUser',
  method: 'PATCH',
  path: `${path}/{userId}`,
  summary: 'Updates a user',
  description:
    'Deactivating a user ends all of their tokens at once. The last active Administrator cannot be deactivated.',
  tags,
  access: access.usersWrite,
  params,
  body: z
    .object(userChangeFields)
    .partial()
    .meta({ id: 'UserChange', example: { title: 'Chief instructor' } }),
  responses: { 200: { description: 'The user.', schema: userSchema } },
  errors: ['userNotFound', 'usernameTaken', 'lastAdministrator'],
  refusals,
  async handler({ params: { userId }, body, principal, services, request, requestId }) {
    const { forceChangePasswordNextSignin, ...rest } = body;
    const change = { ...rest, forceChangePassword: forceChangePasswordNextSignin };
    const origin = originOf({ services, request, requestId });
    const row = await updateUser(services.database, userId, change, (tx) =>
      audit(tx, 'updateUser', principal, { type: 'user', id: userId }, origin),
    );
    return { status: 200, body: presentUser(row) };
  },
});

const deleteUserRoute = defineRoute({
  id: 'deleteUser',
  method: 'DELETE',
  path: `${path}/{userId}`,
  summary: 'Deletes a user and ends all of their tokens',
  description: 'The last active Administrator cannot be deleted.',
  tags,
  access: access.usersWrite,
  params,
  responses: { 204: { description: 'Deleted.' } },
  errors: ['userNotFound', 'lastAdministrator'],
  refusals,
  async handler({ params: { userId }, principal, services, request, requestId }) {
    const origin = originOf({ services, request, requestId });
    await deleteUser(services.database, userId, (tx) =>
      audit(tx, 'deleteUser', principal, { type: 'user', id: userId }, origin),
    );
    return { status: 204 };
  },
});

const activeUsers = defineRoute({
  id: 'activeUsers',
  method: 'POST',
  path: `${path}/active`,
  summary: 'Returns which users are active, for the platform itself',
  description: 'The bearer token is the credential that the platform and this service share.',
  tags,
  access: access.open,
  credentials: ['serviceKey'],
  body: z
    .object({ ids: z.array(uuid()).max(1000) })
    .meta({ id: 'ActiveRequest', example: { ids: [exampleValues.userId] } }),
  responses: {
    200: {
      description: 'The active ones among them.',
      schema: z.object({
        users: z.array(
          z
            .object({
              userId: z.guid(),
              role: z.enum(roles),
              tokensRevokedAt: timestampOut()
                .nullable()
                .meta({ description: 'Time when all of their tokens were last revoked.' }),
            })
            .meta({ example: { userId: exampleValues.userId, role: 'Instructor', tokensRevokedAt: null } }),
        ),
      }),
    },
  },
  errors: ['unauthorized', 'offlineTokenRefused'],
  async handler({ body, request, services }) {
    await requirePlatform(services, request.bearer);
    const rows = await findActive(services.database, body.ids);
    const users = rows.map((row) => ({
      ...row,
      tokensRevokedAt: row.tokensRevokedAt?.toISOString() ?? null,
    }));
    return { status: 200, body: { users } };
  },
});

/** @throws Problem for every other bearer than the platform's key */
async function requirePlatform(services: AuthServices, bearer: string | null): Promise<void> {
  if (isSharedKey(bearer, services.settings.AUTH_SERVICE_KEY)) return;
  await refuseDevice(services, bearer);
  throw new Problem('unauthorized');
}

function visibleOrThrow(caller: AuthCaller, user: UserRow | null): UserRow {
  if (user === null || !isVisible(caller, user)) throw new Problem('userNotFound');
  return user;
}

export const userRoutes = [
  listUsersRoute,
  readUser,
  resolveUser,
  lookUpUsers,
  createUserRoute,
  updateUserRoute,
  deleteUserRoute,
  activeUsers,
];
