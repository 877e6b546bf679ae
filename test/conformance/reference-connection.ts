/** The calls of the reference runner: one try, or repeats during temporary faults. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

export const maxTries = 8;

export class Refused extends Error {
  readonly status: number;
  readonly code: string;
  constructor(status: number, code: string) {
    super(`${status} ${code}`);
    this.status = status;
    this.code = code;
  }
}

interface Sent {
  readonly body?: Buffer | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
}

export class Connection {
  readonly #base = `${process.env.SDP_URL}/api/v2/runner`;
  readonly #headers: Readonly<Record<string, string>>;

  /** @param instanceId undefined leaves the header out, which breaks a rule */
  constructor(instanceId: string | undefined) {
    this.#headers = {
      authorization: `Bearer ${process.env.SDP_RUNNER_TOKEN}`,
      ...(instanceId === undefined ? {} : { 'x-platform-runner-instance': instanceId }),
    };
  }

  /** One try; throws for refusals. The caller reads the body. */
  async open(method: string, path: string, { body, headers, signal }: Sent = {}): Promise<Response> {
    const response = await fetch(this.#base + path, {
      method,
      redirect: 'manual',
      headers: { ...this.#headers, ...headers },
      ...(body === undefined ? {} : { body: new Uint8Array(body) }),
      ...(signal === undefined ? {} : { signal }),
    });
    if (response.status >= 400) throw await refusal(response);
    return response;
  }

  /** The bytes at the address of a redirect. @param withToken breaks a rule */
  async follow(redirect: Response, withToken: boolean | undefined, signal: AbortSignal): Promise<Buffer> {
    const headers = withToken ? this.#headers : {};
    const response = await fetch(redirect.headers.get('location') ?? '', { headers, signal });
    return Buffer.from(await response.arrayBuffer());
  }

  /** One try of a call that is answered with JSON or nothing. */
  async send(
    method: string,
    path: string,
    body: Buffer | undefined,
    headers: Readonly<Record<string, string>>,
    signal?: AbortSignal,
  ): Promise<unknown> {
    const text = await (await this.open(method, path, { body, headers, signal })).text();
    return text === '' ? undefined : JSON.parse(text);
  }

  /** One try with a JSON body. */
  async once(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<unknown> {
    const bytes = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
    return await this.send(method, path, bytes, { 'content-type': 'application/json' }, signal);
  }

  async json(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<unknown> {
    return await this.again(signal, () => this.once(method, path, body, signal));
  }

  /** Many calls in one write: the kit gets them at the same moment, also on a busy machine. */
  async hammer(path: string, calls: number): Promise<void> {
    const { host, hostname, port, pathname } = new URL(this.#base + path);
    const headers = Object.entries({ host, ...this.#headers }).map(
      ([name, value]) => `${name}: ${value}\r\n`,
    );
    const socket = connect(Number(port), hostname);
    socket.end(`GET ${pathname} HTTP/1.1\r\n${headers.join('')}\r\n`.repeat(calls));
    socket.resume();
    await once(socket, 'close');
  }

  /** Repeats after temporary faults: no answer, 5xx. */
  async again<T>(signal: AbortSignal | undefined, work: () => Promise<T>, tries = maxTries): Promise<T> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await work();
      } catch (error) {
        signal?.throwIfAborted();
        const isLasting = error instanceof Refused && error.status < 500;
        if (isLasting || attempt >= tries) throw error;
        const askedMs = error instanceof Waiting ? error.retryAfterMs : 0;
        await delay(Math.max(askedMs, 100 * 2 ** Math.min(attempt, 4)), undefined, signal ? { signal } : {});
      }
    }
  }
}

/** A temporary refusal with `Retry-After`. */
class Waiting extends Refused {
  readonly retryAfterMs: number;
  constructor(status: number, code: string, retryAfterMs: number) {
    super(status, code);
    this.retryAfterMs = retryAfterMs;
  }
}

async function refusal(response: Response): Promise<Refused> {
  const body = (await response.json().catch(() => ({}))) as { code?: string };
  const retryAfter = response.headers.get('retry-after');
  if (retryAfter !== null) return new Waiting(response.status, body.code ?? '', Number(retryAfter) * 1_000);
  return new Refused(response.status, body.code ?? '');
}
