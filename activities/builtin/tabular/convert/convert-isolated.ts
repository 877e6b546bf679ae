/**
 * Files are read in a separate process: a file that crashes the database library, or makes it use more memory than its
 * limit, ends only this process, and its memory is returned with it. The process takes 0.2 s to start, so that the files of
 * a run share one.
 */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { forkReader } from '../../../../settings/reader-process.ts';
import type { RecordingDescription } from '../description.ts';
import { NoTabularData, TabularError } from '../errors.ts';
import type { Conversion, ConvertInput } from './convert.ts';
import type { FromConvertChild, IsolatedInput, ToConvertChild } from './convert-messages.ts';

const childPath = fileURLToPath(new URL('./convert-child.ts', import.meta.url));

/** After this many files, or above this much memory, the next file gets a new process. */
const maxFiles = 100;
const maxResidentBytes = 256 * 1024 ** 2;

/** Signals that end a process by its own fault. Not SIGKILL: the kernel sends it where the machine has no memory. */
const crashes = new Set<NodeJS.Signals | null>([
  'SIGSEGV',
  'SIGABRT',
  'SIGBUS',
  'SIGILL',
  'SIGFPE',
  'SIGTRAP',
]);

/** The process died while it read a file. */
class ReaderCrash extends Error {}

type Asking = {
  readonly [Name in 'signal' | 'onProgress' | 'overtimeSeconds']?: IsolatedInput[Name] | undefined;
};

/** Reads one file after the other. Close it after the last. */
export class Converter {
  #child: ChildProcess | undefined;
  #files = 0;

  /**
   * As `convertTabular`, with the same errors; an abort ends the process at once.
   * @throws TabularError also for a file that takes longer than `maxSeconds`, since a retry would too, or that is read by
   * a process that dies, twice
   */
  async convert(input: IsolatedInput): Promise<Conversion> {
    const { signal, onProgress, overtimeSeconds, ...plain } = input;
    return await this.#twice(async () => {
      signal?.throwIfAborted();
      const workDir = await mkdtemp(join(await realpath(input.workDir), 'conversion-'));
      try {
        const paths = { inputPath: resolve(plain.inputPath), outputPath: resolve(plain.outputPath), workDir };
        const message = { what: 'conversion' as const, ...plain, ...paths };
        const answer = await this.#ask(message, { signal, onProgress, overtimeSeconds });
        if (answer.kind !== 'done') throw faultOf(answer, plain.maxSeconds);
        return answer.conversion;
      } finally {
        await rm(workDir, { recursive: true, force: true });
      }
    });
  }

  /** As `readDescription`. @throws TabularError when the file is at fault, as `convert` does */
  async describe(
    path: string,
    { signal, maxSeconds }: Pick<IsolatedInput, 'signal' | 'maxSeconds'>,
  ): Promise<RecordingDescription> {
    return await this.#twice(async () => {
      const answer = await this.#ask({ what: 'description', path: resolve(path), maxSeconds }, { signal });
      if (answer.kind !== 'described') throw faultOf(answer, maxSeconds);
      return answer.description;
    });
  }

  /** The files before may be the cause of a crash, so that another process reads the file once more. */
  async #twice<Result>(read: () => Promise<Result>): Promise<Result> {
    try {
      return await read();
    } catch (error) {
      if (!(error instanceof ReaderCrash)) throw error;
    }
    try {
      return await read();
    } catch (error) {
      throw error instanceof ReaderCrash ? new TabularError(error.message) : error;
    }
  }

  async #ask(message: ToConvertChild, { signal, onProgress, overtimeSeconds = 10 }: Asking): Promise<Answer> {
    signal?.throwIfAborted();
    const child = await this.#process();
    const kill = () => child.kill('SIGKILL');
    signal?.addEventListener('abort', kill);
    // It may have come while the process was made.
    if (signal?.aborted) kill();
    let isLate = false;
    const overtime = setTimeout(
      () => {
        isLate = true;
        kill();
      },
      (message.maxSeconds + overtimeSeconds) * 1_000,
    );
    let isReusable = false;
    try {
      const answering = answerOf(child, onProgress);
      child.send(message, () => undefined);
      const answer = await answering;
      isReusable = answer.residentBytes < maxResidentBytes && this.#files < maxFiles;
      return answer;
    } catch (error) {
      signal?.throwIfAborted();
      throw isLate ? tooLong(message.maxSeconds) : error;
    } finally {
      clearTimeout(overtime);
      signal?.removeEventListener('abort', kill);
      if (!isReusable) await this.close();
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
    const how = exitSignal ?? `code ${code}`;
    reject(
      crashes.has(exitSignal)
        ? new ReaderCrash(`The file ends the program that reads it (${how}).`)
        : new Error(`The conversion's process ended early (${how}).`),
    );
  };
  child.on('message', onMessage).on('error', reject).on('exit', onExit);
  try {
    return await promise;
  } finally {
    child.off('message', onMessage).off('error', reject).off('exit', onExit);
  }
}

function faultOf(answer: Answer, maxSeconds: number): Error {
  switch (answer.kind) {
    case 'late':
      return tooLong(maxSeconds);
    case 'refused':
      return refusal(answer);
    case 'failed':
      return new Error(`The conversion failed: ${answer.message}`);
    default:
      return new Error('The process that reads files answered another question.');
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
