/** One held process of a runner type: started, restarted when it dies, and stopped for good. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import { limits } from '../../domain/limits.ts';
import type {
  DeployableRunner,
  DeployedState,
  ProcessKey,
  ProcessStanding,
} from '../../domain/runners/runner-host.ts';
import { startOf } from '../../domain/text.ts';
import { findEntrypoint } from '../../store/registry/runner-folder.ts';
import type { ApiCalls } from './api-calls.ts';
import type { EndedProcesses } from './ended-processes.ts';
import { RunnerProcess } from './runner-process.ts';
import type { RunnerHostSettings } from './settings.ts';

const firstWaitMs = 500;
const maxWaitMs = 60_000;
/** A process that accepted tasks for this long and then died is restarted at once. */
const steadyMs = 60_000;
/** How soon a missing module is searched for again. */
const reconcileAgainMs = 5_000;

export interface HostParts {
  readonly hostId: string;
  readonly api: ApiCalls;
  readonly ended: EndedProcesses;
  readonly settings: RunnerHostSettings;
  /** The address at which the processes reach the platform. */
  readonly url: string;
  readonly log: Logger;
}

export class DeployedRunner {
  readonly plan: DeployableRunner & ProcessKey;
  /** Resolves when its process is gone and the platform has recorded that; never rejects. */
  readonly ended: Promise<void>;
  readonly #parts: HostParts;
  readonly #log: Logger;
  readonly #stopping = new AbortController();
  #process: RunnerProcess | undefined;
  #token: { readonly id: string; readonly value: string } | undefined;
  #readyAtMs: number | undefined;
  #waitMs = firstWaitMs;
  #state: DeployedState = 'starting';
  #message = '';
  #starts = 0;

  constructor(parts: HostParts, plan: DeployableRunner & ProcessKey) {
    this.#parts = parts;
    this.plan = plan;
    this.#log = parts.log.child({ runnerType: plan.runnerType, number: plan.number });
    this.ended = this.#run();
  }

  get standing(): ProcessStanding {
    const { runnerType, number } = this.plan;
    return { runnerType, number, state: this.#state, message: this.#message, starts: this.#starts };
  }

  /** Since when its process accepts tasks; undefined while there is none. */
  get readyAtMs(): number | undefined {
    return this.#readyAtMs;
  }

  /** Ends its process, for good. Safe to call again. */
  stop(): void {
    this.#stopping.abort();
  }

  /** As {@link stop}, for one that the host no longer holds: its process's token is revoked. */
  lose(): void {
    if (!this.#stopping.signal.aborted)
      this.#log.warn('a deployed runner is no longer assigned to this host');
    this.stop();
  }

  /** Ends the process at once; it is restarted. */
  kill(reason: string): void {
    this.#process?.kill(reason);
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      let waitMs = reconcileAgainMs;
      try {
        waitMs = await this.#turn();
      } catch (error) {
        this.#note('waiting', 'Its host cannot reach the API, or is refused; it will retry.');
        this.#log.warn({ err: error }, 'a deployed runner cannot be started');
      }
      await delay(waitMs, undefined, { signal }).catch(() => undefined);
    }
    await this.#release();
  }

  /** Runs the process once. @returns how long to wait before the next time */
  async #turn(): Promise<number> {
    const { settings } = this.#parts;
    const { entrypoint } = this.plan;
    const found = await findEntrypoint(settings.SDK_RUNNERS_DIR, entrypoint);
    if (found.place !== 'there') return this.#missing(found.place);
    const token = await this.#tokenForStart();
    // The next round of the host finds out which host holds it.
    if (token === undefined) return reconcileAgainMs;
    if (this.#stopping.signal.aborted) return 0;
    this.#starts += 1;
    this.#note('starting', '');
    const { how, readyMs } = await this.#perform(found.path, token.value);
    if (this.#stopping.signal.aborted) {
      this.#log.info({ how }, 'a deployed runner has stopped');
      return 0;
    }
    const waitMs = readyMs >= steadyMs ? firstWaitMs : this.#waitMs;
    this.#waitMs = Math.min(waitMs * 2, maxWaitMs);
    this.#note('waiting', `${entrypoint}: ${how}. It restarts in ${waitMs / 1_000} s.`);
    this.#log.warn({ entrypoint, starts: this.#starts, waitMs }, `a deployed runner is down: ${how}`);
    await this.#end(false, how);
    return waitMs;
  }

  #missing(place: 'missing' | 'outside'): number {
    const why = place === 'missing' ? 'is not in' : 'is outside';
    const message = `${this.plan.entrypoint} ${why} the folder of deployed runners.`;
    if (this.#message !== message) this.#log.warn(message);
    this.#note('waiting', message);
    return reconcileAgainMs;
  }

  async #perform(path: string, token: string) {
    const { settings, url } = this.#parts;
    const { runnerType, number } = this.plan;
    const plan = {
      path,
      folder: settings.SDK_RUNNERS_DIR,
      uid: settings.SDK_RUNNERS_UID,
      allow: settings.SDK_RUNNERS_ALLOW,
      url,
      token,
      // The same at every start: a process does not inherit what a dead one held.
      instanceId: `deployed.${runnerType}.${number}`,
      memoryMb: settings.SDK_RUNNERS_MEMORY_MB,
      graceSeconds: settings.SDK_RUNNERS_GRACE_SECONDS,
    };
    const { signal } = this.#stopping;
    const child = new RunnerProcess(plan, this.#log, () => {
      this.#readyAtMs = performance.now();
      if (!signal.aborted) this.#note('running', '');
    });
    this.#process = child;
    this.#log.info({ pid: child.pid, entrypoint: this.plan.entrypoint }, 'a deployed runner is started');
    const onStopping = () => {
      this.#note('stopping', '');
      void child.stop();
    };
    signal.addEventListener('abort', onStopping, { once: true });
    try {
      return await child.ended;
    } finally {
      signal.removeEventListener('abort', onStopping);
      this.#process = undefined;
      this.#readyAtMs = undefined;
    }
  }

  /** The token that it has, while that is good, so that it keeps its identity; undefined when it is no longer held. */
  async #tokenForStart() {
    const { api, hostId } = this.#parts;
    const { runnerType, number } = this.plan;
    const { token } = await api.start({ hostId, runnerType, number, tokenId: this.#token?.id ?? null });
    if (token === null) this.#token = undefined;
    else if (token.value !== null) {
      this.#token = { id: token.id, value: token.value };
      this.#log.info({ tokenId: token.id }, 'a deployed runner gets a token');
    }
    return this.#token;
  }

  async #end(isFinal: boolean, how = ''): Promise<void> {
    const { runnerType, number } = this.plan;
    await this.#parts.ended.report({
      runnerType,
      number,
      isFinal,
      ...(how === '' ? {} : { how: shown(how) }),
    });
  }

  async #release(): Promise<void> {
    // Once more: a busy API may answer too late.
    const ended = this.#end(true).catch(() => this.#end(true));
    try {
      await ended;
    } catch (error) {
      // The token expires, and the host that acquires the process next revokes it before.
      this.#log.warn({ err: error }, 'the token of a stopped runner is not ended yet');
    }
  }

  #note(state: DeployedState, message: string): void {
    this.#state = state;
    this.#message = shown(message);
  }
}

const shown = (text: string) => startOf(text, limits.deployedMessageCharacters);
