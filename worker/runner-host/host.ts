/**
 * The host of deployed runners (decisions 10): keeps a process for every runner type with runtime `sdk` that is
 * published and not retired, unless another host does.
 */
import { randomUUID } from 'node:crypto';
import {
  type DeployableRunner,
  keepProcesses,
  listDeployable,
  listKept,
  type ProcessKey,
  removeAbandoned,
  takeProcess,
} from '../../store/deployed-runners.ts';
import { type Loop, startLoop } from '../loop.ts';
import { DeployedRunner, type HostParts } from './deployed-runner.ts';
import { HangWatch } from './hang-watch.ts';

const everyMs = 2_000;

export class RunnerHost {
  readonly #parts: HostParts;
  readonly #hangWatch: HangWatch;
  readonly #runners = new Map<string, DeployedRunner>();
  #keeping: Loop | undefined;
  #planning: Loop | undefined;
  #isStopping = false;
  #isFull = false;

  constructor(parts: Omit<HostParts, 'hostId'>) {
    this.#parts = { ...parts, hostId: randomUUID() };
    this.#hangWatch = new HangWatch(this.#parts);
  }

  /** Begins to look after the runners; safe to call again. */
  start(): void {
    const { log } = this.#parts;
    // By itself: what is kept must be told in time, however long anything else takes.
    this.#keeping ??= startLoop('kept runners', everyMs, log, () => this.#keep());
    this.#planning ??= startLoop('deployed runners', everyMs, log, () => this.#plan());
  }

  /** Stops all processes. Resolves when they are gone, and their tokens with them. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    await this.#planning?.stop();
    const runners = [...this.#runners.values()];
    for (const runner of runners) runner.stop();
    await Promise.all(runners.map((runner) => runner.ended));
    await this.#keeping?.stop();
  }

  async #plan(): Promise<void> {
    const { database, settings } = this.#parts;
    const wanted = await listDeployable(database);
    this.#stopUnwanted(wanted);
    await this.#takeFree(wanted);
    await removeAbandoned(database, settings.SDK_RUNNERS_PROCESSES);
    await this.#hangWatch.look([...this.#runners.values()]);
  }

  async #keep(): Promise<void> {
    const runners = [...this.#runners];
    if (runners.length === 0) return;
    const standings = runners.map(([, runner]) => runner.standing);
    const kept = await keepProcesses(this.#parts.database, this.#parts.hostId, standings);
    const keys = new Set(kept.map(keyOf));
    for (const [key, runner] of runners) {
      // One that has ended meanwhile has given its place back itself.
      if (!keys.has(key) && this.#runners.get(key) === runner) runner.lose();
    }
  }

  #stopUnwanted(wanted: readonly DeployableRunner[]): void {
    const byType = new Map(wanted.map((runner) => [runner.runnerType, runner]));
    for (const runner of this.#runners.values()) {
      const now = byType.get(runner.plan.runnerType);
      const isSame = now?.entrypoint === runner.plan.entrypoint && now.version === runner.plan.version;
      if (!isSame) runner.stop();
    }
  }

  async #takeFree(wanted: readonly DeployableRunner[]): Promise<void> {
    const { database, hostId, settings } = this.#parts;
    const kept = new Set((await listKept(database)).map(keyOf));
    const numbers = Array.from({ length: settings.SDK_RUNNERS_PROCESSES }, (_, index) => index + 1);
    const free = numbers
      .flatMap((number) => wanted.map((runner) => ({ ...runner, number })))
      .filter((plan) => !kept.has(keyOf(plan)) && !this.#runners.has(keyOf(plan)));
    const room = settings.SDK_RUNNERS_MAX_PROCESSES - this.#runners.size;
    this.#tellFull(free.length > room);
    for (const plan of free.slice(0, Math.max(0, room))) {
      if (this.#isStopping) return;
      if (await takeProcess(database, hostId, plan)) this.#begin(plan);
    }
  }

  #begin(plan: DeployableRunner & ProcessKey): void {
    const key = keyOf(plan);
    const runner = new DeployedRunner(this.#parts, plan);
    this.#runners.set(key, runner);
    void runner.ended.then(() => this.#runners.delete(key));
  }

  #tellFull(isFull: boolean): void {
    if (isFull && !this.#isFull) {
      const processes = this.#parts.settings.SDK_RUNNERS_MAX_PROCESSES;
      this.#parts.log.warn(
        { processes },
        'this host runs no more deployed runners: SDK_RUNNERS_MAX_PROCESSES',
      );
    }
    this.#isFull = isFull;
  }
}

function keyOf({ runnerType, number }: ProcessKey): string {
  return `${runnerType} ${number}`;
}
