/** The record of each call of the claim campaign's runners, in a file that survives a kill. */
import { closeSync, openSync, readSync, writeSync } from 'node:fs';

/** Times are `Date.now()`: the one clock of the machine, by which the database counts its leases too. */
export type SentRecord = { readonly call: number; readonly sentAt: number; readonly instance: string } & (
  | { readonly kind: 'claim' }
  | { readonly kind: 'heartbeat'; readonly taskId: string }
  | {
      readonly kind: 'end';
      readonly taskId: string;
      readonly how: EndHow;
      /** It claims the next task too. */
      readonly claimsNext?: boolean;
    }
);
export type EndHow = 'complete' | 'fail' | 'fail-for-good' | 'release';

export interface AnswerRecord {
  readonly call: number;
  readonly answeredAt: number;
  /** The HTTP status; `lost` when no answer came, `unmade` when no process could be connected to. */
  readonly status: number | 'lost' | 'unmade';
  readonly code?: string | undefined;
  readonly taskId?: string | undefined;
  readonly attempt?: number | undefined;
  readonly leaseUntil?: number | undefined;
  readonly willRetry?: boolean | undefined;
  /** The next task, at an end that claims it; null when there was none. */
  readonly next?: Pick<AnswerRecord, 'taskId' | 'attempt' | 'leaseUntil'> | null | undefined;
}

export class RecordWriter {
  readonly #file: number;

  constructor(path: string) {
    this.#file = openSync(path, 'a');
  }

  /** Returns when the system has the line, which then outlives this process. */
  write(record: SentRecord | AnswerRecord): void {
    writeSync(this.#file, `${JSON.stringify(record)}\n`);
  }
}

/** A call of which the answer is missing until it is read. */
export interface RecordedCall {
  readonly sent: SentRecord;
  answer: AnswerRecord | undefined;
}

/** Reads a file while it grows. */
export class RecordReader {
  readonly #file: number;
  readonly #calls = new Map<number, RecordedCall>();
  #offset = 0;
  #rest = '';

  constructor(path: string) {
    this.#file = openSync(path, 'a+');
  }

  get calls(): readonly RecordedCall[] {
    return [...this.#calls.values()];
  }

  get size(): number {
    return this.#calls.size;
  }

  /** Reads the lines that were written since. */
  readOn(): void {
    const chunk = Buffer.alloc(256 * 1024);
    for (;;) {
      const count = readSync(this.#file, chunk, 0, chunk.length, this.#offset);
      if (count === 0) return;
      this.#offset += count;
      const lines = (this.#rest + chunk.toString('utf8', 0, count)).split('\n');
      this.#rest = lines.pop() ?? '';
      for (const line of lines) this.#read(JSON.parse(line) as SentRecord | AnswerRecord);
    }
  }

  close(): void {
    closeSync(this.#file);
  }

  #read(record: SentRecord | AnswerRecord): void {
    if ('sentAt' in record) this.#calls.set(record.call, { sent: record, answer: undefined });
    else this.#calls.get(record.call)!.answer = record;
  }
}
