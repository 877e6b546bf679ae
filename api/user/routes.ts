/** The logged-in user (contract: Logged-in user data, PascalCase). */
import { z } from 'zod';
import { access, roles } from '../../domain/access/access.ts';
import { exampleValues } from '../../domain/examples.ts';
import { timestampOut } from '../../http/schemas.ts';
import { defineRoute } from '../route.ts';

const userDataSchema = z
  .object({
    UserId: z.guid(),
    Username: z.string(),
    FirstName: z.string(),
    LastName: z.string(),
    Title: z.string(),
    Company: z.string(),
    Email: z.string(),
    Role: z.enum(roles),
    CreatedAt: timestampOut(),
    UpdatedAt: timestampOut(),
    ForceChangePasswordNextSignin: z.boolean(),
    IsRegistrationComplete: z.boolean(),
    HasAcceptedDataPrivacy: z.boolean(),
    IsActive: z.boolean(),
  })
  .meta({
    id: 'UserData',
    example: {
      UserId: exampleValues.userId,
      Username: exampleValues.username,
      FirstName: 'Petra',
      LastName: 'Lindqvist',
      Title: 'Captain',
      Company: 'Northern Gliders',
      Email: exampleValues.email,
      Role: 'Instructor',
      ForceChangePasswordNextSignin: false,
      IsRegistrationComplete: true,
      HasAcceptedDataPrivacy: true,
      IsActive: true,
    },
  });

const userData = defineRoute({
  id: 'userData',
  method: 'GET',
  path: '/user_data',
  summary: 'Returns the user of the token',
  description: 'For an offline token, the Administrator who created it.',
  tags: ['Users'],
  access: access.userData,
  responses: { 200: { description: 'The user.', schema: userDataSchema } },
  handler: ({ principal }) => ({
    status: 200,
    body: {
      UserId: principal.userId,
      Username: principal.username,
      FirstName: principal.firstName,
      LastName: principal.lastName,
      Title: principal.title,
      Company: principal.company,
      Email: principal.email,
      Role: principal.role,
      CreatedAt: principal.createdAt,
      UpdatedAt: principal.updatedAt,
      ForceChangePasswordNextSignin: principal.mustChangePassword,
      IsRegistrationComplete: principal.isRegistrationComplete,
      HasAcceptedDataPrivacy: principal.hasAcceptedDataPrivacy,
      IsActive: principal.isActive,
    },
  }),
});

export const userRoutes = [userData];
