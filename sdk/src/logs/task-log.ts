/** The log of one run, as the runner's code writes it. */
import { StringDecoder } from 'node:string_decoder';
import { inspect } from 'node:util';
import type { Captured, StreamName } from './console-capture.ts';
import {
  clipBytes,
  type LogEntry,
  type LogFields,
  logEntry,
  messageBytes,
  type RunLogLevel,
} from './log-entry.ts';

/** Lines for the run's page. They are sent within a second, and kept with the attempt. */
export interface RunLog {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warning(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
}

const tailBytes = 64 * 1024;
const streamLevels: Readonly<Record<StreamName, RunLogLevel>> = { stdout: 'info', stderr: 'warning' };

export class TaskLog implements RunLog, Captured {
  readonly #keep: (entry: LogEntry) => void;
  readonly #print: (entry: LogEntry) => void;
  readonly #partial: Record<StreamName, string> = { stdout: '', stderr: '' };
  /** A character may begin in one chunk of bytes and end in the next. */
  readonly #decoders = { stdout: new StringDecoder('utf8'), stderr: new StringDecoder('utf8') };
  readonly #tail: string[] = [];
  #tailLength = 0;
  #isOver = false;

  /**
   * @param keep receives every line
   * @param print shows those that the runner's code did not print itself
   */
  constructor(keep: (entry: LogEntry) => void, print: (entry: LogEntry) => void) {
    this.#keep = keep;
    this.#print = print;
  }

  debug(message: string, fields?: LogFields): void {
    this.#write('debug', message, fields);
  }

  info(message: string, fields?: LogFields): void {
    this.#write('info', message, fields);
  }

  warning(message: string, fields?: LogFields): void {
    this.#write('warning', message, fields);
  }

  error(message: string, fields?: LogFields): void {
    this.#write('error', message, fields);
  }

  /** The error that fails the task, with its stack and causes. */
  failure(error: unknown): void {
    this.#note(logEntry('error', inspect(error)));
  }

  /** What the console printed, as one line. */
  printed(level: RunLogLevel, text: string): void {
    if (text !== '') this.#note(logEntry(level, text));
  }

  /** What was written to a stream, cut into lines. */
  wrote(stream: StreamName, chunk: string | Uint8Array): void {
    const text = typeof chunk === 'string' ? chunk : this.#decoders[stream].write(chunk);
    const lines = (this.#partial[stream] + text).split('\n');
    const rest = lines.pop() ?? '';
    // A line without a line break must not grow without limit.
    const isTooLong = rest.length > messageBytes;
    this.#partial[stream] = isTooLong ? '' : rest;
    for (const line of isTooLong ? [...lines, rest] : lines)
      this.printed(streamLevels[stream], line.replace(/\r$/, ''));
  }

  /** Ends the log: later lines do not belong to the run. */
  close(): void {
    for (const stream of ['stdout', 'stderr'] as const)
      this.wrote(stream, `${this.#decoders[stream].end()}\n`);
    this.#isOver = true;
  }

  /** The newest lines, for a task whose log could not be sent. */
  get tail(): string {
    return clipBytes(this.#tail.join('\n'), tailBytes);
  }

  #write(level: RunLogLevel, message: string, fields: LogFields | undefined): void {
    const entry = logEntry(level, String(message), fields);
    this.#print(entry);
    this.#note(entry);
  }

  #note(entry: LogEntry): void {
    if (this.#isOver) return;
    const { at, level, message, fields } = entry;
    const line = `${at} ${level} ${message}${fields === undefined ? '' : ` ${JSON.stringify(fields)}`}`;
    this.#tail.push(line);
    this.#tailLength += line.length + 1;
    while (this.#tailLength > tailBytes && this.#tail.length > 1)
      this.#tailLength -= (this.#tail.shift()?.length ?? 0) + 1;
    this.#keep(entry);
  }
}
