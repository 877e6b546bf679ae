/**
 * Stores the log calls that reach this process. Calls that come while a statement is under way go together in the next
 * one: the logs of many tasks cost the database little more than those of one. A call is answered once it is stored.
 */
import { Problem } from '../../domain/errors.ts';
import { limits } from '../../domain/limits.ts';
import type { Database } from '../../store/connection/database.ts';
import { type LogCall, type LogReply, writeLogs } from '../../store/run-logs/write-log.ts';

/** Calls of one statement. */
const callsAtOnce = 64;

interface Waiting {
  readonly call: LogCall;
  resolve(reply: LogReply | undefined): void;
  reject(error: unknown): void;
}

export class LogWriter {
  readonly #database: Database;
  #waiting: Waiting[] = [];
  #waitingBytes = 0;
  #isWriting = false;

  constructor(database: Database) {
    this.#database = database;
  }

  /**
   * @returns undefined when the caller does not hold the task
   * @throws Problem `unavailable` when too much waits to be stored
   */
  async write(call: LogCall): Promise<LogReply | undefined> {
    if (this.#waitingBytes + call.bytes > limits.logBacklogBytes) throw new Problem('unavailable');
    this.#waitingBytes += call.bytes;
    try {
      return await new Promise<LogReply | undefined>((resolve, reject) => {
        this.#waiting.push({ call, resolve, reject });
        void this.#writeAll();
      });
    } finally {
      this.#waitingBytes -= call.bytes;
    }
  }

  async #writeAll(): Promise<void> {
    if (this.#isWriting) return;
    this.#isWriting = true;
    while (this.#waiting.length > 0) await this.#writeBatch(this.#nextBatch());
    this.#isWriting = false;
  }

  /** One call for a task: those of the same task come in their order, in statements of their own. */
  #nextBatch(): Waiting[] {
    const batch = new Map<string, Waiting>();
    const rest: Waiting[] = [];
    for (const waiting of this.#waiting) {
      const { taskId } = waiting.call;
      if (batch.size < callsAtOnce && !batch.has(taskId)) batch.set(taskId, waiting);
      else rest.push(waiting);
    }
    this.#waiting = rest;
    return [...batch.values()];
  }

  async #writeBatch(batch: readonly Waiting[]): Promise<void> {
    try {
      const replies = await writeLogs(
        this.#database,
        batch.map(({ call }) => call),
      );
      for (const { call, resolve } of batch) resolve(replies.get(call.taskId));
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }
}
