/** Hostile callers of one API process, wave after wave, with an ordinary caller beside them. */
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { limits } from '../../../domain/limits.ts';
import { ask } from '../../support/api.ts';
import { eventually } from '../../support/eventually.ts';
import type { ApiProcess } from '../../support/processes.ts';
import { descriptorsOf, unaccepted } from '../descriptors.ts';
import type { HeldMemory } from './memory-probe.ts';

export interface SoakSizes {
  readonly hungUp: number;
  readonly idleReaders: number;
  readonly halfOpen: number;
  /** Bodies are cut at each of these distances. */
  readonly cutEveryBytes: number;
  /** Half-open connections are left to the server; else they are reset when all are there. */
  readonly awaitsServer: boolean;
}

export interface SoakWorld {
  readonly api: ApiProcess;
  readonly token: string;
  /** The token of another person: others must not use up a caller's share of the process. */
  readonly besideToken: string;
  readonly sessionId: string;
  readonly inputNode: number;
  /** An output that is larger than the buffers between the process and a reader. */
  readonly largeOutput: number;
  /** Lets the process collect its garbage, and returns what it still holds. */
  settle(): Promise<HeldMemory>;
}

export interface SoakRow {
  readonly wave: string;
  readonly calls: number;
  /** How many were answered with each status, and how many with nothing. */
  readonly answers: Readonly<Record<string, number>>;
  readonly seconds: number;
  /** Requests of the caller beside, and the slowest of them. */
  readonly served: number;
  /** Calls of the same caller, by the status of the answer. */
  readonly unserved: Readonly<Record<string, number>>;
  readonly slowestMs: number;
  /** In MiB, after garbage collection: the heap with its external memory, and the process's whole size. */
  readonly held: number;
  readonly resident: number;
  readonly descriptors: number;
}

const callersAtOnce = 100;

export const mebibytes = (bytes: number) => Math.round((bytes / 1024 ** 2) * 10) / 10;

function tally(statuses: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const status of statuses) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

export class ApiSoak {
  readonly #world: SoakWorld;
  readonly #sizes: SoakSizes;
  readonly rows: SoakRow[] = [];
  #quietDescriptors = 0;

  constructor(world: SoakWorld, sizes: SoakSizes) {
    this.#world = world;
    this.#sizes = sizes;
  }

  async run(): Promise<void> {
    const { hungUp, idleReaders, halfOpen } = this.#sizes;
    await this.#wave('event requests that hang up', hungUp, () => this.#hangUps(hungUp));
    await this.#wave('readers that take nothing', idleReaders, () => this.#idleReaders(idleReaders));
    await this.#wave('half-open connections', halfOpen, () => this.#halfOpen(halfOpen));
    const bodies = this.#cutBodies();
    await this.#wave('requests cut at every edge', bodies.length, () => this.#sendAll(bodies));
    const heads = this.#headsAtLimits();
    await this.#wave('heads at every limit', heads.length, () => this.#sendAll(heads));
  }

  get descriptors(): number {
    return descriptorsOf(this.#world.api);
  }

  /** A small request of the ordinary caller: its status, `none` without an answer, and its milliseconds. */
  async request(): Promise<{ readonly status: string; readonly ms: number }> {
    const startedAt = performance.now();
    const { api, besideToken: token } = this.#world;
    const answer = await ask(api.url, 'GET', '/projects', { token }).catch(() => undefined);
    return { status: String(answer?.status ?? 'none'), ms: performance.now() - startedAt };
  }

  async #wave(wave: string, calls: number, send: () => Promise<readonly Answered[]>): Promise<void> {
    this.#quietDescriptors = this.descriptors;
    const startedAt = performance.now();
    let isOver = false;
    const times: number[] = [];
    const unserved: string[] = [];
    const beside = (async () => {
      while (!isOver) {
        const { status, ms } = await this.request();
        if (status === '200') times.push(ms);
        else unserved.push(status);
        await delay(100);
      }
    })();
    const answered = await send().finally(() => {
      isOver = true;
    });
    await beside;
    const seconds = (performance.now() - startedAt) / 1000;
    await eventually('all are released', () => this.descriptors <= this.#quietDescriptors + 10, 100_000);
    const memory = await this.#world.settle();
    this.rows.push({
      ...{ wave, calls, answers: tally(answered.map(({ status }) => status)) },
      ...{ seconds: Math.round(seconds * 10) / 10, served: times.length, unserved: tally(unserved) },
      slowestMs: Math.round(Math.max(...times)),
      ...{ held: mebibytes(memory.heapUsed + memory.external), resident: mebibytes(memory.rss) },
      descriptors: this.descriptors,
    });
  }

  #head(method: string, path: string, headers = ''): string {
    return `${method} ${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${this.#world.token}\r\n${headers}`;
  }

  get #events(): string {
    const { sessionId } = this.#world;
    return `${this.#head('GET', `/api/v2/sessions/${sessionId}/events`, 'last-event-id: 0-0\r\n')}\r\n`;
  }

  /** From before the head is read to after events have come. */
  #hangUps(count: number): Promise<Answered[]> {
    return this.#many(count, async (at) => {
      const caller = await Caller.of(this.#world.api.port);
      caller.socket.write(this.#events);
      await delay(at % 40);
      caller.socket.resetAndDestroy();
      return caller.answered();
    });
  }

  async #idleReaders(count: number): Promise<Answered[]> {
    const path = `/api/v2/node-instance/outputs/${this.#world.largeOutput}/data`;
    const requests = [this.#events, `${this.#head('GET', path)}\r\n`];
    const callers = await this.#many(count, async (at) => {
      const caller = await Caller.of(this.#world.api.port);
      caller.socket.pause();
      caller.socket.write(requests[at % 2]!);
      return caller;
    });
    // Events that fit into the buffers are delivered even to a reader that reads nothing: it would never be cut.
    return await this.#release(callers, false);
  }

  async #halfOpen(count: number): Promise<Answered[]> {
    const callers = await this.#many(count, async (at) => {
      const caller = await Caller.of(this.#world.api.port);
      if (at % 2 === 0) caller.socket.write(this.#head('GET', '/projects').slice(0, 40));
      return caller;
    });
    return await this.#release(callers, this.#sizes.awaitsServer);
  }

  /** Waits for the server to end them, or ends them. */
  async #release(callers: readonly Caller[], awaitsServer: boolean): Promise<Answered[]> {
    // A busy process accepts them late, and may have ended the first before it accepts the last.
    await eventually('all are accepted', () => unaccepted(this.#world.api.port) === 0);
    // Their requests are begun before later requests are answered.
    await this.request();
    if (!awaitsServer) for (const { socket } of callers) socket.resetAndDestroy();
    // A paused socket does not notice its end; the process's own descriptors show it.
    else
      await eventually(
        'the server has ended them',
        () => this.descriptors <= this.#quietDescriptors + 10,
        150_000,
      );
    for (const { socket } of callers) socket.resume();
    return await Promise.all(callers.map((caller) => caller.answered()));
  }

  /** Whole requests of three kinds, each cut after any of its bytes, by an end or by a reset. */
  #cutBodies(): Sent[] {
    const upload = `/api/v2/node-instance/${this.#world.inputNode}/outputs/data`;
    const body = 'time,speed\n0,1\n1,2\n'.repeat(4);
    const json = JSON.stringify({ ProjectId: 1, SessionTemplateId: 1, Metadata: { lap: 1 } });
    const whole = [
      `${this.#head('POST', upload, `content-length: ${body.length}\r\n`)}\r\n${body}`,
      `${this.#head('POST', upload, 'transfer-encoding: chunked\r\n')}\r\n${chunked(body)}`,
      `${this.#head('POST', '/session', `content-type: application/json\r\ncontent-length: ${json.length}\r\n`)}\r\n${json}`,
    ];
    return whole.flatMap((text) => {
      const cuts = Array.from({ length: Math.floor(text.length / this.#sizes.cutEveryBytes) });
      return cuts.flatMap((_, index) => {
        const bytes = text.slice(0, (index + 1) * this.#sizes.cutEveryBytes - 1);
        return [
          { bytes, end: 'end' as const },
          { bytes, end: 'reset' as const },
        ];
      });
    });
  }

  /** Below, at and above each limit of a head. */
  #headsAtLimits(): Sent[] {
    const around = (limit: number) => [limit - 1, limit, limit + 1];
    const heads = [
      ...around(limits.headerBytes - 300).map((count) => `x: ${'y'.repeat(count)}\r\n`),
      ...around(limits.headerBytes * 2).map((count) => `x: ${'y'.repeat(count)}\r\n`),
      ...around(limits.headerFields - 2).map((count) => 'x: y\r\n'.repeat(count)),
      ...around(2_000).map((count) => 'x: y\r\n'.repeat(count)),
      ...around(limits.requestIdCharacters).map((count) => `x-request-id: ${'a'.repeat(count)}\r\n`),
      ...['x y: z\r\n', ': z\r\n', 'x: \0\r\n', 'host: y\r\n', 'content-length: -1\r\n', 'x: y\r\n z\r\n'],
      ...['content-length: 1\r\ntransfer-encoding: chunked\r\n', 'transfer-encoding: gzip\r\n'],
      'expect: nothing\r\n',
    ].map((headers) => `${this.#head('GET', '/projects', headers)}connection: close\r\n\r\n`);
    const targets = around(limits.headerBytes).map((count) => `/${'a'.repeat(count)}`);
    const others = [...targets, '*', 'http://x/projects', '//', '/%', '/projects?'.padEnd(9_000, 'a=b&')];
    return [
      ...heads,
      ...others.map((target) => `${this.#head('GET', target)}connection: close\r\n\r\n`),
    ].flatMap((bytes) => Array.from({ length: 5 }, () => ({ bytes, end: 'wait' as const })));
  }

  #sendAll(all: readonly Sent[]): Promise<Answered[]> {
    return this.#many(all.length, async (at) => {
      const { bytes, end } = all[at]!;
      const caller = await Caller.of(this.#world.api.port);
      caller.socket.write(bytes);
      if (end === 'end') caller.socket.end();
      if (end === 'reset') setTimeout(() => caller.socket.resetAndDestroy(), at % 20);
      return await caller.answered();
    });
  }

  async #many<T>(count: number, work: (at: number) => Promise<T>): Promise<T[]> {
    const results: T[] = [];
    const all = Array.from({ length: count }).keys();
    const lane = async () => {
      for (const at of all) results.push(await work(at));
    };
    await Promise.all(Array.from({ length: callersAtOnce }, lane));
    return results;
  }
}

interface Sent {
  readonly bytes: string;
  readonly end: 'end' | 'reset' | 'wait';
}

interface Answered {
  /** The status of the first answer; `none` without one. */
  readonly status: string;
}

class Caller {
  readonly socket: Socket;
  readonly #answered: Promise<Answered>;

  private constructor(socket: Socket) {
    this.socket = socket;
    let head = '';
    socket.on('data', (bytes: Buffer) => {
      if (head.length < 12) head += bytes.toString('latin1', 0, 12);
    });
    this.#answered = new Promise((resolve) => {
      socket.once('close', () => resolve({ status: /^HTTP\/1\.1 (\d{3})/.exec(head)?.[1] ?? 'none' }));
    });
  }

  static async of(port: number): Promise<Caller> {
    const socket = connect(port, '127.0.0.1').on('error', () => undefined);
    await new Promise((resolve) => socket.once('connect', resolve).once('close', resolve));
    return new Caller(socket);
  }

  /** When the connection is over. */
  answered(): Promise<Answered> {
    return this.socket.closed ? Promise.resolve({ status: 'none' }) : this.#answered;
  }
}

function chunked(text: string): string {
  const half = Math.floor(text.length / 2);
  const pieces = [text.slice(0, half), text.slice(half), ''];
  return pieces.map((piece) => `${piece.length.toString(16)}\r\n${piece}\r\n`).join('');
}
