/** Wire forms of accounts (decisions 3). */
import { z } from 'zod';
import { roles } from '../../domain/access/access.ts';
import { exampleValues } from '../../domain/examples.ts';
import { limits } from '../../domain/limits.ts';
import { isEmail } from '../../domain/text.ts';
import { nameText, optionalText, pageParameters, uuid } from '../../http/schemas.ts';
import { isAcceptablePassword } from '../passwords.ts';
import { userSchema } from '../user-view.ts';

export const userParams = z.object({
  userId: uuid().meta({ description: 'The user.', example: exampleValues.userId }),
});

/** `Admin` is another spelling on input; output always says `Administrator`. */
const roleInput = z
  .enum([...roles, 'Admin'])
  .transform((role) => (role === 'Admin' ? ('Administrator' as const) : role));
const emailInput = z
  .string()
  .transform((value) => value.trim())
  .refine((value) => value === '' || isEmail(value), { error: 'Email is not valid.' });
const shortText = optionalText(limits.nameCharacters);
export const passwordInput = z.string().refine(isAcceptablePassword, {
  error: `Passwords must have ${limits.passwordMinCharacters} to ${limits.passwordMaxCharacters} characters.`,
});

export const userChangeFields = {
  username: nameText(),
  email: emailInput,
  firstName: shortText,
  lastName: shortText,
  title: shortText,
  company: shortText,
  role: roleInput,
  isActive: z.boolean(),
  isRegistrationComplete: z.boolean(),
  hasAcceptedDataPrivacy: z.boolean(),
  forceChangePasswordNextSignin: z
    .boolean()
    .meta({ description: 'True: access tokens are refused until the password is changed.' }),
};

export const newUserSchema = z
  .object({
    ...userChangeFields,
    password: passwordInput,
    email: emailInput.default(''),
    firstName: shortText.default(''),
    lastName: shortText.default(''),
    title: shortText.default(''),
    company: shortText.default(''),
    isActive: z.boolean().default(true),
    isRegistrationComplete: z.boolean().default(true),
    hasAcceptedDataPrivacy: z.boolean().default(false),
    forceChangePasswordNextSignin: z.boolean().default(false),
  })
  .meta({
    id: 'UserRequest',
    example: {
      username: exampleValues.username,
      password: 'correct horse battery staple',
      email: exampleValues.email,
      firstName: 'Petra',
      lastName: 'Lindqvist',
      title: 'Captain',
      company: 'Northern Gliders',
      role: 'Instructor',
    },
  });

export const userListQuerySchema = z.object({
  search: z.string().max(limits.nameCharacters).default('').meta({
    description: 'Part of the username, names or address, case-insensitive.',
    example: 'lind',
  }),
  ...pageParameters('Users'),
});

export const userListSchema = z
  .object({
    users: z.array(userSchema),
    page: z.int(),
    pageSize: z.int(),
    totalCount: z.int(),
    totalPages: z.int(),
  })
  .meta({ id: 'UserList', example: { page: 1, pageSize: 25, totalCount: 1, totalPages: 1 } });
