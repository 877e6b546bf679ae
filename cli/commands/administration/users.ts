/** `sdp users`: accounts (contract: Authentication; decisions 3). */
import { Option } from 'commander';
import { roles } from '../../../client/roles.ts';
import type { User, UserRequest } from '../../../client/types.ts';
import { isUuid } from '../../../client/uuid.ts';
import { type AddCommand, examples, id, wholeNumber } from '../../cli.ts';
import { pageNote, table } from '../../output.ts';
import type { PlatformClient } from '../../platform-client.ts';
import { secretFrom } from '../../prompt.ts';

export const addUsers: AddCommand = (program, cli) => {
  const users = program.command('users').description('Accounts.');
  users
    .command('list')
    .description('Lists accounts, oldest first.')
    .option('--search <text>', 'part of the username, names or address')
    .option('--page <number>', 'page number', id)
    .option('--page-size <number>', 'accounts per page', wholeNumber(1, 100))
    .addHelpText('after', examples('users list', 'users list --search lind'))
    .action(async (options: { search?: string; page?: number; pageSize?: number }) => {
      const platform = await cli.connect();
      const found = await platform.call('GET /api/authorization/users', { query: options });
      cli.print(
        found,
        () =>
          table(found.users, {
            ID: ({ userId }) => userId,
            USERNAME: ({ username }) => username,
            EMAIL: ({ email }) => email,
            ROLE: ({ role }) => role,
            ACTIVE: ({ isActive }) => isActive,
          }) + pageNote(found),
      );
    });
  addNewUser(users, cli);
  addChanges(users, cli);
};

const addNewUser: AddCommand = (users, cli) => {
  users
    .command('create')
    .description('Creates an account and prompts for its password.')
    .argument('<username>')
    .addOption(new Option('--role <role>', 'role of the account').choices(roles).makeOptionMandatory())
    .option('--email <address>')
    .option('--first-name <name>')
    .option('--last-name <name>')
    .option('--company <name>')
    .option('--password-stdin', 'read the password from standard input')
    .option('--must-change-password', 'the password must be changed at the first sign-in')
    .addHelpText(
      'after',
      examples(
        'users create petra --role Instructor --email petra@example.org',
        'users create robot --role Developer --password-stdin <password.txt',
      ),
    )
    .action(async (username: string, options: NewUser) => {
      const { passwordStdin, mustChangePassword, ...fields } = options;
      const platform = await cli.connect();
      const password = await secretFrom(passwordStdin === true, `Password of ${username}: `);
      const user = await platform.call('POST /api/authorization/users', {
        body: { ...fields, username, password, forceChangePasswordNextSignin: mustChangePassword === true },
      });
      cli.print(user, () => `Created ${user.username} (${user.role}), ${user.userId}.`);
    });
};

interface NewUser {
  readonly role: UserRequest['role'];
  readonly passwordStdin?: boolean;
  readonly mustChangePassword?: boolean;
}

function addChanges(users: Parameters<AddCommand>[0], cli: Parameters<AddCommand>[1]): void {
  users
    .command('password')
    .description('Sets the password of an account and ends its other sign-ins.')
    .argument('<user>', 'username or id')
    .option('--password-stdin', 'read the new password from standard input')
    .option('--must-change-password', 'the password must be changed at the next sign-in')
    .addHelpText('after', examples('users password petra --must-change-password'))
    .action(async (user: string, options: { passwordStdin?: boolean; mustChangePassword?: boolean }) => {
      const platform = await cli.connect();
      const { userId, username } = await findUser(platform, user);
      const newPassword = await secretFrom(options.passwordStdin === true, `New password of ${username}: `);
      await platform.call('POST /api/authorization/users/{userId}/password', {
        params: { userId },
        body: { newPassword, forceChangePasswordNextSignin: options.mustChangePassword === true },
      });
      cli.print({ userId, username }, () => `The password of ${username} is changed.`);
    });
  users
    .command('deactivate')
    .description('Deactivates an account; its tokens are refused from now on.')
    .argument('<user>', 'username or id')
    .addHelpText('after', examples('users deactivate petra'))
    .action(async (user: string) => {
      const platform = await cli.connect();
      const { userId } = await findUser(platform, user);
      const changed = await platform.call('PATCH /api/authorization/users/{userId}', {
        params: { userId },
        body: { isActive: false },
      });
      cli.print(changed, () => `${changed.username} is deactivated.`);
    });
}

/** An account by its id or its username, in any case. */
async function findUser(platform: PlatformClient, name: string): Promise<User> {
  const wanted = name.toLowerCase();
  if (isUuid(wanted)) {
    return platform.call('GET /api/authorization/users/{userId}', { params: { userId: wanted } });
  }
  for (let page = 1, pages = 1; page <= pages; page++) {
    const found = await platform.call('GET /api/authorization/users', {
      query: { search: name, page, pageSize: 100 },
    });
    const user = found.users.find(({ username }) => username.toLowerCase() === wanted);
    if (user !== undefined) return user;
    pages = found.totalPages;
  }
  throw new Error(`There is no user ${name}: see \`sdp users list\`.`);
}
