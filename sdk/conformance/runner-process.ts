/** The runner under test: a command of its author's, with the address and the token in its environment. */
import { type ChildProcess, spawn } from 'node:child_process';

export interface RunnerCommand {
  /** For the shell. */
  readonly command: string;
  readonly cwd: string;
}

const keptCharacters = 8_000;
const closeLimitMs = 2_000;
const running = new Set<RunnerProcess>();
const isWindows = process.platform === 'win32';

/** How a runner ended. */
export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly atMs: number;
}

export class RunnerProcess {
  readonly ended: Promise<Exit>;
  readonly #child: ChildProcess;
  #exit: Exit | undefined;
  #output = '';

  /** Starts the command in a separate process group, so that signals reach what its shell started too. */
  constructor(runner: RunnerCommand, environment: Readonly<Record<string, string>>, onEnd: () => void) {
    this.#child = spawn(runner.command, {
      cwd: runner.cwd,
      shell: true,
      detached: !isWindows,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, ...environment },
    });
    running.add(this);
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => {
        this.#output = (this.#output + text).slice(-keptCharacters);
      });
    }
    this.ended = new Promise((resolve) => {
      const end = (code: number | null, signal: NodeJS.Signals | null) => {
        if (this.#exit !== undefined) return;
        this.#exit = { code, signal, atMs: performance.now() };
        running.delete(this);
        resolve(this.#exit);
        onEnd();
      };
      // Not `exit`: a shell may end before its children, which then still have the pipes open.
      this.#child.once('close', end);
      this.#child.once('error', (error) => {
        this.#output += String(error);
        end(null, null);
      });
    });
  }

  get exit(): Exit | undefined {
    return this.#exit;
  }

  /** The end of what it wrote. */
  get output(): string {
    return this.#output;
  }

  /** Signals the command and all that it started; does nothing once it has ended. */
  signal(signal: NodeJS.Signals): void {
    const { pid } = this.#child;
    if (pid === undefined || this.#exit !== undefined) return;
    try {
      if (isWindows) this.#child.kill(signal);
      else process.kill(-pid, signal);
    } catch {
      // It ended at this moment.
    }
  }

  /** A process that left the group may still have the pipes open; this does not wait for it. */
  async kill(): Promise<void> {
    this.signal('SIGKILL');
    const tooLong = setTimeout(() => {
      this.#child.stdout?.destroy();
      this.#child.stderr?.destroy();
    }, closeLimitMs);
    await this.ended;
    clearTimeout(tooLong);
  }
}

/** Ends every runner at once: for the end of the kit itself. */
export function killAllRunners(): void {
  for (const runner of running) runner.signal('SIGKILL');
}
