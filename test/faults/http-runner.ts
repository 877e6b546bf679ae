/** A minimal runner: it claims, writes one output and completes, over HTTP, and repeats calls without an answer. */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Database } from '../../store/connection/database.ts';
import { patienceMs } from '../support/eventually.ts';
import { chain, type Graph, makeGraph, outsideTemplate, type TemplateOptions } from '../support/graph.ts';

export interface HeldTask {
  readonly taskId: string;
  readonly runId: string;
  readonly attempt: number;
  readonly nodeName: string;
  readonly sessionId: string;
}

export interface Reply<T> {
  readonly status: number;
  readonly body: T;
}

/** A session of outside nodes below one input node, with its own node template. */
export async function outsideChain(
  database: Database,
  length: number,
  options: TemplateOptions = {},
): Promise<Graph & { readonly template: string }> {
  const template = `outside-${randomUUID()}`;
  await outsideTemplate(database, template, options);
  const graph = await makeGraph(database, chain(length, template));
  await database.query(
    `update node_instance set configuration = '{"dataSourceName":"platform"}' where session_id = $1`,
    [graph.sessionId],
  );
  return { ...graph, template };
}

export class HttpRunner {
  readonly instanceId = `runner-${randomUUID()}`;
  readonly token: string;
  /** The address that it calls; set another one to continue there. */
  url: string;

  constructor(url: string, token: string) {
    this.url = url;
    this.token = token;
  }

  /** One upload to a node, as a person does it. */
  upload(nodeInstanceId: number, identifier: string, text = 'a,b\n1,2\n'): Promise<Reply<{ id: number }>> {
    return this.#send('POST', `/api/v2/node-instance/${nodeInstanceId}/outputs/data`, text, {
      'content-type': 'text/csv',
      'x-platform-output-identifier': identifier,
    });
  }

  /** Status 204 when there is none. */
  claim(template: string, waitSeconds = 0): Promise<Reply<HeldTask>> {
    return this.#json('POST', '/tasks/claim', {
      instanceId: this.instanceId,
      templates: [template],
      waitSeconds,
    });
  }

  /** Claims until there is a task; calls without an answer are made again. */
  async acquire(template: string, limitMs = patienceMs): Promise<HeldTask> {
    const until = Date.now() + limitMs;
    for (;;) {
      const reply = await this.claim(template, 2).catch(() => undefined);
      if (reply?.status === 200) return reply.body;
      if (Date.now() > until) throw new Error(`No task of ${template}: ${JSON.stringify(reply)}`);
      if (reply === undefined || reply.status >= 500) await delay(100);
    }
  }

  write(task: HeldTask, identifier: string): Promise<Reply<{ outputId: number }>> {
    return this.#send('POST', `/api/v2/runner/tasks/${task.taskId}/outputs`, `output of ${task.nodeName}`, {
      'content-type': 'text/plain',
      'x-platform-output-identifier': identifier,
    });
  }

  complete(task: HeldTask): Promise<Reply<Record<string, unknown>>> {
    return this.#json('PUT', `/tasks/${task.taskId}/complete`, { outcome: 'completed' });
  }

  fail(task: HeldTask, reason: string): Promise<Reply<Record<string, unknown>>> {
    return this.#json('PUT', `/tasks/${task.taskId}/fail`, { category: 'error', reason });
  }

  heartbeat(task: HeldTask): Promise<Reply<Record<string, unknown>>> {
    return this.#json('PUT', `/tasks/${task.taskId}/heartbeat`, { phase: 'working' });
  }

  /** The next task from claim to end, as any runner does it. */
  async work(template: string): Promise<HeldTask> {
    const task = await this.acquire(template);
    await this.finish(task);
    return task;
  }

  async finish(task: HeldTask): Promise<void> {
    const written = await this.write(task, `of-${task.runId}`);
    const completed = await this.complete(task);
    if (written.status >= 300 || completed.status >= 300)
      throw new Error(`finish: ${JSON.stringify([written, completed])}`);
  }

  #json<T>(method: string, path: string, body: unknown): Promise<Reply<T>> {
    return this.#send(method, `/api/v2/runner${path}`, JSON.stringify(body), {
      'content-type': 'application/json',
    });
  }

  async #send<T>(
    method: string,
    path: string,
    body: string,
    headers: Record<string, string>,
  ): Promise<Reply<T>> {
    const response = await fetch(this.url + path, {
      method,
      body,
      headers: {
        authorization: `Bearer ${this.token}`,
        'x-platform-runner-instance': this.instanceId,
        // The next call must not use a connection of the killed process.
        connection: 'close',
        ...headers,
      },
    });
    const text = await response.text();
    return { status: response.status, body: text === '' ? undefined : JSON.parse(text) };
  }
}
