/** `sdp password`: one's own, also where it must be changed before anything else. */
import { type AddCommand, examples } from '../../cli.ts';
import { bearerFor, placeOf } from '../../connection.ts';
import { PlatformClient } from '../../platform-client.ts';
import { secretsFrom } from '../../prompt.ts';

export const addOwnPassword: AddCommand = (program, cli) => {
  program
    .command('password')
    .description('Changes your password and ends your other sign-ins.')
    .option('--password-stdin', 'read the present and the new password from standard input, each on a line')
    .addHelpText('after', examples('password', 'password --password-stdin <passwords.txt'))
    .action(async (options: { passwordStdin?: boolean }) => {
      const { address } = await placeOf(cli.url);
      const bearer = await bearerFor(address);
      const token = await bearer?.token();
      if (!token) throw new Error('Not signed in. Sign in with `sdp login`.');
      const platform = new PlatformClient(address, bearer);
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
