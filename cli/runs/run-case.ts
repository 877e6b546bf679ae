/** Runs a command of a runner's author on a saved case, and reads what came of it. */
import { spawn } from 'node:child_process';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { NodeRunAttempt } from '../../client/types.ts';
import { UsageError } from '../errors.ts';
import { handleSignals } from '../interrupted.ts';
import { singleLine } from '../output.ts';
import type { Program } from '../runner/program.ts';

/** `result.json` of a kit (sdk/replay-cases.md). */
export interface CaseResult {
  readonly endedBy: 'complete' | 'fail' | 'release';
  readonly outcome: string | null;
  readonly category: string | null;
  readonly reason: string | null;
  readonly differences: readonly string[];
}

/**
 * Its output passes through.
 * @param out where the kit writes outputs and `result.json`
 * @param isQuiet the standard output belongs to a program: the command prints on standard error
 */
export async function runCase(
  { file, args, environment }: Program,
  folder: string,
  out: string,
  isQuiet: boolean,
): Promise<CaseResult> {
  const resultFile = join(out, 'result.json');
  await rm(resultFile, { force: true });
  // The code runs without the platform: it gets neither its address nor a token.
  const own = Object.entries(process.env).filter(([name]) => !name.startsWith('SDP_'));
  const child = spawn(file, args, {
    env: { ...Object.fromEntries(own), ...environment, SDP_REPLAY_CASE: folder, SDP_REPLAY_OUT: out },
    stdio: ['inherit', isQuiet ? 2 : 'inherit', 'inherit'],
  });
  // The terminal interrupts the command too, whose end is awaited.
  const leave = handleSignals(['SIGINT'], () => undefined);
  const code = await new Promise<number | string | null>((resolve, reject) => {
    child.on('error', (error: NodeJS.ErrnoException) =>
      reject(error.code === 'ENOENT' ? new UsageError(`Command not found: ${file}.`) : error),
    );
    child.on('close', (exit, signal) => resolve(exit ?? signal));
  }).finally(leave);
  try {
    return JSON.parse(await readFile(resultFile, 'utf8')) as CaseResult;
  } catch {
    throw new Error(
      `The command ended (${code}) without a result: it must start a runner of a kit, for example by ` +
        "'sdp-runner my_runner.py' or 'npx sdp-runner my-runner.ts'.",
    );
  }
}

/** The code completes, and writes what the run wrote, if that completed. */
export const isSame = ({ outcome, differences }: CaseResult) => outcome !== null && differences.length === 0;

/** One sentence for the author of the code. */
export const compareOutcomes = (was: NodeRunAttempt | undefined, is: CaseResult): string =>
  singleLine(comparison(was, is));

function comparison(was: NodeRunAttempt | undefined, is: CaseResult): string {
  const failedAs = `${is.category}: ${is.reason}`;
  const hasFailed = was?.outcome === 'failed' || was?.outcome === 'lost';
  if (is.outcome === null) {
    if (is.endedBy !== 'fail') return 'The code released the task.';
    const isAsBefore = hasFailed && was.category === is.category && is.reason?.startsWith(was.reason);
    if (isAsBefore) return `The same failure as in the run: ${failedAs}`;
    const before = hasFailed ? `failed with ${was.category}: ${was.reason}` : `was ${was?.outcome ?? 'open'}`;
    return `It fails with ${failedAs}; the run ${before}`;
  }
  if (hasFailed) return `It ends as ${is.outcome} here; the run failed with ${was.category}: ${was.reason}`;
  const count = is.differences.length;
  if (count > 0) return `It differs from the run: ${count} difference${count === 1 ? '' : 's'}.`;
  return 'The same as in the run.';
}
