/** `sdp <command>`: the operators' command line, over HTTP with their own token. */
import * as http from 'node:http';
import { Command, CommanderError, Option } from 'commander';
import { proxiesOf } from '../client/proxies.ts';
import { cliOf, examples } from './cli.ts';
import { commands } from './commands/all.ts';
import { exitCodes, printError, UsageError } from './errors.ts';
import { ownVersion } from './own-version.ts';

// `npm run` changes to the checkout: file names are relative to the person's folder.
if (process.env.npm_lifecycle_event === 'sdp' && process.env.INIT_CWD) process.chdir(process.env.INIT_CWD);
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // The reader of the output may close it early.
  if (error.code === 'EPIPE') process.exit();
  printError(new Error(`The output cannot be written: ${error.message}.`), isJson);
  process.exit(exitCodes.failed);
});
// The reader of messages may close the pipe: the command goes on.
process.stderr.on('error', () => undefined);

// The bootstrap that started the command passes signals on. Killed outright it cannot: the command then ends itself.
process.on('disconnect', () => process.kill(process.pid, 'SIGTERM'));
process.channel?.unref();

const proxies = proxiesOf(process.env);
// The packed command line runs on a Node that lacks it, too.
if (proxies !== undefined && 'setGlobalProxyFromEnv' in http) http.setGlobalProxyFromEnv(proxies);

/** Known before the call is read, which may fail. What follows -- belongs to another program. */
const [jsonAt, othersAt] = [process.argv.indexOf('--json'), process.argv.indexOf('--')];
const isJson = jsonAt > 0 && (othersAt < 0 || jsonAt < othersAt);

const program = new Command('sdp')
  .description('Command line of the Simulation Data Platform.')
  .version(ownVersion)
  .addOption(
    new Option(
      '--url <address>',
      'address of the platform (default: that of the last sign-in, else the local npm start)',
    ).env('SDP_URL'),
  )
  .option('--json', 'print the response of the platform as JSON')
  .configureHelp({ showGlobalOptions: true })
  .exitOverride()
  // With --json the error is printed as JSON, below.
  .configureOutput({ outputError: (text, write) => (isJson ? undefined : write(text)) })
  .addHelpText(
    'after',
    `${examples(
      'login --url https://platform.example.org',
      'sessions list --search flight',
      'upload 0198f2b4-6c1e-7d3a-9b52-3f1c8a7e4d10 lap-*.csv',
      'sessions watch 0198f2b4-6c1e-7d3a-9b52-3f1c8a7e4d10 --until-done',
      'doctor',
    )}

SDP_TOKEN is a token to use instead of a sign-in. Exit codes: 0 success, 1 refused or failed, 2 wrong usage.`,
  );
const cli = cliOf(program);
for (const add of commands) add(program, cli);

/** The process ends by itself. */
export const ended = program.parseAsync().catch((error: unknown) => {
  if (error instanceof CommanderError) {
    process.exitCode = error.exitCode === 0 ? exitCodes.ok : exitCodes.wrongUse;
    // Help has no error; else Commander has printed what is wrong with the call.
    if (isJson && error.exitCode !== 0 && error.code !== 'commander.help') {
      printError(new UsageError(error.message.replace(/^error: /, '')), true);
    }
    return;
  }
  printError(error, isJson, cli.tokenRemedy);
  process.exitCode = error instanceof UsageError ? exitCodes.wrongUse : exitCodes.failed;
});
