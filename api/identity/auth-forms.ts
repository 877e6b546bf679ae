/** What the platform reads in answers of the authentication service. */
import { z } from 'zod';
import { roles } from '../../domain/access/access.ts';

export const personSchema = z.object({
  userId: z.string(),
  username: z.string(),
  firstName: z.string(),
  lastName: z.string(),
  title: z.string(),
  company: z.string(),
  email: z.string(),
  role: z.enum(roles),
  createdAt: z.string(),
  updatedAt: z.string(),
  isActive: z.boolean(),
  isRegistrationComplete: z.boolean(),
  hasAcceptedDataPrivacy: z.boolean(),
  forceChangePasswordNextSignin: z.boolean(),
});
export const validationSchema = personSchema.extend({ isOfflineToken: z.boolean() });
export const userPageSchema = z.object({ users: z.array(personSchema), totalPages: z.int() });
export const peopleSchema = z.object({ users: z.array(personSchema) });
export const activeSchema = z.object({
  users: z.array(
    z.object({
      userId: z.string(),
      role: z.enum(roles),
      tokensRevokedAt: z.iso
        .datetime()
        .transform((text) => new Date(text))
        .nullable(),
    }),
  ),
});
export const newOfflineTokenSchema = z.object({ token: z.string(), expiresAt: z.string() });
export const offlineTokensSchema = z.array(
  z.object({
    secretId: z.string(),
    userId: z.string(),
    username: z.string(),
    expiresAt: z.string(),
    lastUsedAt: z.string().nullable(),
    revoked: z.boolean(),
    tokenHint: z.string(),
  }),
);
