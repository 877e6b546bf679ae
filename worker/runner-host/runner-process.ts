/**
 * One process of a deployed runner: its environment holds the platform's address, a token and its temporary folder, and
 * nothing else.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import { redacted } from '../../domain/redact.ts';
import { type Confinement, type ConfinementWish, confine } from './confinement.ts';
import { RunnerOutput } from './output.ts';

/** Starts the kit around the operator's module. */
const program = join(import.meta.dirname, '../../sdk/deployed.ts');
/** Longest time that the kit takes after its grace. */
const afterGraceMs = 10_000;
/** How long a module may take to be imported. */
const loadMs = 60_000;
/** A process's output may arrive after its end. */
const lateOutputMs = 1_000;
const reasonCharacters = 500;
const maxHeardCharacters = 20_000;

export interface ProcessPlan extends ConfinementWish {
  readonly url: string;
  readonly token: string;
  readonly instanceId: string;
  readonly memoryMb: number;
  readonly graceSeconds: number;
}

/** How a process ended. */
export interface ProcessEnd {
  /** A sentence without its full stop. */
  readonly how: string;
  /** How long it had accepted tasks. */
  readonly readyMs: number;
}

export class RunnerProcess {
  /** Resolves when the process and all that it started are gone. */
  readonly ended: Promise<ProcessEnd>;
  readonly #child: ChildProcess;
  readonly #graceMs: number;
  readonly #onReady: () => void;
  #loading: NodeJS.Timeout | undefined;
  #readyAtMs: number | undefined;
  /** Its own message, or why it was ended. */
  #reason = '';
  #hasEnded = false;

  constructor(plan: ProcessPlan, log: Logger, onReady: () => void) {
    this.#graceMs = plan.graceSeconds * 1_000;
    this.#onReady = onReady;
    const confinement = confine(plan);
    if (process.getuid?.() === 0 && confinement.user === undefined) warnOfSharedUser(log);
    const options = [`--max-old-space-size=${plan.memoryMb}`, ...confinement.flags];
    const args = [...options, program, plan.path, plan.instanceId, String(plan.graceSeconds)];
    const child = spawn(process.execPath, args, {
      cwd: dirname(plan.path),
      env: { SDP_URL: plan.url, SDP_RUNNER_TOKEN: plan.token, TMPDIR: confinement.tempDir },
      ...confinement.user,
      stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
      // A group of its own: a terminal's signal does not reach it, and the processes that it started end with it.
      detached: true,
    });
    this.#child = child;
    this.ended = this.#end(child, confinement);
    const output = new RunnerOutput(log.child({ pid: child.pid }));
    if (child.stdout) output.readAll(child.stdout, 'stdout');
    if (child.stderr) output.readAll(child.stderr, 'stderr');
    const line = child.stdio[3] as Readable | null | undefined;
    if (line) this.#hear(line);
    this.#loading = setTimeout(
      () => this.kill(`its module was not loaded within ${loadMs / 1_000} s`),
      loadMs,
    );
  }

  /** The pid while it runs. */
  get pid(): number | undefined {
    return this.#hasEnded ? undefined : this.#child.pid;
  }

  /** Asks it to end, and kills it if it has not within the grace. Resolves when it is gone. */
  async stop(): Promise<void> {
    this.#signal('SIGTERM');
    const patience = setTimeout(() => this.kill('it did not end in time'), this.#graceMs + afterGraceMs);
    await this.ended;
    clearTimeout(patience);
  }

  /** Kills it at once. */
  kill(reason: string): void {
    this.#reason = reason;
    this.#signal('SIGKILL');
  }

  #signal(signal: NodeJS.Signals): void {
    if (!this.#hasEnded) this.#child.kill(signal);
  }

  async #end(child: ChildProcess, confinement: Confinement): Promise<ProcessEnd> {
    const how = await new Promise<string>((resolve) => {
      child.on('error', (error) => resolve(`it could not be run (${error.message})`));
      child.once('exit', (code, signal) => resolve(signal === null ? `code ${code}` : signal));
    });
    this.#hasEnded = true;
    clearTimeout(this.#loading);
    const readyMs = this.#readyAtMs === undefined ? 0 : performance.now() - this.#readyAtMs;
    endGroup(child.pid);
    confinement.end();
    const closed = new Promise((resolve) => child.once('close', resolve));
    await Promise.race([closed, delay(lateOutputMs, undefined, { ref: false })]);
    for (const stream of child.stdio) stream?.destroy();
    const reason = this.#reason === '' ? '' : `: ${this.#reason}`;
    return { how: `it ended (${how})${reason}`, readyMs };
  }

  /** The runner's own messages: a few short lines of JSON. */
  #hear(line: Readable): void {
    let heardCharacters = 0;
    let begun = '';
    line.setEncoding('utf8');
    line.on('error', () => undefined);
    line.on('data', (text: string) => {
      heardCharacters += text.length;
      // The module can write here too.
      if (heardCharacters > maxHeardCharacters) return;
      const lines = (begun + text).split('\n');
      begun = lines.pop() ?? '';
      for (const one of lines) this.#hearLine(one);
    });
  }

  #hearLine(text: string): void {
    const { kind, message } = parsed(text);
    if (kind === 'loaded') clearTimeout(this.#loading);
    if (kind === 'ready' && this.#readyAtMs === undefined) {
      this.#readyAtMs = performance.now();
      this.#onReady();
    }
    if (kind === 'failed' && typeof message === 'string' && this.#reason === '') {
      this.#reason = plain(redacted(message));
    }
  }
}

function warnOfSharedUser(log: Logger): void {
  log.warn(
    'the modules of a deployed runner are not readable by other users, so it runs as the user of its host',
  );
}

/** One line that the database can store, whatever a program writes. */
function plain(text: string): string {
  return text
    .replaceAll(/[\p{Cc}\s]+/gu, ' ')
    .trim()
    .slice(0, reasonCharacters)
    .toWellFormed();
}

function parsed(text: string): { readonly kind?: unknown; readonly message?: unknown } {
  try {
    return (JSON.parse(text) ?? {}) as { kind?: unknown; message?: unknown };
  } catch {
    return {};
  }
}

/** Processes that this one had started and not ended. */
function endGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // Nothing of it is left.
  }
}
