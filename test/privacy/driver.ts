/** Calls of a scenario, recorded so that a test knows which routes it drove, and can send each call in wrong forms. */
import { allPaths } from '../../http/paths.ts';
import type { Route } from '../../http/route.ts';
import { eventually } from '../support/eventually.ts';
import { allRoutes } from '../support/openapi.ts';
import { PathTree } from '../support/path-tree.ts';
import type { CanaryBook, Place } from './canaries.ts';

export interface Sent {
  readonly token?: string;
  readonly json?: unknown;
  readonly bytes?: string | Uint8Array<ArrayBuffer>;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Received {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: the scenario asserts the form of what a server sends.
  readonly body: any;
}

export interface Call extends Sent {
  readonly method: string;
  /** With query, as sent. */
  readonly path: string;
}

export interface RecordedCall extends Call {
  readonly route: Route;
  readonly params: Readonly<Record<string, string>>;
  /** The path without its query. */
  readonly bare: string;
  readonly query: string;
}

/** Routes whose replies show no address to any caller (contract: Session list; runner routes know no people). */
const namelessReplies =
  /^(listSessions|listOwnSessions|followSession|sessionProgress|claimTask|runnerWhoami|debugNode\w*|listTask\w*|getTaskState|listNodeRuns|getNodeRun)$/;

export class Driver {
  readonly book: CanaryBook;
  /** The first good call of each route. */
  readonly recorded = new Map<string, RecordedCall>();
  /** Answers that must hold no canary: refusals, and replies without people. */
  readonly sentOut: Place[] = [];
  readonly #url: () => string;
  readonly #tree = new PathTree<Route>();

  /** @param url where the next call goes */
  constructor(book: CanaryBook, url: () => string) {
    this.book = book;
    this.#url = url;
    for (const route of allRoutes) {
      for (const path of allPaths(route.path, route.aliases ?? [], route.versions ?? 'versioned'))
        this.#tree.add(route.method, path, route);
    }
  }

  /** Routes that no call has driven to a good end. */
  get undriven(): string[] {
    return allRoutes.map(({ id }) => id).filter((id) => !this.recorded.has(id));
  }

  /** A call that must end well: 2xx. One that a busy platform refuses is made again, as its callers do. */
  async good(method: string, path: string, sent: Sent = {}): Promise<Received> {
    const received = await eventually(`${method} ${path}`, async () => {
      const one = await this.send({ method, path, ...sent });
      return one.status !== 503 && one;
    });
    if (received.status >= 300) throw new Error(`${method} ${path}: ${received.status} ${received.text}`);
    return received;
  }

  /** A call that must be refused with one of these. */
  async refused(
    statuses: readonly number[],
    method: string,
    path: string,
    sent: Sent = {},
  ): Promise<Received> {
    const received = await this.send({ method, path, ...sent });
    if (!statuses.includes(received.status))
      throw new Error(`${method} ${path}: ${received.status} instead of ${statuses}: ${received.text}`);
    return received;
  }

  /** Any call; notes what must be searched later. */
  async send(call: Call): Promise<Received> {
    const { method, path, token, json, bytes, headers } = call;
    const body = bytes ?? (json === undefined ? undefined : JSON.stringify(json));
    const response = await fetch(this.#url() + path, {
      method,
      headers: {
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(json === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body }),
      redirect: 'manual',
    });
    const text = await textOfReply(response);
    this.#note(call, response, text);
    const isJson = response.headers.get('content-type')?.startsWith('application/json') === true;
    return {
      status: response.status,
      headers: response.headers,
      text,
      body: isJson && text !== '' ? JSON.parse(text) : undefined,
    };
  }

  #note(call: Call, response: Response, text: string): void {
    const [bare = '', query = ''] = call.path.split('?', 2);
    const match = this.#tree.match(call.method, bare);
    const route = match.found === 'route' ? match.value : undefined;
    const where = `reply ${response.status} of ${route?.id ?? call.path}`;
    // The caller's own request id comes back in X-Request-Id unchanged.
    const headers = [...response.headers].filter(([name]) => name !== 'x-request-id');
    if (response.status >= 400 || namelessReplies.test(route?.id ?? ''))
      this.sentOut.push({ where, text: `${JSON.stringify(headers)}\n${text}` });
    if (response.status >= 300 || match.found !== 'route' || route === undefined) return;
    this.book.addTokensOf(text, `from ${route.id}`);
    if (!this.recorded.has(route.id))
      this.recorded.set(route.id, { ...call, route, params: match.params, bare, query });
  }
}

const followedMs = 300;

/** The whole text; of a stream without an end its first part. */
async function textOfReply(response: Response): Promise<string> {
  if (response.headers.get('content-type')?.startsWith('text/event-stream') !== true) return response.text();
  const reader = response.body?.getReader();
  const timer = setTimeout(() => void reader?.cancel(), followedMs);
  let text = '';
  for (let part = await reader?.read(); part?.done === false; part = await reader?.read())
    text += Buffer.from(part.value).toString('utf8');
  clearTimeout(timer);
  return text;
}
