/** `sdp replay`: what a run got, given to the author's code on this machine. */
import { rmSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { type AddCommand, type Cli, examples, id } from '../cli.ts';
import { exitCodes, UsageError } from '../errors.ts';
import { whenInterrupted } from '../interrupted.ts';
import { type Program, programOf } from '../runner/program.ts';
import { findRun, runArgument, runOrNode } from '../runs/find-run.ts';
import { type SavedCase, saveCase } from '../runs/replay-case.ts';
import { compareOutcomes, isSame, runCase } from '../runs/run-case.ts';

interface ReplayOptions {
  readonly attempt?: number;
  readonly save?: string;
  readonly out?: string;
}

export const addReplay: AddCommand = (program, cli) => {
  program
    .command('replay')
    .description(
      'Runs your code on what an attempt of a run got, without the platform, and says how its outputs differ ' +
        'from those of the run. Exit code 0: the code completes, and writes what the run wrote if that completed. ' +
        '1: it fails, or differs.',
    )
    .argument('<run>', runArgument, runOrNode)
    .argument('[command...]', 'after --: starts your runner (default: runner.py or runner.ts here)')
    .option('--attempt <number>', 'the attempt (default: the last)', id)
    .option('--save <folder>', 'keep inputs and expected outputs as a case for tests')
    .option('--out <folder>', 'keep the outputs and result.json')
    .addHelpText(
      'after',
      `${examples(
        'replay 102',
        'replay 102 -- python my_runner.py',
        'replay 0198f2b5-11d0-7b6e-8a43-6f0de41c2b97 -- npx sdp-runner lap-times.ts',
        'replay 102 --attempt 1 --save cases/lap-7',
      )}\n\nThe command sees no SDP_ variable of yours: it gets SDP_REPLAY_CASE and SDP_REPLAY_OUT.`,
    )
    .action(async (named: string, command: readonly string[], options: ReplayOptions) => {
      const runner = programFor(command, options);
      const temporary = await mkdtemp(join(tmpdir(), 'sdp-replay-'));
      const forget = whenInterrupted(() => rmSync(temporary, { recursive: true, force: true }));
      try {
        const saved = await fetchCase(cli, named, options, temporary);
        if (runner === undefined) return cli.print(saved, () => '');
        const out = resolve(options.out ?? join(temporary, 'out'));
        const result = await runCase(runner, saved.folder, out, cli.isJson);
        const same = isSame(result);
        if (cli.isJson) cli.print({ ...saved, result, same }, () => '');
        cli.note(compareOutcomes(saved.attempt, result));
        if (!same) process.exitCode = exitCodes.failed;
      } finally {
        await rm(temporary, { recursive: true, force: true });
        forget();
      }
    });
};

/** The command, or what `sdp runner dev` would start here; undefined when the case is to be saved alone. */
function programFor([file, ...args]: readonly string[], { save }: ReplayOptions): Program | undefined {
  if (file !== undefined) return { file, args, environment: {} };
  if (save !== undefined) return undefined;
  const own = programOf(resolve('.'));
  if (own !== undefined) return own;
  throw new UsageError(
    'There is no runner.py or runner.ts here: name a command after --, or a folder with --save.',
  );
}

async function fetchCase(
  cli: Cli,
  named: string,
  { attempt, save }: ReplayOptions,
  temporary: string,
): Promise<SavedCase> {
  const platform = await cli.connect();
  const runId = await findRun(platform, named);
  const folder = resolve(save ?? join(temporary, 'case'));
  const saved = await saveCase(platform, { runId, attempt }, folder);
  const outputs = saved.expected === undefined ? 'no expected outputs' : `outputs: ${saved.expected}`;
  const place = save === undefined ? '' : `, saved in ${save}`;
  cli.note(`Run ${runId}, attempt ${saved.attempt?.number}: inputs: ${saved.inputs}, ${outputs}${place}.`);
  if (saved.isCut) cli.note('The run had more inputs than a replay lists: the case has the oldest.');
  if (saved.inputsRemoved > 0)
    cli.note(
      `Inputs that the attempt had and the platform no longer has: ${saved.inputsRemoved}. The replay goes without them.`,
    );
  return saved;
}
