/**
 * Conversions in a separate process: a file that crashes the database library, or makes it use more memory than its limit,
 * ends only this process, and its memory is returned with it. The process takes 0.2 s to start, so that the files of a run
 * share one.
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

/** After this many files, or above this much memory, the next file gets a new process. */
const maxFiles = 100;
const maxResidentBytes = 256 * 1024 ** 2;

/** Converts one file after the other. Close it after the last. */
export class Converter {
  #child: ChildProcess | undefined;
  #files = 0;

  /**
   * As `convertTabular`, with the same errors; an abort ends the process at once.
   * @throws TabularError also for a file that takes longer than `maxSeconds`: a retry would too
   */
  async convert(input: IsolatedInput): Promise<Conversion> {
    const { signal, onProgress, overtimeSeconds = 10, ...plain } = input;
    signal?.throwIfAborted();
    const workDir = await mkdtemp(join(await realpath(input.workDir), 'conversion-'));
    const child = await this.#process();
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
    let isReusable = false;
    try {
      const answering = answerOf(child, onProgress);
      const paths = { inputPath: resolve(plain.inputPath), outputPath: resolve(plain.outputPath), workDir };
      child.send({ ...plain, ...paths } satisfies ToConvertChild, () => undefined);
      const answer = await answering;
      isReusable = answer.residentBytes < maxResidentBytes && this.#files < maxFiles;
      return conversionOf(answer, plain.maxSeconds);
    } catch (error) {
      signal?.throwIfAborted();
      throw isLate ? tooLong(plain.maxSeconds) : error;
    } finally {
      clearTimeout(overtime);
      signal?.removeEventListener('abort', kill);
      if (!isReusable) await this.close();
      await rm(workDir, { recursive: true, force: true });
    }
  }

  /** Ends the process. */
  async close(): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (child !== undefined) await ended(child);
  }

  async #process(): Promise<ChildProcess> {
    // The kernel may have ended it since the last file.
    if (this.#child?.connected === false || (this.#child && hasEnded(this.#child))) await this.close();
    if (this.#child === undefined) {
      this.#files = 0;
      this.#child = forkReader(childPath, [], []).on('error', () => undefined);
    }
    this.#files += 1;
    return this.#child;
  }
}

function tooLong(maxSeconds: number): TabularError {
  const limit = maxSeconds >= 120 ? `${Math.round(maxSeconds / 60)} minutes` : `${maxSeconds} seconds`;
  return new TabularError(
    `The conversion of the file exceeds the time limit (${limit}); upload it in smaller files.`,
  );
}

type Answer = Exclude<FromConvertChild, { kind: 'progress' }>;

/** The answer to one file. */
async function answerOf(child: ChildProcess, onProgress: ConvertInput['onProgress']): Promise<Answer> {
  const { promise, resolve: done, reject } = Promise.withResolvers<Answer>();
  const onMessage = (message: FromConvertChild) => {
    if (message.kind === 'progress') onProgress?.(message.progress);
    else done(message);
  };
  const onExit = (code: number | null, exitSignal: NodeJS.Signals | null) => {
    reject(new Error(`The conversion's process ended early (${exitSignal ?? `code ${code}`}).`));
  };
  child.on('message', onMessage).on('error', reject).on('exit', onExit);
  try {
    return await promise;
  } finally {
    child.off('message', onMessage).off('error', reject).off('exit', onExit);
  }
}

function conversionOf(answer: Answer, maxSeconds: number): Conversion {
  switch (answer.kind) {
    case 'done':
      return answer.conversion;
    case 'late':
      throw tooLong(maxSeconds);
    case 'refused':
      throw refusal(answer);
    case 'failed':
      throw new Error(`The conversion failed: ${answer.message}`);
  }
}

function refusal({ message, place, isEmpty }: Extract<FromConvertChild, { kind: 'refused' }>): TabularError {
  const Kind = isEmpty ? NoTabularData : TabularError;
  // The message names the place already.
  return Object.assign(new Kind(message), place);
}

const hasEnded = (child: ChildProcess) =>
  child.exitCode !== null || child.signalCode !== null || child.pid === undefined;

async function ended(child: ChildProcess): Promise<void> {
  if (hasEnded(child)) return;
  const exit = once(child, 'exit');
  child.kill('SIGKILL');
  await exit;
}
