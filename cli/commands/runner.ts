/** `sdp runner`: a runner of one's own, from an empty folder to its first result. */
import { Option } from 'commander';
import { type AddCommand, examples } from '../cli.ts';
import { command, inShell } from '../own-files.ts';
import { type DevelopOptions, develop, endAfterKill } from '../runner/develop.ts';
import { makeRunner } from '../runner/scaffold.ts';

interface InitOptions {
  readonly python?: boolean;
  readonly name?: string;
}

export const addRunner: AddCommand = (program, cli) => {
  const runner = program.command('runner').description('Write a runner.');
  addInit(runner, cli);
  runner
    .command('dev')
    .description(
      'Registers a runner under your name, runs it with a token of its own, and starts it again when its files change.',
    )
    .argument('[dir]', 'its folder, with manifest.json', '.')
    .option('--session', 'make a session to try it with')
    .option('--project <title>', 'of that session; it is made when it is missing', 'Runner development')
    .option('--command <line>', 'what starts it, through the shell (default: runner.py or runner.ts)')
    .addHelpText(
      'after',
      `${examples('runner dev --session', 'runner dev lap-tools --command "./build/lap-tools"')}

A command of your own gets SDP_URL, SDP_RUNNER_TOKEN and SDP_RUNNER_TEMPLATE_SUFFIX, which it adds to the names of the
node templates that it claims for; the kits do. Ctrl-C ends the runner and retires its node templates;
so does a kill, within seconds. The token ends a week after it was made.`,
    )
    .action((directory: string, options: DevelopOptions) => develop(cli, directory, options));
  runner
    .command('guard', { hidden: true })
    .description('Ends what a killed `sdp runner dev` left behind.')
    .action(() => endAfterKill(cli));
};

const addInit: AddCommand = (runner, cli) => {
  runner
    .command('init')
    .description('Makes a folder with a runner: manifest, session template, code, test and README.')
    .argument('[dir]', 'an empty or a new folder', '.')
    .option('--python', 'in Python')
    .addOption(new Option('--typescript', 'in TypeScript (default)').conflicts('python'))
    .option('--name <name>', 'of the runner type and its node template (default: that of the folder)')
    .addHelpText('after', examples('runner init top-speed --python', 'runner init . --name top-speed'))
    .action(async (directory: string, { python = false, name }: InitOptions) => {
      const made = await makeRunner(directory, python ? 'python' : 'typescript', name);
      cli.print(made, () =>
        [
          `Made the runner ${made.name} in ${made.folder}:`,
          ...made.files.map((file) => `  ${file}`),
          '',
          'Next, start it on a platform:',
          ...(directory === '.' ? [] : [`  cd ${inShell(directory)}`]),
          `  ${command} login`,
          `  ${command} runner dev --session`,
          'README.md says how to test it.',
        ].join('\n'),
      );
    });
};
