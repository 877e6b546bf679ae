/** Runs scenarios with the runners of these tests. */
import { fileURLToPath } from 'node:url';
import type { Result } from '../../sdk/conformance/run.ts';
import { playAll } from '../../sdk/conformance/run.ts';
import { scenarios } from '../../sdk/conformance/scenarios/all.ts';
import type { RunnerUnderTest } from '../../sdk/conformance/stage.ts';
import { compileCache } from '../support/caches.ts';

export const folder = fileURLToPath(new URL('./', import.meta.url));

/** A runner of a TypeScript file of this folder. */
export function nodeRunner(file: string, options: Partial<RunnerUnderTest> = {}): RunnerUnderTest {
  return {
    command: `exec "${process.execPath}" "${folder}${file}" conformance ${options.incremental ? '--incremental' : ''}`,
    cwd: folder,
    template: 'conformance',
    incremental: false,
    configuration: {},
    inputs: [
      { bytes: Buffer.from('time,speed\n0,100\n1,101\n'), contentType: 'text/csv', outputIdentifier: 'lap' },
    ],
    failing: {},
    // With half of it, heartbeats every second are in time on a busy machine.
    leaseSeconds: 5,
    patienceMs: 10_000,
    graceMs: 10_000,
    // Each scenario starts the runner anew.
    environment: { NODE_COMPILE_CACHE: compileCache },
    ...options,
  };
}

/** Runs these scenarios, else all of them. */
export async function play(
  under: RunnerUnderTest,
  names?: readonly string[],
  jobs = 4,
): Promise<readonly Result[]> {
  const chosen = scenarios.filter(({ name }) => names?.includes(name) ?? true);
  if (names !== undefined && chosen.length < names.length)
    throw new Error(`Not all of ${names} are scenarios.`);
  return await playAll(chosen, under, jobs, () => undefined);
}

/** The faults, for the message of a failed test. */
export function troubles(results: readonly Result[]): unknown[] {
  return results
    .filter(({ verdict }) => verdict === 'fail' || verdict === 'warn')
    .map(({ name, findings, calls, output }) => ({ name, findings, calls: calls.slice(-30), output }));
}
