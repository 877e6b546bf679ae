/** `sdp password`: one's own, also where it must be changed before anything else. */
import { type AddCommand, examples } from '../../cli.ts';
import { secretsFrom } from '../../prompt.ts';

export const addOwnPassword: AddCommand = (program, cli) => {
  program
    .command('password')
    .description('Changes your password and ends your other sign-ins.')
    .option('--password-stdin', 'read the present and the new password from standard input, each on a line')
    .addHelpText('after', examples('password', 'password --password-stdin <passwords.txt'))
    .action(async (options: { passwordStdin?: boolean }) => {
      const platform = await cli.connect();
      const token = (await platform.bearer.token()) ?? '';
      const { userId, username } = await platform.call('POST /api/authorization/validate', {
        body: { token },
      });
      const [currentPassword, newPassword] = await secretsFrom(options.passwordStdin === true, [
        `Present password of ${username}: `,
        'New password: ',
      ]);
      await platform.call('POST /api/authorization/users/{userId}/password', {
        params: { userId },
        body: { currentPassword, newPassword },
      });
      cli.print({ userId, username }, () => `The password of ${username} is changed.`);
    });
};
