/** A user as this service shows it (contract: Token validation result; decisions 3). */
import { z } from 'zod';
import { type Role, roles } from '../domain/access/access.ts';
import { exampleValues } from '../domain/examples.ts';
import { timestampOut } from '../http/schemas.ts';

/** The columns of `auth.users u` under the names that `UserRow` has. */
export const userColumns = `u.id, u.username, u.email, u.first_name as "firstName", u.last_name as "lastName",
  u.title, u.company, u.role, u.is_active as "isActive", u.is_registration_complete as "isRegistrationComplete",
  u.has_accepted_data_privacy as "hasAcceptedDataPrivacy", u.force_change_password as "forceChangePassword",
  u.created_at as "createdAt", u.updated_at as "updatedAt"`;

export type UserRow = {
  readonly id: string;
  readonly username: string;
  readonly email: string;
  readonly firstName: string;
  readonly lastName: string;
  readonly title: string;
  readonly company: string;
  readonly role: Role;
  readonly isActive: boolean;
  readonly isRegistrationComplete: boolean;
  readonly hasAcceptedDataPrivacy: boolean;
  readonly forceChangePassword: boolean;
  readonly createdAt: Date;
  readonly updatedAt: Date;
};

const userExample = {
  userId: exampleValues.userId,
  username: exampleValues.username,
  firstName: 'Petra',
  lastName: 'Lindqvist',
  title: 'Captain',
  company: 'Northern Gliders',
  email: exampleValues.email,
  role: 'Instructor',
  createdAt: '2026-01-12T07:30:00.000Z',
  updatedAt: '2026-01-12T07:30:00.000Z',
  forceChangePasswordNextSignin: false,
  isRegistrationComplete: true,
  hasAcceptedDataPrivacy: true,
  isActive: true,
};

export const userSchema = z
  .object({
    userId: z.guid(),
    username: z.string(),
    firstName: z.string(),
    lastName: z.string(),
    title: z.string(),
    company: z.string(),
    email: z.string(),
    role: z.enum(roles),
    createdAt: timestampOut(),
    updatedAt: timestampOut(),
    forceChangePasswordNextSignin: z.boolean(),
    isRegistrationComplete: z.boolean(),
    hasAcceptedDataPrivacy: z.boolean(),
    isActive: z.boolean(),
  })
  .meta({ id: 'User', example: userExample });

export const validationSchema = userSchema
  .extend({
    isOfflineToken: z
      .boolean()
      .meta({ description: 'Services that accept tokens use it to limit devices to their scope.' }),
  })
  .meta({ id: 'TokenValidation', example: { ...userExample, isOfflineToken: false } });

export function presentUser(row: UserRow): z.input<typeof userSchema> {
  return {
    userId: row.id,
    username: row.username,
    firstName: row.firstName,
    lastName: row.lastName,
    title: row.title,
    company: row.company,
    email: row.email,
    role: row.role,
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
    forceChangePasswordNextSignin: row.forceChangePassword,
    isRegistrationComplete: row.isRegistrationComplete,
    hasAcceptedDataPrivacy: row.hasAcceptedDataPrivacy,
    isActive: row.isActive,
  };
}

/** Staff see everyone; a Trainee sees themselves and the people of the same company. */
export function isVisible(caller: { readonly role: Role; readonly user: UserRow }, user: UserRow): boolean {
  const company = (row: UserRow) => row.company.trim().toLowerCase();
  return (
    caller.role !== 'Trainee' ||
    user.id === caller.user.id ||
    (company(user) !== '' && company(user) === company(caller.user))
  );
}
