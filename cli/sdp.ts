/** `sdp <command>`: the operators' command line, over HTTP with their own token. */
import { Command, CommanderError, Option } from 'commander';
import { cliOf, examples } from './cli.ts';
import { commands } from './commands/all.ts';
import { exitCodes, printError, UsageError } from './errors.ts';
import { ownVersion } from './own-version.ts';

// `npm run` changes to the checkout: file names are relative to the person's folder.
if (process.env.npm_lifecycle_event === 'sdp' && process.env.INIT_CWD) process.chdir(process.env.INIT_CWD);
// The reader of the output may close it early.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit();
});

const program = new Command('sdp')
  .description('Operates a Simulation Data Platform.')
  .version(ownVersion)
  .addOption(
    new Option(
      '--url <address>',
      'address of the platform (default: that of the last sign-in, else the one that npm start runs here)',
    ).env('SDP_URL'),
  )
  .option('--json', 'print what the platform answers, for programs')
  .configureHelp({ showGlobalOptions: true })
  .exitOverride()
  .addHelpText(
    'after',
    `${examples(
      'login --url https://platform.example.org',
      'sessions list --search flight',
      'upload 0198f2b4-6c1e-7d3a-9b52-3f1c8a7e4d10 lap-*.csv',
      'sessions watch 0198f2b4-6c1e-7d3a-9b52-3f1c8a7e4d10 --until-done',
      'doctor',
    )}

SDP_TOKEN holds a token instead of a sign-in. Exit codes: 0 done, 1 refused or failed, 2 wrong use.`,
  );
const cli = cliOf(program);
for (const add of commands) add(program, cli);

program.parseAsync().catch((error: unknown) => {
  // Commander has already printed what is wrong with the call.
  if (error instanceof CommanderError) {
    process.exitCode = error.exitCode === 0 ? exitCodes.ok : exitCodes.wrongUse;
    return;
  }
  printError(error);
  process.exitCode = error instanceof UsageError ? exitCodes.wrongUse : exitCodes.failed;
});
