/** Runs a saved case as the runner's process would, and writes its results (sdk/replay-cases.md). */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Progress } from '../heartbeats/heartbeat-messages.ts';
import type { LogEntry } from '../logs/log-entry.ts';
import type { Runner } from '../runner/runner.ts';
import { CaseError, type CaseResult, runCase, saveOutputs } from './saved-case.ts';

/**
 * Prints the log, the progress and the differences on standard error, and writes outputs and `result.json` where a
 * folder is named.
 * @returns the process's exit code: 0 when the task has completed without differences, else 1
 */
export async function replay(runner: Runner, folder: string, out: string | undefined): Promise<number> {
  try {
    const result = await runCase(folder, runner, { onLog: printLine, onProgress: printProgress });
    if (out !== undefined) write(result, out);
    const { outcome, category, reason, outputs, differences } = result;
    print(`The task ended: ${outcome ?? `${category}: ${reason}`}. Outputs: ${outputs.length}.`);
    for (const difference of differences) print(`differs  ${difference}`);
    return outcome !== undefined && differences.length === 0 ? 0 : 1;
  } catch (error) {
    if (!(error instanceof CaseError)) throw error;
    print(error.message);
    return 1;
  }
}

function print(line: string): void {
  console.error(line);
}

function printLine({ at, level, message }: LogEntry): void {
  print(`${at.slice(11, 23)}  ${level.padEnd(7)}  ${message}`);
}

function printProgress({ phase, message, done, total, unit }: Progress): void {
  const counts = [done, total].filter((count) => count !== undefined).join(' of ');
  print(`progress  ${[phase, message, counts, unit].filter(Boolean).join(' ')}`);
}

function write(result: CaseResult, out: string): void {
  mkdirSync(out, { recursive: true });
  saveOutputs(result.outputs, out);
  const { endedBy, hasMore, state, watermark, rejected, differences } = result;
  const [outcome = null, category = null] = [result.outcome, result.category];
  const [reason = null, statusDetails = null] = [result.reason, result.statusDetails];
  const described = { endedBy, outcome, category, reason, hasMore, statusDetails };
  const written = { ...described, state, watermark, rejected, differences };
  writeFileSync(join(out, 'result.json'), `${JSON.stringify(written, null, 2)}\n`);
}
