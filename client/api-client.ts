/**
 * Calls of the platform's routes by `fetch`, in a browser or in Node, with the interface's types for requests and
 * replies.
 */
import type { CreatingRoute } from './creating-routes.ts';
import { Creations, isCreating } from './creations.ts';
import { NetworkError, refusalOf, unanswered } from './errors.ts';
import type { Routes } from './types.ts';

export type RouteName = keyof Routes;
export type Reply<Name extends RouteName> = Routes[Name]['reply'];
export type Query<Name extends RouteName> = Routes[Name] extends { query?: infer Fields }
  ? NonNullable<Fields>
  : never;

type Parameter<Name extends string> = Name extends `${string}{${infer Own}}${infer Rest}`
  ? Own | Parameter<Rest>
  : never;
type Parameters<Name extends string> = [Parameter<Name>] extends [never]
  ? unknown
  : { readonly params: Readonly<Record<Parameter<Name>, string | number>> };
type QueryPart<Name extends RouteName> = Pick<Routes[Name], Extract<keyof Routes[Name], 'query'>>;
type BodyPart<Name extends RouteName> = Pick<Routes[Name], Extract<keyof Routes[Name], 'body'>>;

interface CallOptions {
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Called with the headers of the reply of `call`. */
  readonly onHeaders?: (headers: Headers) => void;
  /** `manual`: `open` also returns an answer that names another address. In Node alone; browsers hide the address. */
  readonly redirect?: 'manual';
}

/** The text of a JSON document, for example of a file, in place of a body. */
interface Document {
  readonly document: string;
}

/** The options of a call: parameters of the path, query, body, headers, signal. */
type Options<Name extends RouteName> = CallOptions &
  Parameters<Name> &
  QueryPart<Name> &
  (BodyPart<Name> | Document);
type Arguments<Name extends RouteName> =
  object extends Options<Name> ? [options?: Options<Name>] : [options: Options<Name>];

interface AnyOptions extends CallOptions {
  readonly params?: Readonly<Record<string, string | number>>;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
  readonly document?: string;
}

/** The token to send. */
export interface Bearer {
  /** The present token; null or undefined sends none. */
  token(): string | null | undefined | Promise<string | null>;
  /** Tries to get another one after a 401 to `refused`, where that is known; true when there is one. */
  renew?(refused?: string | null): Promise<boolean>;
}

export interface ClientSettings {
  /** Base address, for example `http://127.0.0.1:8080`; empty in a page that the platform serves. */
  readonly address: string;
  readonly bearer: Bearer;
  /** Options of every request. */
  readonly init?: RequestInit;
  /** Called when a call is refused to a token that may not make it: the caller's rights may be others by now. */
  readonly onForbidden?: () => void;
  /** Longest duration of a call, its reply included; without it a call may take any time. */
  readonly deadlineMs?: number;
}

/** Longest duration of a try of a creating call, where none is set: then it is repeated. */
const creatingDeadlineMs = 60_000;

export class ApiClient {
  readonly address: string;
  /** For creating calls that are not made by `call`. */
  readonly creations = new Creations();
  readonly #settings: ClientSettings;

  constructor(settings: ClientSettings) {
    this.address = settings.address.replace(/\/+$/, '');
    this.#settings = settings;
  }

  /**
   * A call with its reply read as JSON. The form of the reply is the interface's promise; it is not checked again. A
   * call that creates is repeated while its answer is lost, and makes one thing.
   * @throws ApiError for every answer outside 200 to 299, and for one that is no JSON; NetworkError when none came
   */
  async call<Name extends RouteName>(name: Name, ...args: Arguments<Name>): Promise<Reply<Name>> {
    const options: AnyOptions = args[0] ?? {};
    const { deadlineMs } = this.#settings;
    if (!isCreating(name)) return await this.#read(name, options, deadlineMs);
    const { params, query, body, document, signal } = options;
    return await this.creations.make(
      JSON.stringify([name, params, query, body, document]),
      (headers) => {
        const keyed = { ...options, headers: { ...options.headers, ...headers } };
        return this.#read(name, keyed, deadlineMs ?? creatingDeadlineMs);
      },
      signal,
    );
  }

  async #read<Name extends RouteName>(
    name: Name,
    given: AnyOptions,
    deadlineMs: number | undefined,
  ): Promise<Reply<Name>> {
    const deadline = deadlineMs === undefined ? undefined : AbortSignal.timeout(deadlineMs);
    // A caller that may abort has the deadline, too.
    const signal =
      deadline && given.signal ? AbortSignal.any([deadline, given.signal]) : (deadline ?? given.signal);
    const response = await this.#open(name, { ...given, signal });
    given.onHeaders?.(response.headers);
    const text = await this.#text(response, signal);
    if (text === '') return undefined;
    try {
      return JSON.parse(text);
    } catch {
      throw refusalOf({ ...partsOf(response), text });
    }
  }

  /**
   * A call whose reply the caller reads: bytes, events, or only headers.
   * @throws ApiError for every answer outside 200 to 299; NetworkError when none came
   */
  open<Name extends Exclude<RouteName, CreatingRoute>>(
    name: Name,
    ...args: Arguments<Name>
  ): Promise<Response> {
    return this.#open(name, args[0] ?? {});
  }

  /** The headers that every request has. */
  async authorization(): Promise<Record<string, string>> {
    return authorizationOf(await this.#settings.bearer.token());
  }

  /** Gets another token after a 401 to `refused`, where that is known; true when there is one. */
  async renew(refused?: string | null): Promise<boolean> {
    return (await this.#settings.bearer.renew?.(refused)) === true;
  }

  async #open(name: string, options: AnyOptions): Promise<Response> {
    const { bearer } = this.#settings;
    const token = await bearer.token();
    let response = await this.#fetch(name, options, token);
    if (response.status === 401 && (await this.renew(token))) {
      await response.body?.cancel();
      response = await this.#fetch(name, options, await bearer.token());
    }
    const isRedirect = response.status >= 300 && response.status < 400;
    if (response.ok || (isRedirect && options.redirect === 'manual')) return response;
    if (response.status === 403) this.#settings.onForbidden?.();
    throw refusalOf({ ...partsOf(response), text: await response.text().catch(() => '') });
  }

  async #fetch(
    name: string,
    { headers, signal, redirect, body, document, ...place }: AnyOptions,
    token: string | null | undefined,
  ): Promise<Response> {
    const [method, path = ''] = name.split(' ');
    const text = document ?? (body === undefined ? undefined : JSON.stringify(body));
    const { init } = this.#settings;
    try {
      return await fetch(this.address + filled(path, place), {
        ...init,
        method: method!,
        headers: {
          ...(init?.headers as Record<string, string> | undefined),
          ...authorizationOf(token),
          ...(text === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(text === undefined ? {} : { body: text }),
        ...(signal === undefined ? {} : { signal }),
        ...(redirect === undefined ? {} : { redirect }),
      });
    } catch (cause) {
      throwIfAborted(signal);
      throw unanswered(this.address || 'The platform', cause);
    }
  }

  async #text(response: Response, signal: AbortSignal | undefined): Promise<string> {
    try {
      return await response.text();
    } catch (cause) {
      throwIfAborted(signal);
      throw new NetworkError(`The connection to ${this.address || 'the platform'} broke.`, { cause });
    }
  }
}

function authorizationOf(token: string | null | undefined): Record<string, string> {
  return token === null || token === undefined ? {} : { authorization: `Bearer ${token}` };
}

/** The path of a route with its parameters and query. Fields of the query that are undefined are left out. */
export function filled(path: string, { params = {}, query = {} }: Pick<AnyOptions, 'params' | 'query'>) {
  const place = path.replaceAll(/\{(\w+)\}/g, (_, name) => encodeURIComponent(String(params[name])));
  const given = Object.entries(query).filter(([, value]) => value !== undefined);
  if (given.length === 0) return place;
  return `${place}?${new URLSearchParams(given.map(([name, value]): [string, string] => [name, String(value)]))}`;
}

/** A deadline counts as a fault of the connection, not as an abort by the caller. */
function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted && signal.reason?.name !== 'TimeoutError') throw signal.reason;
}

const partsOf = ({ status, headers }: Response) => ({ status, header: (name: string) => headers.get(name) });
