/** `npm run sdp -- <command>`: what operators do from a terminal, over HTTP with a token of their own. */
import { Command, Option } from 'commander';
import { findPlatform } from './find-platform.ts';
import { PlatformClient, PlatformError } from './platform-client.ts';
import { templatesCommand } from './templates.ts';

const program = new Command('sdp')
  .description('Operates a Simulation Data Platform.')
  .addOption(
    new Option('--url <address>', 'address of the platform (default: the one that npm start runs here)').env(
      'SDP_URL',
    ),
  )
  .addOption(new Option('--token <token>', 'access token of an Administrator or Developer').env('SDP_TOKEN'));

async function connect(): Promise<PlatformClient> {
  const { url, token } = program.opts<{ url?: string; token?: string }>();
  if (!token)
    throw new Error('The token is missing: set SDP_TOKEN. POST /api/authorization/token gives one.');
  const { address } = await findPlatform(url);
  return new PlatformClient(address, token);
}

/** One line for each fault, so that a person or a script can go through them. */
function tell(error: unknown): void {
  const reason = error instanceof Error ? error.message : String(error);
  if (!(error instanceof PlatformError)) return void console.error(reason);
  console.error(`${reason} (${error.status})`);
  for (const { path, message } of error.issues) console.error(`  ${path}: ${message}`);
}

program.addCommand(templatesCommand(connect));
program.parseAsync().catch((error: unknown) => {
  tell(error);
  process.exitCode = 1;
});
