/**
 * The conversion in a separate process: a file that crashes the database library, or makes it use more memory than
 * its limit, ends only this process, and all memory is returned afterwards. It costs about 0.2 s a file.
 */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { forkReader } from '../../../../settings/reader-process.ts';
import { NoTabularData, TabularError } from '../errors.ts';
import type { Conversion, ConvertInput } from './convert.ts';
import type { FromConvertChild, IsolatedInput, ToConvertChild } from './convert-messages.ts';

const childPath = fileURLToPath(new URL('./convert-child.ts', import.meta.url));

/**
 * As `convertTabular`, with the same errors; an abort ends the process at once.
 * @throws TabularError also for a file that takes longer than `maxSeconds`: a retry would too
 */
export async function convertTabularIsolated(input: IsolatedInput): Promise<Conversion> {
  const { signal, onProgress, overtimeSeconds = 10, ...plain } = input;
  signal?.throwIfAborted();
  const workDir = await mkdtemp(join(await realpath(input.workDir), 'conversion-'));
  const child = forkReader(childPath, [], []);
  const kill = () => child.kill('SIGKILL');
  signal?.addEventListener('abort', kill);
  // It may have come while the folder was made.
  if (signal?.aborted) kill();
  let isLate = false;
  const overtime = setTimeout(
    () => {
      isLate = true;
      kill();
    },
    (plain.maxSeconds + overtimeSeconds) * 1_000,
  );
  try {
    const answer = answerOf(child, plain.maxSeconds, onProgress);
    const paths = { inputPath: resolve(plain.inputPath), outputPath: resolve(plain.outputPath), workDir };
    child.send({ ...plain, ...paths } satisfies ToConvertChild, () => undefined);
    return await answer;
  } catch (error) {
    signal?.throwIfAborted();
    throw isLate ? tooLong(plain.maxSeconds) : error;
  } finally {
    clearTimeout(overtime);
    signal?.removeEventListener('abort', kill);
    await ended(child);
    await rm(workDir, { recursive: true, force: true });
  }
}

function tooLong(maxSeconds: number): TabularError {
  const limit = maxSeconds >= 120 ? `${Math.round(maxSeconds / 60)} minutes` : `${maxSeconds} seconds`;
  return new TabularError(
    `The conversion of the file exceeds the time limit (${limit}); upload it in smaller files.`,
  );
}

function answerOf(
  child: ChildProcess,
  maxSeconds: number,
  onProgress: ConvertInput['onProgress'],
): Promise<Conversion> {
  const { promise, resolve: done, reject } = Promise.withResolvers<Conversion>();
  child.on('message', (message: FromConvertChild) => {
    switch (message.kind) {
      case 'progress':
        onProgress?.(message.progress);
        break;
      case 'done':
        done(message.conversion);
        break;
      case 'late':
        reject(tooLong(maxSeconds));
        break;
      case 'refused':
        reject(refusal(message));
        break;
      case 'failed':
        reject(new Error(`The conversion failed: ${message.message}`));
    }
  });
  child.on('error', reject);
  child.once('exit', (code, exitSignal) => {
    reject(new Error(`The conversion's process ended early (${exitSignal ?? `code ${code}`}).`));
  });
  return promise;
}

function refusal({ message, place, isEmpty }: Extract<FromConvertChild, { kind: 'refused' }>): TabularError {
  const Kind = isEmpty ? NoTabularData : TabularError;
  // The message names the place already.
  return Object.assign(new Kind(message), place);
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  const exit = once(child, 'exit');
  child.kill('SIGKILL');
  await exit;
}
