/**
 * A server that implements the runner contract over a world in memory, and injects faults into calls. It is the test
 * double for runners: `ContractServer.start(...)`, then point the runner at `url` with `token`.
 */
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { type Fault, Faults } from './faults.ts';
import { type Call, handedOut, Journal, readingRoutes } from './journal.ts';
import { codeOf, collect, cutBody, type Found, faultReply, newCall, readLeniently } from './messages.ts';
import { bodyLimits, Refusal, refusalBody, tooLarge } from './refusal.ts';
import { type Reply, routes } from './routes.ts';
import { World, type WorldOptions } from './world.ts';

export interface ServerOptions extends WorldOptions {
  /** Default 0: a free one. */
  readonly port?: number;
  /** Default: a new one. */
  readonly token?: string;
}

export class ContractServer {
  readonly world: World;
  readonly faults = new Faults();
  readonly journal = new Journal();
  readonly token: string;
  readonly #server: Server;
  #isRevoked = false;

  private constructor(options: ServerOptions) {
    this.token = options.token ?? `hrt_conformance_${randomBytes(12).toString('hex')}`;
    this.world = new World(options);
    this.#server = createServer({ requestTimeout: 0, keepAliveTimeout: 60_000 });
    this.#server.on('request', (request, response) => void this.#serve(request, response));
  }

  /** Listens on the loopback. */
  static async start(options: ServerOptions): Promise<ContractServer> {
    const server = new ContractServer(options);
    await new Promise<void>((resolve, reject) => {
      server.#server.once('error', reject);
      server.#server.listen({ port: options.port ?? 0, host: '127.0.0.1' }, resolve);
    });
    return server;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** From now on every call gets 401. */
  revokeToken(): void {
    this.#isRevoked = true;
    this.world.changed();
  }

  async close(): Promise<void> {
    this.world.close();
    await new Promise((resolve) => {
      this.#server.close(resolve);
      this.#server.closeAllConnections();
    });
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (this.journal.isFull) return void request.socket.destroy();
    const target = new URL(request.url ?? '/', 'http://local');
    const found = find(request.method ?? 'GET', target.pathname);
    const call = newCall(request, found);
    this.journal.add(call);
    const given = request.headers['x-request-id'];
    const isFit = typeof given === 'string' && /^[A-Za-z0-9._-]{1,128}$/.test(given);
    response.setHeader('x-request-id', isFit ? given : randomUUID());
    const hangUp = new AbortController();
    response.once('close', () => {
      if (!response.writableFinished) {
        call.goneAtMs = performance.now();
        hangUp.abort();
      }
      this.world.changed();
    });
    this.world.changed();
    try {
      await this.#answer(request, response, call, found, target, hangUp.signal);
    } catch {
      // The caller is gone, or aborted its own request: no answer is possible.
      request.socket.destroy();
    }
  }

  async #answer(
    request: IncomingMessage,
    response: ServerResponse,
    call: Call,
    found: Found,
    target: URL,
    signal: AbortSignal,
  ): Promise<void> {
    const arrival = this.faults.take('arrival', call);
    if (arrival.some(({ kind }) => kind === 'reset')) return void request.socket.resetAndDestroy();
    if (arrival.length > 0) return await cutBody(request);
    const body = await collect(request, found.route === undefined ? 0 : bodyLimits[found.route.body]);
    call.bodyAtMs = performance.now();
    call.bodyBytes = body?.length ?? 0;
    call.bodySha256 = createHash('sha256')
      .update(body ?? '')
      .digest('hex');
    if (found.route?.body === 'json') call.json = readLeniently(body);
    if (call.route === 'claim') call.released = this.#heldByInstanceOf(call);
    const effects = this.faults.take('effect', call);
    const reply = await this.#reply(call, found, target, body, effects, signal);
    call.status = reply.status;
    call.reply = reply.json;
    if (reply.status >= 400) Object.assign(call, codeOf(reply.json), { released: undefined });
    for (const fault of effects) if (fault.kind === 'delay') await delay(fault.ms);
    const losses = this.faults.take('answer', call);
    await this.#send(request, response, call, reply, losses);
  }

  /** The task that a claim makes its instance release, if the instance had received it. */
  #heldByInstanceOf(call: Call): string | undefined {
    const instanceId = (call.json as { readonly instanceId?: unknown } | undefined)?.instanceId;
    const held = typeof instanceId === 'string' ? this.world.desk.heldBy(instanceId) : undefined;
    if (held === undefined) return undefined;
    const claimed = this.journal.calls.some(
      (each) => each.answeredAtMs !== undefined && handedOut(each) === held.taskId,
    );
    return claimed ? held.taskId : undefined;
  }

  async #reply(
    call: Call,
    found: Found,
    target: URL,
    body: Buffer | undefined,
    effects: readonly Fault[],
    signal: AbortSignal,
  ): Promise<Reply> {
    const holds = effects.filter((fault) => fault.kind === 'hold').map(({ until }) => until);
    // Reads are answered from the state at their arrival.
    const isRead = readingRoutes.has(call.route);
    if (!isRead) await Promise.all(holds);
    for (const fault of effects) if (fault.kind === 'meanwhile') fault.act(call);
    const instead = effects.find((fault) => fault.kind === 'answer');
    const reply =
      instead === undefined
        ? await this.#compute(call, found, target, body, signal)
        : faultReply(instead.status, instead.code, instead.retryAfterSeconds);
    if (isRead) await Promise.all(holds);
    return reply;
  }

  async #compute(
    call: Call,
    { route, params, methods }: Found,
    target: URL,
    body: Buffer | undefined,
    signal: AbortSignal,
  ): Promise<Reply> {
    try {
      if (methods.length === 0) throw new Refusal('notFound');
      if (route === undefined)
        throw new Refusal('methodNotAllowed', { headers: { allow: methods.join(', ') } });
      const bearer = /^bearer +(\S+)$/i.exec(call.headers.authorization?.trim() ?? '')?.[1];
      if (bearer !== this.token || this.#isRevoked) throw new Refusal('unauthorized');
      if (body === undefined) throw tooLarge(route.body);
      const query = Object.fromEntries([...target.searchParams].reverse());
      return await route.reply({ world: this.world, params, query, headers: call.headers, body, signal });
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      return { status: error.status, json: refusalBody(error), headers: error.headers };
    }
  }

  async #send(
    request: IncomingMessage,
    response: ServerResponse,
    call: Call,
    reply: Reply,
    losses: readonly Fault[],
  ): Promise<void> {
    const loss = losses.find((fault) => fault.kind === 'lose-answer');
    const isGone = response.destroyed || request.socket.destroyed;
    if (loss !== undefined || isGone) {
      if (reply.claim !== undefined && !(loss?.unseen ?? false)) this.world.desk.undo(reply.claim);
      request.socket.destroy();
      return this.world.changed();
    }
    const bytes =
      reply.bytes ?? (reply.json === undefined ? undefined : Buffer.from(JSON.stringify(reply.json)));
    const type =
      reply.bytes === undefined && bytes !== undefined
        ? { 'content-type': 'application/json; charset=utf-8' }
        : {};
    const length = reply.bytes === undefined ? { 'content-length': String(bytes?.length ?? 0) } : {};
    const isCut = losses.some(({ kind }) => kind === 'cut-answer');
    response.writeHead(reply.status, {
      ...type,
      ...(reply.status === 204 ? {} : length),
      ...reply.headers,
    });
    if (isCut) {
      response.write(bytes?.subarray(0, Math.floor(bytes.length / 2)) ?? '', () => request.socket.destroy());
      return;
    }
    await new Promise<void>((resolve) => {
      response.once('finish', () => {
        call.answeredAtMs = performance.now();
      });
      response.once('close', resolve);
      response.once('finish', resolve);
      response.end(bytes);
    });
    if (call.answeredAtMs === undefined && reply.claim !== undefined) this.world.desk.undo(reply.claim);
    this.world.changed();
  }
}

function find(method: string, path: string): Found {
  const matching = routes.flatMap((route) => {
    const match = route.pattern.exec(path);
    return match === null ? [] : [{ route, params: { ...match.groups } }];
  });
  const hit = matching.find(({ route }) => route.method === method);
  return {
    route: hit?.route,
    params: hit?.params ?? matching[0]?.params ?? {},
    methods: matching.map(({ route }) => route.method),
  };
}
