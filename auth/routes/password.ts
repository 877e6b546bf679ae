/** Changing a password: one's own with the present one, anyone's as an Administrator. */
import { z } from 'zod';
import { access } from '../../domain/access/access.ts';
import { Problem } from '../../domain/errors.ts';
import { clientAddress } from '../../http/server/client-address.ts';
import { audit, originOf } from '../audit.ts';
import { hashPassword, matchesHash } from '../passwords.ts';
import { type AuthServices, defineRoute } from '../route.ts';
import { findUserWithHash } from '../sign-in.ts';
import { checkGuess, failureKeysOf } from '../sign-in-failures.ts';
import { endOtherSignIns } from '../tokens.ts';
import { storePassword } from '../users.ts';
import { passwordInput, userParams } from './user-schemas.ts';

const bodySchema = z
  .object({
    newPassword: passwordInput.optional(),
    password: passwordInput.optional().meta({ description: 'Alias of `newPassword`.' }),
    currentPassword: z
      .string()
      .max(4096)
      .optional()
      .meta({ description: 'Required from everyone but Administrators.' }),
    forceChangePasswordNextSignin: z
      .boolean()
      .optional()
      .meta({ description: 'True: the user must change it at the next sign-in. For other users only.' }),
  })
  .refine((body) => (body.newPassword ?? body.password) !== undefined, { error: 'newPassword is required.' })
  .meta({
    id: 'PasswordChange',
    example: {
      newPassword: 'a longer sentence than before',
      currentPassword: 'correct horse battery staple',
    },
  });

const unchanged = 'The new password must differ from the current one.';

export const changePassword = defineRoute({
  id: 'changePassword',
  method: 'POST',
  path: '/api/authorization/users/{userId}/password',
  summary: 'Sets a new password',
  description:
    "Users change their own with `currentPassword`, to another one; Administrators set anyone’s. The user's other sign-ins " +
    "end; offline tokens stay valid. Changing one's own password clears `forceChangePasswordNextSignin`.",
  tags: ['Users'],
  access: access.changePassword,
  params: userParams,
  body: bodySchema,
  responses: { 204: { description: 'Changed.' } },
  errors: ['forbidden', 'passwordChangeRequired', 'userNotFound', 'wrongPassword', 'tooManyRequests'],
  refusals: { params: 'userNotFound' },
  async handler({ params: { userId }, body, principal, services, request, requestId }) {
    const isSelf = userId === principal.user.id;
    if (!isSelf && principal.mustChangePassword) throw new Problem('passwordChangeRequired');
    const isAdministrator = principal.role === 'Administrator' && !principal.mustChangePassword;
    if (!isSelf && !isAdministrator) throw new Problem('forbidden');
    if (!isAdministrator || body.currentPassword !== undefined) {
      const address = clientAddress(
        request.remoteAddress,
        request.headers['x-forwarded-for'],
        services.settings.TRUSTED_PROXIES,
      );
      await checkCurrentPassword(services, userId, body.currentPassword ?? '', address);
    }
    const newPassword = body.newPassword ?? body.password ?? '';
    // Who must change the password would be free of that duty without a change.
    if (isSelf && newPassword === body.currentPassword)
      throw new Problem('invalidRequest', { message: unchanged });
    const hash = await hashPassword(newPassword, principal.user.id);
    const forceChange = isSelf ? false : (body.forceChangePasswordNextSignin ?? false);
    await services.database.transaction(async (tx) => {
      await storePassword(tx, userId, hash, forceChange);
      await endOtherSignIns(tx, userId, principal.tokenId);
      const origin = originOf({ services, request, requestId });
      await audit(tx, 'changePassword', principal, { type: 'user', id: userId }, origin);
    });
    return { status: 204 };
  },
});

async function checkCurrentPassword(
  services: AuthServices,
  userId: string,
  password: string,
  address: string,
): Promise<void> {
  const { database, settings } = services;
  const user = await findUserWithHash(database, userId);
  if (user === null) throw new Problem('userNotFound');
  const guesser = failureKeysOf(settings.TOKEN_KEY, user.username, address);
  const isRight = await checkGuess(database, guesser, () => matchesHash(password, user.passwordHash));
  if (!isRight) throw new Problem('wrongPassword');
}
