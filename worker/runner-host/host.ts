/**
 * The host of deployed runners (decisions 10): holds a process for every runner type with runtime `sdk` that is
 * published and not retired, unless another host does. It asks the API which these are and has no access to the
 * database.
 */
import { randomUUID } from 'node:crypto';
import { limits } from '../../domain/limits.ts';
import { type HeldProcess, type HostPlan, processKeyText } from '../../domain/runners/runner-host.ts';
import { type Loop, startLoop } from '../loop.ts';
import { DeployedRunner, type HostParts } from './deployed-runner.ts';
import { EndedProcesses } from './ended-processes.ts';
import { HangWatch } from './hang-watch.ts';

const everyMs = 2_000;

export class RunnerHost {
  readonly #parts: HostParts;
  readonly #hangWatch: HangWatch;
  readonly #runners = new Map<string, DeployedRunner>();
  #rounds: Loop | undefined;
  #isStopping = false;
  #isFull = false;

  constructor(parts: Omit<HostParts, 'hostId' | 'ended'>) {
    const hostId = randomUUID();
    this.#parts = { ...parts, hostId, ended: new EndedProcesses(parts.api, hostId) };
    this.#hangWatch = new HangWatch(this.#parts);
  }

  /** Starts to manage the runners; safe to call again. */
  start(): void {
    this.#rounds ??= this.#startRounds();
  }

  /** Stops all processes. Resolves when they are gone, and their tokens with them. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    this.#stopRunners();
    await this.#rounds?.stop();
    // Runners that the last round acquired.
    this.#stopRunners();
    this.#rounds = this.#startRounds();
    await Promise.all([...this.#runners.values()].map((runner) => runner.ended));
    await this.#rounds.stop();
  }

  #stopRunners(): void {
    for (const runner of this.#runners.values()) runner.stop();
  }

  #startRounds(): Loop {
    return startLoop('deployed runners', everyMs, this.#parts.log, () => this.#round());
  }

  async #round(): Promise<void> {
    try {
      this.#hangWatch.check(await this.#reconcile());
    } catch (error) {
      this.#hangWatch.reset();
      throw error;
    }
  }

  /** Heartbeat of all processes, a bounded number in each call; the last one acquires more. */
  async #reconcile(): Promise<[DeployedRunner, HeldProcess][]> {
    const reported = [...this.#runners];
    const size = limits.deployedProcessesPerReport;
    const seen: [DeployedRunner, HeldProcess][] = [];
    for (let at = 0; at === 0 || at < reported.length; at += size) {
      const some = reported.slice(at, at + size);
      const isLast = at + size >= reported.length;
      if (this.#isStopping && some.length === 0) break;
      const plan = await this.#report(some, isLast);
      seen.push(...this.#follow(some, plan));
      if (!isLast) continue;
      this.#warnOfFullHost(plan.isFull && !this.#isStopping);
      // The reply may contain a process that has ended since its report; it is not started again.
      const known = new Set(reported.map(([key]) => key));
      for (const held of plan.processes) if (!known.has(processKeyText(held))) this.#begin(held);
    }
    return seen;
  }

  async #report(some: readonly [string, DeployedRunner][], isLast: boolean): Promise<HostPlan> {
    const { api, hostId, settings } = this.#parts;
    const room = settings.SDK_RUNNERS_MAX_PROCESSES - this.#runners.size;
    return await api.reconcile({
      hostId,
      processesPerType: settings.SDK_RUNNERS_PROCESSES,
      room: isLast && !this.#isStopping ? Math.max(0, room) : 0,
      silentSeconds: settings.SDK_RUNNERS_HANG_SECONDS,
      processes: some.map(([, runner]) => runner.standing),
    });
  }

  /** @returns the processes that this host still holds */
  #follow(
    some: readonly [string, DeployedRunner][],
    { processes }: HostPlan,
  ): [DeployedRunner, HeldProcess][] {
    const byKey = new Map(processes.map((held) => [processKeyText(held), held]));
    return some.flatMap(([key, runner]) => {
      const held = byKey.get(key);
      // One that has ended meanwhile has released its place itself.
      if (this.#runners.get(key) !== runner) return [];
      if (held?.isWanted) return [[runner, held] as [DeployedRunner, HeldProcess]];
      if (held === undefined) runner.lose();
      else runner.stop();
      return [];
    });
  }

  #begin(held: HeldProcess): void {
    const key = processKeyText(held);
    const runner = new DeployedRunner(this.#parts, held);
    this.#runners.set(key, runner);
    void runner.ended.then(() => this.#runners.delete(key));
  }

  #warnOfFullHost(isFull: boolean): void {
    if (isFull && !this.#isFull) {
      const processes = this.#parts.settings.SDK_RUNNERS_MAX_PROCESSES;
      this.#parts.log.warn({ processes }, 'this host is full: SDK_RUNNERS_MAX_PROCESSES');
    }
    this.#isFull = isFull;
  }
}
