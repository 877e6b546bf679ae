/** `sdp logs`: what a run has logged, and what the platform did with it. */
import { Option } from 'commander';
import type { LogFilter } from '../../client/run-log.ts';
import { type AddCommand, examples, id } from '../cli.ts';
import { findRun, runArgument, runOrNode } from '../runs/find-run.ts';
import { followLog, logLevels, logLine, readLog } from '../runs/run-log.ts';

export const addLogs: AddCommand = (program, cli) => {
  program
    .command('logs')
    .description('Prints the log of a run: what its runner wrote, and what the platform did with it.')
    .argument('<run>', runArgument, runOrNode)
    .option('-f, --follow', 'go on until the run ends; reconnects without losing lines')
    .addOption(new Option('--level <level>', 'only lines of this level and above').choices(logLevels))
    .option('--search <text>', 'only lines whose message or fields contain this text, in any case')
    .option('--attempt <number>', 'only lines of this attempt', id)
    .addHelpText(
      'after',
      `${examples(
        'logs 102 --follow',
        'logs 0198f2b5-11d0-7b6e-8a43-6f0de41c2b97 --level warning',
      )}\n\nA line has time, attempt, level and message. With --json each line is one JSON document.`,
    )
    .action(async (named: string, { follow, ...filter }: LogFilter & { follow?: boolean }) => {
      const platform = await cli.connect();
      const runId = await findRun(platform, named);
      const read = follow === true ? followLog : readLog;
      for await (const entry of read(platform, runId, filter)) {
        console.log(cli.isJson ? JSON.stringify(entry) : logLine(entry));
      }
    });
};
