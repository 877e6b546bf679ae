/** A person's account. The unit of work checks and writes it; hot reads have named statements (see tokens.ts). */
import { defineEntity, p } from '@mikro-orm/core';
import { roles } from '../domain/access.ts';

const UserSchema = defineEntity({
  name: 'User',
  tableName: 'users',
  schema: 'auth',
  properties: {
    id: p.uuid().primary(),
    username: p.text(),
    usernameKey: p.text(),
    email: p.text(),
    emailKey: p.text(),
    firstName: p.text(),
    lastName: p.text(),
    title: p.text(),
    company: p.text(),
    role: p.enum(roles),
    passwordHash: p.text().hidden(),
    isActive: p.boolean(),
    isRegistrationComplete: p.boolean(),
    hasAcceptedDataPrivacy: p.boolean(),
    forceChangePassword: p.boolean(),
    tokensRevokedAt: p.datetime(3).nullable(),
    createdAt: p.datetime(3),
    updatedAt: p.datetime(3),
  },
});

export class User extends UserSchema.class {}
UserSchema.setClass(User);

export { UserSchema };

/** What uniqueness and sign-in go by. */
export const usernameKey = (username: string): string => username.trim().normalize('NFC').toLowerCase();
export const emailKey = usernameKey;
