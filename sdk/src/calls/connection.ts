/** Calls of the runner routes, repeated while the platform cannot be reached. */
import type { IncomingMessage } from 'node:http';
import { ApiError, messageOf } from '../errors.ts';
import type { Log } from '../log.ts';
import { BackOff, isTransient } from './back-off.ts';
import { Downloads } from './downloads.ts';
import { HttpClient, readJson, readRefusal } from './http-request.ts';

const silenceMs = 60_000;
const maxBackOffMs = 5_000;
/** From this number on a warning is logged for operators. */
const failuresToWarn = 4;

export interface Call {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Below `/api/v2/runner`. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly json?: unknown;
  readonly bytes?: readonly Uint8Array[];
  readonly signal?: AbortSignal | undefined;
  /** Longest silence of the connection; default a minute. */
  readonly silenceMs?: number;
  /**
   * How long to repeat. `outage`: while there is no answer, or one that shows an outage, and some times for other
   * server errors. `always`: until the answer is definite. `never`: one try.
   */
  readonly patience?: 'outage' | 'always' | 'never';
}

export interface Reply<T> {
  readonly status: number;
  readonly body: T;
}

export interface ConnectionSettings {
  /** The platform's base address. */
  readonly url: URL;
  readonly token: string;
  readonly userAgent: string;
  readonly log: Log;
}

export class Connection {
  readonly #http = new HttpClient();
  readonly #downloads = new Downloads(this.#http);
  readonly #settings: ConnectionSettings;
  /** Address of the runner routes, without a slash at the end. */
  readonly base: string;

  constructor(settings: ConnectionSettings) {
    this.#settings = settings;
    this.base = `${settings.url.href.replace(/[/?#]*$/, '')}/api/v2/runner`;
  }

  /**
   * Makes a call and reads its answer.
   * @throws ApiError for a definite refusal; the signal's reason when it is aborted; NetworkError only without patience
   */
  async call<T>(call: Call): Promise<Reply<T>> {
    return await this.repeat(call, async () => {
      const message = await this.open(call);
      const body = (await readJson(message, call.silenceMs ?? silenceMs)) as T;
      return { status: message.statusCode ?? 0, body };
    });
  }

  /** Repeats a call until it succeeds, fails for good, or is aborted. */
  async repeat<T>(call: Call, work: () => Promise<T>): Promise<T> {
    const backOff = new BackOff(maxBackOffMs);
    for (;;) {
      try {
        const done = await work();
        if (backOff.failures >= failuresToWarn)
          this.#settings.log('info', `${call.method} ${call.path}: answered again`);
        return done;
      } catch (error) {
        call.signal?.throwIfAborted();
        if (!mayRepeat(call, error, backOff)) throw error;
        this.#report(call, error, backOff.failures + 1);
        await backOff.wait(error, call.signal);
      }
    }
  }

  /** One try, up to the head of a successful answer. */
  async open(call: Call): Promise<IncomingMessage> {
    const message = await this.#send(call);
    if ((message.statusCode ?? 0) < 300) return message;
    throw await readRefusal(message, silenceMs);
  }

  /** As `open`, for bytes: from the store where the platform names an address there. */
  async openDownload(call: Call): Promise<IncomingMessage> {
    const { headers = {}, signal } = call;
    return await this.#downloads.open(
      async (query) => {
        const message = await this.#send({ ...call, path: call.path + query });
        const { statusCode = 0 } = message;
        if (statusCode < 300 || (statusCode === 307 && query !== '')) return message;
        throw await readRefusal(message, silenceMs);
      },
      { headers, signal },
    );
  }

  /** Opens downloads through the platform for a while. */
  avoidStore(): void {
    this.#downloads.avoidStore();
  }

  async #send(call: Call): Promise<IncomingMessage> {
    const { json } = call;
    const body = json === undefined ? (call.bytes ?? []) : [Buffer.from(JSON.stringify(json))];
    return await this.#http.open({
      method: call.method,
      url: new URL(this.base + call.path),
      headers: {
        authorization: `Bearer ${this.#settings.token}`,
        'user-agent': this.#settings.userAgent,
        ...(json === undefined ? {} : { 'content-type': 'application/json' }),
        ...call.headers,
      },
      body,
      silenceMs: call.silenceMs ?? silenceMs,
      signal: call.signal,
    });
  }

  close(): void {
    this.#http.close();
  }

  /** Names the address that answered: it may be that of another program, or have a path too many. */
  #reason(error: unknown): string {
    const text = messageOf(error).replace(/\.+$/, '');
    if (!(error instanceof ApiError)) return text;
    const address = new URL(this.base);
    return `${address.origin}${address.pathname} answered ${error.status}, ${text}`;
  }

  #report(call: Call, error: unknown, failures: number): void {
    const level = failures < failuresToWarn ? 'debug' : 'warn';
    this.#settings.log(level, `${call.method} ${call.path}: ${this.#reason(error)}; trying again`, {
      failures,
    });
  }
}

function mayRepeat({ patience = 'outage' }: Call, error: unknown, backOff: BackOff): boolean {
  switch (patience) {
    case 'never':
      return false;
    case 'always':
      return isTransient(error);
    case 'outage':
      return backOff.isWorthIt(error);
  }
}
