/** `sdp login` and `sdp logout`: a sign-in that later commands use. */
import { ApiError, NetworkError } from '../../client/errors.ts';
import { type AddCommand, examples } from '../cli.ts';
import { bearerFor, placeOf, signedInOf } from '../connection.ts';
import { credentialsFile, readCredentials, remember } from '../credentials.ts';
import { UsageError } from '../errors.ts';
import { time } from '../output.ts';
import { PlatformClient } from '../platform-client.ts';
import { ask, secretFrom } from '../prompt.ts';

const mustChange = 'The password must be changed before anything else: `sdp password`.';

interface LoginOptions {
  readonly username?: string;
  readonly passwordStdin?: boolean;
  readonly remember?: boolean;
}

export const addLogin: AddCommand = (program, cli) => {
  program
    .command('login')
    .description('Signs in and stores the token in a file that only its owner can read.')
    .option('--username <name>', 'username (default: prompt)')
    .option('--password-stdin', 'read the password from standard input')
    .option('--remember', 'also store a refresh token; the sign-in lasts 30 days')
    .addHelpText(
      'after',
      examples(
        'login --url https://platform.example.org --remember',
        'login --username admin --password-stdin <password.txt',
      ),
    )
    .action(async (options: LoginOptions) => {
      const { address } = await placeOf(cli.url);
      const username = options.username ?? (await askUsername());
      const password = await secretFrom(options.passwordStdin === true, `Password of ${username}: `);
      const reply = await new PlatformClient(address).call('POST /api/authorization/token', {
        body: { username, password, rememberMe: options.remember === true },
      });
      await remember(address, signedInOf(reply));
      const { user, expiresAt, refreshExpiresAt } = reply;
      const until = refreshExpiresAt ?? expiresAt;
      cli.print(
        { address, username: user.username, role: user.role, until, file: credentialsFile() },
        () =>
          `Signed in to ${address} as ${user.username} (${user.role}) until ${time(until)}.` +
          (user.forceChangePasswordNextSignin ? `\n${mustChange}` : ''),
      );
    });
  addLogout(program, cli);
};

const addLogout: AddCommand = (program, cli) => {
  program
    .command('logout')
    .description('Signs out and deletes the stored token.')
    .addHelpText('after', examples('logout', 'logout --url https://platform.example.org'))
    .action(async () => {
      const { address } = await placeOf(cli.url);
      const signedIn = (await readCredentials()).platforms[address];
      if (signedIn === undefined) {
        return cli.print({ address, signedOut: false }, () => `Not signed in to ${address}.`);
      }
      const failure = await end(address);
      // No token may stay on this machine, least of all when it leaves the network.
      await remember(address, undefined);
      if (failure !== undefined) {
        const until = time(signedIn.refreshExpiresAt ?? signedIn.expiresAt);
        throw new Error(
          `${failure.message} The token is deleted here; at the platform the sign-in remains until ${until}.`,
        );
      }
      cli.print({ address, signedOut: true }, () => `Signed out of ${address}.`);
    });
};

async function askUsername(): Promise<string> {
  if (!process.stdin.isTTY) throw new UsageError('The username is missing: use --username.');
  return ask('Username: ');
}

/** @returns why the platform has not ended the sign-in; undefined when it has, and when it was over already */
async function end(address: string): Promise<Error | undefined> {
  try {
    const bearer = await bearerFor(address, { ignoreEnvironment: true });
    await new PlatformClient(address, bearer).call('POST /api/authorization/logout');
  } catch (error) {
    if (error instanceof NetworkError) return error;
    if (error instanceof ApiError && error.status !== 401) return error;
  }
  return undefined;
}
