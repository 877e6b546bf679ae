/**
 * Runners of the soak, several in one separate process. They consume each input once, as a sound runner does, but
 * fail, abandon, come late and forget at any step. After SIGUSR2 they complete everything; at SIGTERM they end.
 */
import { setTimeout as delay } from 'node:timers/promises';

export interface SoakPlan {
  /** The ports of the API processes; each call goes to any of them. */
  readonly ports: readonly number[];
  readonly token: string;
  readonly templates: readonly string[];
  readonly instances: readonly string[];
  readonly leaseMs: number;
}

interface Task {
  readonly taskId: string;
  readonly runId: string;
  readonly nodeTemplate: string;
}
interface Inputs {
  readonly inputs: ReadonlyArray<{ readonly outputId: number }>;
  readonly incremental: { readonly pendingInputs: number };
}
interface Answer<T> {
  readonly status: number;
  readonly body: T;
}

const plan = JSON.parse(process.env.SOAK_PLAN ?? '') as SoakPlan;
const answerLimitMs = 8_000;
let isTidy = false;
let isOver = false;
process.on('SIGUSR2', () => {
  isTidy = true;
});
process.on('SIGTERM', () => {
  isOver = true;
});
// Before it listens a signal would end it.
console.log('listens');

const chance = (share: number) => !isTidy && Math.random() < share;

/** The runner must not continue the task: it ended, was lost, or is abandoned. */
class Left extends Error {}

class SoakRunner {
  readonly #instance: string;

  constructor(instance: string) {
    this.#instance = instance;
  }

  async run(): Promise<void> {
    while (!isOver) {
      const task = await this.#claim();
      if (task === undefined) continue;
      try {
        if (task.nodeTemplate.endsWith('incremental')) await this.#consume(task);
        else await this.#summarise(task);
      } catch (error) {
        if (!(error instanceof Left)) throw error;
      }
    }
  }

  async #claim(): Promise<Task | undefined> {
    const body = { instanceId: this.#instance, templates: plan.templates, waitSeconds: 1 };
    const answer = await this.#once<Task>('POST', '/claim', JSON.stringify(body)).catch(() => undefined);
    if (answer?.status === 200) return answer.body;
    if (answer?.status !== 204) await delay(100);
    return undefined;
  }

  /** An output for each new input, which moves the watermark past it. */
  async #consume(task: Task): Promise<void> {
    const { inputs } = await this.#inputs(task);
    for (const [at, { outputId }] of inputs.entries()) {
      await this.#mishap(task);
      await this.#must(task, 'POST', '/outputs', `from ${outputId}`, {
        'content-type': 'text/plain',
        'x-platform-output-identifier': `${task.taskId}.${at}`,
        'x-platform-output-metadata': JSON.stringify({ of: outputId }),
        'x-platform-watermark': String(outputId),
      });
    }
    await this.#mishap(task);
    const { incremental } = await this.#inputs(task);
    await this.#complete(task, inputs.length > 0 && incremental.pendingInputs > 0);
  }

  /** One output, staged until the task completes. */
  async #summarise(task: Task): Promise<void> {
    await this.#mishap(task);
    await this.#must(task, 'POST', '/outputs', 'summary', {
      'content-type': 'text/plain',
      'x-platform-output-identifier': `of-${task.runId}`,
    });
    await this.#mishap(task);
    await this.#complete(task, false);
  }

  #inputs(task: Task): Promise<Inputs> {
    return this.#must<Inputs>(task, 'GET', '/inputs');
  }

  async #complete(task: Task, hasMore: boolean): Promise<void> {
    const body = { outcome: 'completed', hasMore };
    await this.#must(task, 'PUT', '/complete', JSON.stringify(hasMore ? body : { outcome: 'completed' }));
  }

  /** What can happen to a runner at any step. */
  async #mishap(task: Task): Promise<void> {
    if (chance(0.02)) throw new Left('forgotten');
    if (chance(0.02)) await delay(plan.leaseMs * (0.5 + Math.random()));
    if (chance(0.04)) await this.#leave(task, '/release', {});
    if (chance(0.015)) await this.#leave(task, '/fail', { category: 'validation', reason: 'No use.' });
    if (chance(0.01)) await this.#leave(task, '/fail', { category: 'error', reason: 'No luck.' });
  }

  async #leave(task: Task, path: string, body: object): Promise<never> {
    await this.#must(task, 'PUT', path, JSON.stringify(body));
    throw new Left(path);
  }

  /** Repeats a call until it is answered; a caller that lost the task gets that answer and leaves it. */
  async #must<T>(
    task: Task,
    method: string,
    path: string,
    body?: string,
    headers: Record<string, string> = {},
  ): Promise<T> {
    for (;;) {
      const answer = await this.#once<T>(method, `/${task.taskId}${path}`, body, headers).catch(
        () => undefined,
      );
      if (answer !== undefined && answer.status < 300) return answer.body;
      if (answer?.status === 404) throw new Left('lost');
      // An attempt that finds everything consumed by an earlier one that wrote nothing.
      if (answer?.status === 409 && path === '/complete')
        return this.#must(task, method, path, JSON.stringify({ outcome: 'no-output' }), headers);
      if (answer !== undefined && answer.status < 500)
        throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
      await delay(50);
    }
  }

  async #once<T>(
    method: string,
    path: string,
    body?: string,
    headers: Record<string, string> = {},
  ): Promise<Answer<T>> {
    const port = plan.ports[Math.floor(Math.random() * plan.ports.length)];
    const response = await fetch(`http://127.0.0.1:${port}/api/v2/runner/tasks${path}`, {
      method,
      signal: AbortSignal.timeout(answerLimitMs),
      ...(body === undefined ? {} : { body }),
      headers: {
        authorization: `Bearer ${plan.token}`,
        'x-platform-runner-instance': this.#instance,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
    });
    const text = await response.text();
    return { status: response.status, body: (text === '' ? undefined : JSON.parse(text)) as T };
  }
}

await Promise.all(plan.instances.map((instance) => new SoakRunner(instance).run()));
