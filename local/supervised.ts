import { type ChildProcess, spawn } from 'node:child_process';
import {
  closeSync,
  copyFileSync,
  existsSync,
  fstatSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
} from 'node:fs';
import { setPriority } from 'node:os';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { PlainError } from './plain-error.ts';
import { endProcess, identityOf, writeChildNote } from './process-identity.ts';

/** How a child is started, known to be ready, and stopped. */
export interface ChildPlan {
  /** Shown in messages, for example `PostgreSQL`. */
  name: string;
  command: string;
  args: string[];
  env: Record<string, string>;
  cwd?: string;
  user?: { uid: number; gid: number };
  /** How far it yields to others when processors are short, 0 (default) to 19. */
  niceness?: number;
  /** The program's own file name and a path in its command line: they identify an orphan. */
  programName: string;
  mark: string;
  logFile: string;
  pidFile: string;
  stopSignal: NodeJS.Signals;
  stopSeconds: number;
  readySeconds: number;
  /** True once the child serves. Errors count as "not yet". */
  isReady: () => Promise<boolean>;
  /** The child makes this file when it is ready. The file of an ended child is removed before the next one starts. */
  readyFile?: string;
  /**
   * If set, a child that was ready and then answers for this long that it does not serve is killed and started again.
   * One that does not answer at all is left alone: it may be busy.
   */
  brokenSeconds?: number;
  log: (line: string) => void;
}

const FIRST_WAIT_MILLISECONDS = 200;
/** A child that ends before it is ready will most likely do so again. */
const LONGEST_WAIT_MILLISECONDS = 5_000;
/** A child that was serving must return sooner. */
const LONGEST_WAIT_AFTER_SERVICE_MILLISECONDS = 1_000;
const STEADY_MILLISECONDS = 30_000;
const READY_POLL_MILLISECONDS = 50;
const WATCH_MILLISECONDS = 250;
/** A child that serves is checked less often, since each check costs it a request. */
const STEADY_WATCH_MILLISECONDS = 1_000;
const LOG_SHOWN_BYTES = 2_000;
/** The reason of a failed start comes before the long stack trace of a Go program. */
const LOG_TAIL_BYTES = 65_536;
const LOG_KEPT_BYTES = 20 * 1024 * 1024;
const LOG_CHECK_MILLISECONDS = 10_000;

/** The child ended before it was ready; `logTail` is the end of what this start wrote. */
export class ChildStartError extends Error {
  readonly logTail: string;
  constructor(message: string, logTail: string) {
    super(message);
    this.logTail = logTail;
  }
}

/** A child process that is started again whenever it ends, until it is stopped on purpose. */
export class Supervised {
  readonly #plan: ChildPlan;
  #child: ChildProcess | undefined;
  /** The newest child that was ready. */
  #served: ChildProcess | undefined;
  #wanted = false;
  /** Size of the log when the child was started: what stands before it is of earlier starts. */
  #logStartBytes = 0;
  #logTimer: NodeJS.Timeout | undefined;
  #restartTimer: NodeJS.Timeout | undefined;
  #waitMilliseconds = FIRST_WAIT_MILLISECONDS;

  constructor(plan: ChildPlan) {
    this.#plan = plan;
  }

  /** The pid while it runs. */
  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** Starts the child and resolves when it is ready. Rejects with ChildStartError when it ends or stays silent. */
  async start(): Promise<void> {
    if (this.#wanted) return;
    this.#wanted = true;
    this.#logTimer = setInterval(() => this.#keepLogSmall(), LOG_CHECK_MILLISECONDS).unref();
    try {
      this.#spawn();
      await this.#untilReady(false);
    } catch (error) {
      await this.stop();
      throw error;
    }
  }

  /** Sends a signal to the child; a child that ends by it is started again. */
  kill(signal: NodeJS.Signals): void {
    this.#child?.kill(signal);
  }

  /** Stops the child for good (until `start`) and resolves when it is gone. */
  async stop(): Promise<void> {
    this.#wanted = false;
    clearInterval(this.#logTimer);
    clearTimeout(this.#restartTimer);
    const pid = this.#child?.pid;
    if (pid !== undefined) await endProcess(identityOf(pid), this.#plan.stopSignal, this.#plan.stopSeconds);
    this.#child = undefined;
    rmSync(this.#plan.pidFile, { force: true });
  }

  /** Resolves when the child serves again, for example after a restart. */
  async untilReady(): Promise<void> {
    await this.#untilReady(true);
  }

  #spawn(): void {
    const plan = this.#plan;
    if (isLarge(plan.logFile)) renameSync(plan.logFile, `${plan.logFile}.1`);
    if (plan.readyFile !== undefined) rmSync(plan.readyFile, { force: true });
    const log = openSync(plan.logFile, 'a', 0o600);
    this.#logStartBytes = fstatSync(log).size;
    // A process group of its own: Ctrl-C in a terminal reaches the whole group, and the order of stopping is ours.
    const child = spawn(plan.command, plan.args, {
      stdio: ['ignore', log, log],
      detached: true,
      env: plan.env,
      ...(plan.cwd === undefined ? {} : { cwd: plan.cwd }),
      ...(plan.user ?? {}),
    });
    closeSync(log);
    this.#child = child;
    const began = Date.now();
    child.on('error', () => this.#ended(child, 'it could not be started', began));
    child.on('exit', (code, signal) => this.#ended(child, signal ?? `code ${code}`, began));
    if (child.pid === undefined) return;
    writeChildNote(plan.pidFile, child.pid, noteOf(plan));
    if (plan.niceness !== undefined) lowerPriority(child.pid, plan.niceness);
    void this.#watch(child);
  }

  /** The child has the file open, so the lines move and the file stays. A failed copy is made again at the next check. */
  #keepLogSmall(): void {
    const { logFile } = this.#plan;
    if (!isLarge(logFile)) return;
    try {
      // The disk may be full: the log of before goes first.
      rmSync(`${logFile}.1`, { force: true });
      copyFileSync(logFile, `${logFile}.1`);
    } catch {
      return;
    }
    truncateSync(logFile);
    this.#logStartBytes = 0;
  }

  /** Records when the child is ready and, if the plan says so, kills one that no longer serves. */
  async #watch(child: ChildProcess): Promise<void> {
    const { name, isReady, brokenSeconds, log } = this.#plan;
    let brokenSince: number | undefined;
    while (this.#child === child) {
      const answer = await isReady().catch(() => undefined);
      if (this.#child !== child) return;
      if (answer === true) this.#served = child;
      if (this.#served === child && brokenSeconds === undefined) return;
      if (this.#served !== child || answer !== false) brokenSince = undefined;
      else brokenSince ??= Date.now();
      if (brokenSince !== undefined && Date.now() - brokenSince > brokenSeconds! * 1_000) {
        log(`${name} accepts connections but does not respond; it is killed.`);
        child.kill('SIGKILL');
        return;
      }
      const pause = this.#served === child ? STEADY_WATCH_MILLISECONDS : WATCH_MILLISECONDS;
      await sleep(pause, undefined, { ref: false });
    }
  }

  #ended(child: ChildProcess, how: string, began: number): void {
    if (this.#child !== child) return;
    this.#child = undefined;
    if (!this.#wanted) return;
    if (Date.now() - began > STEADY_MILLISECONDS) this.#waitMilliseconds = FIRST_WAIT_MILLISECONDS;
    const hasServed = this.#served === child;
    this.#tryLater(how, hasServed ? LONGEST_WAIT_AFTER_SERVICE_MILLISECONDS : LONGEST_WAIT_MILLISECONDS);
  }

  #tryLater(how: string, longest: number): void {
    const wait = Math.min(this.#waitMilliseconds, longest);
    this.#waitMilliseconds = Math.min(wait * 2, longest);
    const { name, logFile, log } = this.#plan;
    log(`${name} ended (${how}, see ${logFile}); restarting in ${wait / 1000} s.`);
    this.#restartTimer = setTimeout(() => this.#restart(), wait);
  }

  /** A start that fails here, for example on a full disk, is tried again as a child that ends. */
  #restart(): void {
    if (!this.#wanted || this.#child !== undefined) return;
    try {
      this.#spawn();
    } catch (error) {
      const folder = dirname(this.#plan.pidFile);
      if (!existsSync(folder)) throw new PlainError(`${folder} was removed; nothing can go on without it.`);
      // Not even its note could be written.
      if (this.#child !== undefined) (this.#child as ChildProcess).kill('SIGKILL');
      else this.#tryLater((error as Error).message, LONGEST_WAIT_MILLISECONDS);
    }
  }

  /** `mayRestart`: after a crash the child is started again, so its absence is no failure until the deadline. */
  async #untilReady(mayRestart: boolean): Promise<void> {
    const { name, readySeconds, isReady } = this.#plan;
    const deadline = Date.now() + readySeconds * 1000;
    while (this.#wanted) {
      const child = this.#child;
      if (child === undefined && !mayRestart) throw this.#startError(`${name} ended before it was ready.`);
      if (child !== undefined && (await isReady().catch(() => false)) && this.#child === child) {
        this.#served = child;
        return;
      }
      if (Date.now() > deadline) throw this.#startError(`${name} was not ready within ${readySeconds} s.`);
      await sleep(READY_POLL_MILLISECONDS);
    }
    throw this.#startError(`${name} was stopped before it was ready.`);
  }

  #startError(message: string): ChildStartError {
    const { logFile } = this.#plan;
    return new ChildStartError(
      `${message} The end of ${logFile}:\n${tailOf(logFile, this.#logStartBytes, LOG_SHOWN_BYTES)}`,
      tailOf(logFile, this.#logStartBytes, LOG_TAIL_BYTES),
    );
  }
}

function noteOf(plan: ChildPlan) {
  const { name, programName, mark, stopSignal, stopSeconds } = plan;
  return { name, programName, mark, stopSignal, stopSeconds };
}

function isLarge(log: string): boolean {
  return (statSync(log, { throwIfNoEntry: false })?.size ?? 0) > LOG_KEPT_BYTES;
}

function tailOf(file: string, startBytes: number, bytes: number): string {
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  const length = Math.min(size - startBytes, bytes);
  if (length <= 0) return '(empty)';
  const buffer = Buffer.alloc(length);
  const handle = openSync(file, 'r');
  try {
    readSync(handle, buffer, 0, length, size - length);
  } finally {
    closeSync(handle);
  }
  return buffer.toString('utf8').trim();
}

/** A system that does not allow it, or a child that is already gone, must not be a failure. */
function lowerPriority(pid: number, niceness: number): void {
  try {
    setPriority(pid, niceness);
  } catch {
    // It then runs with normal priority.
  }
}
