/**
 * A small correct runner over HTTP, with a switch for the fault of each broken runner. Its task: an
 * output of the joined inputs in upper case. `node reference-runner.ts [template]`, address and token in SDP_URL and
 * SDP_RUNNER_TOKEN.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { Connection, maxTries, Refused } from './reference-connection.ts';
import type { Defects, RunnerOptions } from './reference-options.ts';

interface Task {
  readonly taskId: string;
  readonly runId: string;
  readonly heartbeatIntervalSeconds: number;
  /** `{"fail": true}` makes it report a failure. */
  readonly configuration: { readonly fail?: boolean };
}

interface InputItem {
  readonly outputId: number;
  readonly sizeBytes: number;
}

/** The task is over for this runner: lost, cancelled, or the runner is to stop. */
class Abandoned extends Error {
  readonly why: 'lost' | 'cancelled' | 'stopping';
  constructor(why: 'lost' | 'cancelled' | 'stopping') {
    super(why);
    this.why = why;
  }
}

export class ReferenceRunner {
  readonly #instanceId: string;
  readonly #options: RunnerOptions;
  readonly #defects: Defects;
  readonly #connection: Connection;
  readonly #stop = new AbortController();
  #maxOutputBytes = Number.POSITIVE_INFINITY;

  constructor(options: RunnerOptions) {
    this.#options = options;
    this.#defects = options.defects ?? {};
    this.#instanceId = this.#defects.sharesInstance ? 'reference' : `reference-${randomUUID()}`;
    this.#connection = new Connection(this.#defects.leavesOutInstance ? undefined : this.#instanceId);
  }

  /** Works until SIGTERM, or until the token is refused. */
  async run(): Promise<void> {
    if (!this.#defects.diesAtSigterm) process.once('SIGTERM', () => this.#stop.abort());
    const whoami = await this.#connection.json('GET', '/whoami');
    this.#maxOutputBytes = (whoami as { limits: { maxOutputBytes: number } }).limits.maxOutputBytes;
    let next: Task | undefined;
    while (!this.#stop.signal.aborted) {
      const task = next ?? (await this.#claim());
      next = undefined;
      if (task !== undefined)
        next = await this.#work(task).catch((error: unknown) => this.#refusedFor(error));
    }
    if (next !== undefined) await this.#connection.json('PUT', `/tasks/${next.taskId}/release`, {});
  }

  async #claim(): Promise<Task | undefined> {
    const body = {
      instanceId: this.#instanceId,
      templates: [this.#options.template],
      waitSeconds: this.#defects.pollsBusily ? 0 : 20,
    };
    try {
      return (await this.#connection.json('POST', '/tasks/claim', body, this.#stop.signal)) as
        | Task
        | undefined;
    } catch (error) {
      if (this.#stop.signal.aborted) return undefined;
      return await this.#refusedFor(error);
    }
  }

  /** Ends the runner. */
  async #refusedFor(error: unknown): Promise<undefined> {
    if (!this.#defects.hammersAfter401) throw error;
    await this.#connection.hammer('/whoami', 30);
  }

  /** Returns the task that came with the end of this one. */
  async #work(task: Task): Promise<Task | undefined> {
    const over = new AbortController();
    const done = new AbortController();
    const onStop = () => over.abort(new Abandoned('stopping'));
    this.#stop.signal.addEventListener('abort', onStop, { once: true });
    const heartbeats = this.#defects.forgetsHeartbeat ? undefined : this.#heartbeat(task, over, done.signal);
    try {
      const { next } = (await this.#process(task, over.signal)) ?? {};
      return this.#defects.dropsNext ? undefined : (next ?? undefined);
    } catch (error) {
      await this.#abandon(task, over.signal.aborted ? over.signal.reason : error);
    } finally {
      done.abort();
      this.#stop.signal.removeEventListener('abort', onStop);
      await heartbeats;
    }
    return undefined;
  }

  /** Ends the task, with the fault that is switched on. A lost task gets no further call. */
  async #abandon(task: Task, error: unknown): Promise<void> {
    if (error instanceof Refused && error.status === 401) throw error;
    if (error instanceof Abandoned && error.why === 'lost') return;
    if (error instanceof Refused && error.code === 'task_not_found') return;
    if (this.#stop.signal.aborted) await delay(this.#options.stopDelayMs ?? 0);
    const how = error instanceof Abandoned ? 'release' : 'fail';
    const body = how === 'release' ? { reason: String(error) } : { category: 'error', reason: String(error) };
    await this.#connection.json('PUT', `/tasks/${task.taskId}/${how}`, body).catch((refused: unknown) => {
      if (!(refused instanceof Refused) || refused.status === 401) throw refused;
    });
  }

  async #heartbeat(task: Task, over: AbortController, done: AbortSignal): Promise<void> {
    while (!done.aborted) {
      const pauseMs = this.#defects.heartbeatsAllTheTime ? 50 : task.heartbeatIntervalSeconds * 900;
      await delay(pauseMs, undefined, { signal: done }).catch(() => undefined);
      if (done.aborted) return;
      try {
        const path = `/tasks/${task.taskId}/heartbeat`;
        // One try: the next heartbeat follows anyway.
        const reply = (await this.#connection.once('PUT', path, { phase: 'working' }, done)) as {
          cancelRequested?: boolean;
        };
        if (reply.cancelRequested && !this.#defects.ignoresCancel) over.abort(new Abandoned('cancelled'));
      } catch (error) {
        if (!(error instanceof Refused)) continue;
        if (error.status === 401 && !this.#defects.goesOnAfter401) over.abort(error);
        else if (error.code === 'task_not_found' && !this.#defects.goesOnAfterLoss)
          over.abort(new Abandoned('lost'));
      }
    }
  }

  async #log(task: Task, sequence: number, message: string, signal: AbortSignal): Promise<void> {
    const entries = [{ at: new Date().toISOString(), level: 'info', message }];
    const body = { sequence: this.#defects.repeatsLogSequence ? 1 : sequence, entries };
    const sent = this.#connection.json('POST', `/tasks/${task.taskId}/logs`, body, signal);
    await (this.#defects.goesOnAfterLoss ? sent.catch(() => undefined) : sent);
  }

  async #process(task: Task, signal: AbortSignal): Promise<{ readonly next?: Task | null } | undefined> {
    if (task.configuration.fail) throw new Error('as the configuration wants it');
    const inputs = await this.#inputs(task, signal);
    await this.#log(task, 1, `${inputs.items.length} inputs`, signal);
    if (this.#defects.claimsWhileHolding)
      await this.#connection.json('POST', '/tasks/claim', { instanceId: this.#instanceId, waitSeconds: 0 });
    const chunks: Buffer[] = [];
    for (const input of inputs.items) chunks.push(await this.#read(task, input, signal));
    if (this.#defects.writesTooMuch) chunks.push(Buffer.alloc(17 * 1024 * 1024));
    const bytes = Buffer.from(Buffer.concat(chunks).toString('latin1').toUpperCase(), 'latin1');
    const last = inputs.items.at(-1);
    if (inputs.items.length > 0) await this.#write(task, bytes, last, signal);
    signal.throwIfAborted();
    const hasMore =
      this.#options.incremental && inputs.pending > inputs.items.length && !this.#defects.forgetsHasMore;
    const outcome = inputs.items.length > 0 ? 'completed' : 'no-output';
    await this.#log(task, 2, `${bytes.length} bytes`, signal);
    const next = { waitSeconds: 0, templates: [this.#options.template] };
    const body = { outcome, ...(hasMore ? { hasMore } : {}), next };
    const path = `/tasks/${task.taskId}/complete`;
    const how = this.#defects.doesNotRepeatComplete ? 'once' : 'json';
    const ended = this.#connection[how]('PUT', path, body) as Promise<{ readonly next?: Task | null }>;
    const reply = await (how === 'once' ? ended.catch(() => undefined) : ended);
    if (this.#defects.writesAfterComplete)
      await this.#connection.once('POST', `/tasks/${task.taskId}/outputs`).catch(() => undefined);
    return reply;
  }

  async #inputs(task: Task, signal: AbortSignal): Promise<{ items: InputItem[]; pending: number }> {
    const items: InputItem[] = [];
    let pending = 0;
    let cursor = '';
    for (;;) {
      const mode = this.#options.incremental ? 'since-watermark' : 'latest';
      const page = (await this.#connection.json(
        'GET',
        `/tasks/${task.taskId}/inputs?mode=${mode}${cursor}`,
        undefined,
        signal,
      )) as {
        inputs: InputItem[];
        nextCursor: string | null;
        incremental: { pendingInputs: number };
      };
      items.push(...page.inputs);
      pending = page.incremental.pendingInputs;
      if (page.nextCursor === null || this.#defects.ignoresCursor) return { items, pending };
      cursor = `&cursor=${encodeURIComponent(page.nextCursor)}`;
    }
  }

  async #read(task: Task, input: InputItem, signal: AbortSignal): Promise<Buffer> {
    const path = `/tasks/${task.taskId}/inputs/${input.outputId}/data`;
    let isAtStore = true;
    const read = async () => {
      const asked = `${path}${isAtStore ? '?redirect=true' : ''}`;
      const response = await this.#connection.open('GET', asked, { signal });
      if (response.status === 307) {
        isAtStore = this.#defects.trustsTheStore === true;
        const bytes = await this.#connection.follow(response, this.#defects.sendsTokenToStore, signal);
        if (bytes.length === input.sizeBytes || isAtStore) return bytes;
        throw new Error('The store sent other bytes.');
      }
      if (!this.#defects.usesHalfInputs) return Buffer.from(await response.arrayBuffer());
      const parts: Uint8Array[] = [];
      try {
        for await (const part of response.body ?? []) parts.push(part);
      } catch {
        // The bytes that arrived are used as if they were all.
      }
      return Buffer.concat(parts);
    };
    // All tries at a broken store would take as long as the kit waits for an end.
    return await this.#connection.again(signal, read, this.#defects.trustsTheStore ? 2 : maxTries);
  }

  async #write(task: Task, bytes: Buffer, last: InputItem | undefined, signal: AbortSignal): Promise<void> {
    const ofWork = this.#defects.namesOutputsByTask ? task.taskId : task.runId;
    const identifier = `upper-${this.#options.incremental ? last?.outputId : ofWork}`;
    const moves = this.#options.incremental === true && last !== undefined;
    const { movesWatermarkFirst } = this.#defects;
    if (moves && movesWatermarkFirst)
      await this.#connection.json('PUT', `/tasks/${task.taskId}/watermark`, { inputId: last.outputId });
    const watermark = moves && !movesWatermarkFirst ? { 'x-platform-watermark': String(last.outputId) } : {};
    const headers = {
      'content-type': 'text/plain',
      'x-platform-output-identifier': identifier,
      ...watermark,
    };
    const path = `/tasks/${task.taskId}/outputs`;
    if (this.#options.parts && bytes.length > this.#maxOutputBytes)
      return this.#writeParts(path, bytes, headers, signal);
    let tries = 0;
    await this.#connection
      .again(
        signal,
        async () => {
          tries += 1;
          const named = this.#defects.changesIdentifier
            ? { 'x-platform-output-identifier': `${identifier}-${tries}` }
            : {};
          await this.#connection.send('POST', path, bytes, { ...headers, ...named }, signal);
        },
        this.#defects.doesNotResend || this.#defects.goesOnAfterLoss ? 1 : maxTries,
      )
      .catch((error: unknown) => {
        const isIgnored = this.#defects.doesNotResend || this.#defects.goesOnAfterLoss;
        if (!isIgnored || signal.aborted) throw error;
      });
  }

  async #writeParts(
    path: string,
    bytes: Buffer,
    headers: Record<string, string>,
    signal: AbortSignal,
  ): Promise<void> {
    const upload = (await this.#connection.again(signal, () =>
      this.#connection.send('POST', `${path}/uploads`, undefined, headers, signal),
    )) as {
      handle: string;
      minPartBytes: number;
    };
    const at = `${path}/uploads/${upload.handle}`;
    const count = Math.ceil(bytes.length / upload.minPartBytes);
    const numbers = Array.from({ length: count }, (_none, index) => index + 1);
    // All at once, so that they arrive in any order.
    await Promise.all(
      numbers.map((number) => {
        const part = bytes.subarray((number - 1) * upload.minPartBytes, number * upload.minPartBytes);
        return this.#connection.again(signal, () =>
          this.#connection.send('PUT', `${at}/parts/${number}`, part, {}, signal),
        );
      }),
    );
    await this.#connection.again(signal, () =>
      this.#connection.send('POST', `${at}/complete`, undefined, {}, signal),
    );
  }
}

/** Runs until SIGTERM; the exit code shows whether the token was refused. */
export async function main(options: Omit<RunnerOptions, 'template'>): Promise<void> {
  const runner = new ReferenceRunner({ template: process.argv[2] ?? 'conformance', ...options });
  await runner.run().catch((error: unknown) => {
    console.error(String(error));
    process.exitCode = 3;
  });
  process.exit();
}

if (process.argv[1] === import.meta.filename) {
  const has = (flag: string) => process.argv.includes(flag);
  await main({ incremental: has('--incremental'), parts: has('--parts') });
}
