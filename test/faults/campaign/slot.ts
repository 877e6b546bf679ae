/** One process of the platform, supervised as `npm start` does, on a port and in its own folder. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { apiProcess, type PlatformOptions, workerProcess } from '../../../local/platform.ts';
import type { Supervised } from '../../../local/supervised.ts';
import { eventually } from '../../support/eventually.ts';
import { type Gate, openGate } from '../../support/network/gate.ts';

export const roles = ['API', 'worker', 'built-in worker'] as const;
export type SlotRole = (typeof roles)[number];

const startLimitMs = 200_000;

const logs: Readonly<Record<SlotRole, string>> = {
  API: 'api',
  worker: 'worker',
  'built-in worker': 'worker-builtin',
};

export class Slot {
  readonly role: SlotRole;
  readonly name: string;
  readonly port: number;
  readonly #options: PlatformOptions;
  #process: Supervised;
  #gate: Gate | undefined;
  /** Settles when no restart is under way. */
  #restarted: Promise<void> = Promise.resolve();
  /** False when a balancer would skip it. */
  isInRotation = true;
  /** Ends that no injected fault caused. */
  readonly unexpectedEnds: string[] = [];

  constructor(role: SlotRole, name: string, options: PlatformOptions) {
    this.role = role;
    this.name = name;
    this.port = Number(new URL(options.address).port);
    for (const folder of ['logs', 'run', 'temp'])
      mkdirSync(join(options.dataDir, folder), { recursive: true });
    this.#options = { ...options, log: (line) => this.#note(line) };
    this.#process = this.#make({});
  }

  get logFile(): string {
    return join(this.#options.dataDir, 'logs', `${logs[this.role]}.log`);
  }

  get pid(): number | undefined {
    return this.#process.pid;
  }

  /** Where it is called: past the gate unless that is at work. */
  get url(): string {
    const isGated = this.#gate !== undefined && this.#gate.mode.kind !== 'pass';
    return isGated ? this.#gate!.url : this.directUrl;
  }

  get directUrl(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** The line between callers and this API process. */
  async gate(): Promise<Gate> {
    this.#gate ??= await openGate(this.directUrl);
    return this.#gate;
  }

  async start(): Promise<void> {
    await this.#process.start();
  }

  /** As SIGTERM ends it. */
  async stop(): Promise<void> {
    await this.#process.stop();
  }

  /**
   * Ends it in order and starts it with other variables: earlier changes are reset. Two faults of a pair may both restart it:
   * one does so after the other, or both would start a process at the same port.
   */
  restart(variables: Readonly<Record<string, string>> = {}): Promise<void> {
    const restarted = this.#restarted.then(() => this.#restartNow(variables));
    this.#restarted = restarted.catch(() => undefined);
    return restarted;
  }

  async #restartNow(variables: Readonly<Record<string, string>>): Promise<void> {
    await this.#process.stop();
    this.#process = this.#make(variables);
    // Another fault may cut it off from its servers; `npm start` would report that to the operator.
    await eventually(`${this.name} is started`, () => this.#process.start().then(() => true), startLimitMs);
  }

  kill(signal: NodeJS.Signals): void {
    this.#process.kill(signal);
  }

  async close(): Promise<void> {
    this.#process.kill('SIGCONT');
    await this.#process.stop();
    await this.#gate?.close();
  }

  #make(variables: Readonly<Record<string, string>>): Supervised {
    const environment = { ...this.#options.environment, ...variables };
    const options = { ...this.#options, environment };
    if (this.role === 'API') return apiProcess(options);
    return workerProcess(options, this.role === 'worker' ? 'workflows' : 'builtin');
  }

  #note(line: string): void {
    if (!line.includes('SIGKILL')) this.unexpectedEnds.push(line);
  }
}
