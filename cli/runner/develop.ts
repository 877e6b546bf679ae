/** `sdp runner dev`: the author's runner at work on a platform, started again whenever its files change. */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Session } from '../../client/types.ts';
import type { Cli } from '../cli.ts';
import { printError } from '../errors.ts';
import { handleSignals } from '../interrupted.ts';
import { command, inShell } from '../own-files.ts';
import type { PlatformClient } from '../platform-client.ts';
import { Guard, guard } from './guard.ts';
import { readableLine } from './log-line.ts';
import { suffixOf } from './own-names.ts';
import { endMs, findProgram, type Program, Running } from './program.ts';
import { type Registered, Registration } from './registration.ts';
import { runnerToken } from './runner-token.ts';
import { Watch } from './watch.ts';

export interface DevelopOptions {
  readonly session?: boolean;
  readonly project: string;
  readonly command?: string;
}

/** Works until Ctrl-C. @throws Error with a sentence for the author when it cannot begin */
export async function develop(cli: Cli, directory: string, options: DevelopOptions): Promise<void> {
  const folder = resolve(directory);
  const program = findProgram(folder, options.command);
  const platform = await cli.connect();
  const { Username: username } = await platform.call('GET /user_data');
  const suffix = suffixOf(username);
  const registration = new Registration(platform, folder, suffix);
  const guarding = new Guard(platform.address);
  const register = async (): Promise<Registered & { readonly variables: Variables }> => {
    const registered = await registration.publish();
    const { withdrawal } = registration;
    if (withdrawal !== undefined) guarding.notify({ withdrawal });
    for (const warning of registered.warnings) say(`Warning: ${warning}`);
    const token = await runnerToken(platform, username, registered.runnerTypes);
    const own = { SDP_RUNNER_TOKEN: token, SDP_RUNNER_TEMPLATE_SUFFIX: suffix };
    return { ...registered, variables: { SDP_URL: platform.address, ...own } };
  };
  const printRefusal = (error: unknown) => printError(error, false, cli.tokenRemedy);
  const development = new Development(folder, program, guarding, printRefusal);
  const forget = development.listen();
  try {
    const registered = await register();
    say(`Registered as ${registered.nodeTemplates.join(', ')} at ${platform.address}.`);
    await sayNext(platform, registration, registered, directory, options);
    const registerAgain = async () => (await register()).variables;
    await development.untilStopped(registered.variables, registerAgain);
  } finally {
    await withdraw(registration, printRefusal);
    guarding.end();
    forget();
  }
}

/** Ends the work of one that was killed. */
export function endAfterKill(cli: Cli): Promise<void> {
  return guard(() => cli.connect(), graceSeconds() * 1_000 + endMs);
}

const graceSeconds = () => Number(process.env.SDP_RUNNER_GRACE_SECONDS || 15);

type Variables = Readonly<Record<string, string>>;

const say = (line: string) => console.log(line);

/** What the author types next, in another terminal. */
async function sayNext(
  platform: PlatformClient,
  registration: Registration,
  { sessionTemplate, nodeTemplates }: Registered,
  directory: string,
  { session, project }: DevelopOptions,
): Promise<void> {
  if (sessionTemplate === null) {
    say('There is no session-template.json: make a session template with a node of it to get tasks.');
  } else if (session !== true) {
    say(
      `Give it work: ${command} sessions create --template ${inShell(sessionTemplate.name)} --project "<project>"`,
    );
    say('(or start with --session)');
  } else {
    const made = await registration.makeSession(sessionTemplate, project);
    say(`\nSession ${made.id} (${platform.address}/sessions/${made.id}). In another terminal:`);
    for (const line of linesFor(made, nodeTemplates, directory)) say(`  ${command} ${line}`);
    say('');
  }
}

function linesFor({ id, nodeInstances }: Session, templates: readonly string[], directory: string): string[] {
  const sample = join(directory, 'sample.csv');
  const own = nodeInstances.find(({ nodeTemplateName }) => templates.includes(nodeTemplateName));
  return [
    `upload ${id} ${existsSync(sample) ? inShell(sample) : '<file>'}`,
    ...(own === undefined ? [] : [`outputs latest ${own.id} --save -`, `logs ${own.id}`]),
  ];
}

async function withdraw(registration: Registration, printRefusal: (error: unknown) => void): Promise<void> {
  try {
    const names = await registration.withdraw();
    if (names.length === 0) return;
    say(`Retired: ${names.join(', ')}. Its sessions stay; the next start works for them again.`);
  } catch (error) {
    say('The node templates are not retired:');
    printRefusal(error);
  }
}

class Development {
  readonly #folder: string;
  readonly #program: Program;
  readonly #guard: Guard;
  readonly #printRefusal: (error: unknown) => void;
  readonly #graceSeconds = graceSeconds();
  readonly #stop = new AbortController();
  #running: Running | undefined;

  constructor(folder: string, program: Program, guard: Guard, printRefusal: (error: unknown) => void) {
    this.#folder = folder;
    this.#program = program;
    this.#guard = guard;
    this.#printRefusal = printRefusal;
  }

  /** Takes signals until the returned function is called. The second one ends the runner without the grace. */
  listen(): () => void {
    const onSignal = () => {
      if (this.#stop.signal.aborted) {
        if (this.#running === undefined) process.exit(1);
        return this.#running.terminate();
      }
      say(`Stopping. A started task may go on for ${this.#graceSeconds} s; Ctrl-C again ends it at once.`);
      this.#stop.abort();
    };
    const kill = () => this.#running?.kill();
    const leave = handleSignals(['SIGINT', 'SIGTERM', 'SIGHUP'], onSignal);
    process.on('exit', kill);
    return () => {
      leave();
      process.off('exit', kill);
    };
  }

  async untilStopped(first: Variables, registerAgain: () => Promise<Variables>): Promise<void> {
    let variables = first;
    const watch = new Watch(this.#folder);
    while (!this.#stop.signal.aborted) {
      this.#running = new Running(this.#program, this.#folder, variables, (line) => say(readableLine(line)));
      this.#guard.notify({ runner: this.#running.pid });
      const changed = await this.#untilChanged(this.#running, watch);
      await this.#running.stop(this.#graceSeconds);
      this.#guard.notify({ runner: null });
      this.#running = undefined;
      variables = await this.#registerChanged(changed, watch, variables, registerAgain);
    }
  }

  /** Resolves with the changed files; with none when it is to stop. */
  async #untilChanged(running: Running, watch: Watch): Promise<readonly string[]> {
    const state = { hasEnded: false, isWanted: true };
    void running.ended.then((how) => {
      state.hasEnded = true;
      if (state.isWanted) say(`The runner has ended (${how}). It starts again when a file changes.`);
    });
    const changed = await watch.changed(this.#stop.signal).catch(() => [] as const);
    state.isWanted = false;
    if (changed.length > 0) {
      const names = changed.slice(0, 3).join(', ') + (changed.length > 3 ? ', ...' : '');
      const grace = state.hasEnded ? '' : ` A started task may go on for ${this.#graceSeconds} s.`;
      say(`Changed: ${names}. The runner starts again.${grace}`);
    }
    return changed;
  }

  /**
   * Registers changed documents. Those with faults stay as they were published, and the author reads the faults.
   * @returns the variables of the next start
   */
  async #registerChanged(
    changed: readonly string[],
    watch: Watch,
    before: Variables,
    registerAgain: () => Promise<Variables>,
  ): Promise<Variables> {
    const documents = ['manifest.json', 'session-template.json'];
    let names = changed;
    while (names.some((name) => documents.includes(name)) && !this.#stop.signal.aborted) {
      try {
        return await registerAgain();
      } catch (error) {
        this.#printRefusal(error);
        say('The runner starts when the file is corrected.');
        names = await watch.changed(this.#stop.signal).catch(() => []);
      }
    }
    return before;
  }
}
