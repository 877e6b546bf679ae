/**
 * A TCP proxy in front of a server, which acts as a faulty line. A change of mode holds for open connections
 * as well as for new ones.
 */
import { connect, createServer, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

export type GateMode =
  | { readonly kind: 'pass' }
  /** Connections are broken, new ones are refused by a reset. */
  | { readonly kind: 'shut' }
  /** Connections are broken; new ones open and forward nothing. */
  | { readonly kind: 'stall' }
  /** Nothing is forwarded and nothing is closed: packets are dropped silently. */
  | { readonly kind: 'hold' }
  /** Requests reach the server, answers are dropped; at the next change of mode these connections are broken. */
  | { readonly kind: 'drop-answers' }
  /** A reset in place of the first bytes of an answer, or of the bytes after them. */
  | { readonly kind: 'reset'; readonly afterBytes: number }
  /** Each connection ends when, since the mode was set, it has carried this many bytes in one direction. */
  | { readonly kind: 'cut'; readonly direction: Direction; readonly afterBytes: number }
  | {
      readonly kind: 'slow';
      readonly latencyMs: readonly [number, number];
      readonly bytesPerSecond: number;
    }
  /** The first bytes of each transfer are passed on one by one, each in its own segment. */
  | { readonly kind: 'slice'; readonly bytes: number };

type Direction = 'requests' | 'answers';

export interface Gate {
  /** The server's address as seen through the gate, e.g. `http://127.0.0.1:41234`. */
  readonly url: string;
  readonly port: number;
  readonly mode: GateMode;
  /** Chunks and connections that met a fault. */
  readonly treated: number;
  set(mode: GateMode): void;
  /** New connections go to this address. */
  leadTo(target: string): void;
  close(): Promise<void>;
}

/** @param target the server's address; it may be down */
export async function openGate(target: string): Promise<Gate> {
  const gate = new TcpGate(target);
  await gate.listen();
  return gate;
}

const breaking = new Set(['shut', 'stall']);

class TcpGate implements Gate {
  #target: URL;
  readonly #sockets = new Set<Socket>();
  /** Connections whose answers were dropped, and which cannot be used further. */
  readonly #spoilt = new Set<Socket>();
  readonly #server = createServer((inside) => this.#join(inside));
  #mode: GateMode = { kind: 'pass' };
  #treated = 0;
  /** Replaced at each change of mode, so that waiting transfers check again. */
  #changed = Promise.withResolvers<void>();

  constructor(target: string) {
    this.#target = new URL(target);
  }

  get mode(): GateMode {
    return this.#mode;
  }

  get treated(): number {
    return this.#treated;
  }

  get port(): number {
    return (this.#server.address() as { port: number }).port;
  }

  get url(): string {
    return `${this.#target.protocol}//127.0.0.1:${this.port}`;
  }

  async listen(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
  }

  set(mode: GateMode): void {
    this.#mode = mode;
    for (const socket of breaking.has(mode.kind) ? this.#sockets : this.#spoilt) socket.destroy();
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }

  leadTo(target: string): void {
    this.#target = new URL(target);
  }

  async close(): Promise<void> {
    this.set({ kind: 'shut' });
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #join(inside: Socket): void {
    this.#track(inside);
    if (breaking.has(this.#mode.kind)) this.#treated += 1;
    if (this.#mode.kind === 'stall') return;
    if (this.#mode.kind === 'shut') {
      inside.resetAndDestroy();
      return;
    }
    const outside = connect(Number(this.#target.port), this.#target.hostname);
    this.#track(outside);
    inside.once('close', () => outside.destroy());
    outside.once('close', () => inside.destroy());
    void this.#carry(inside, outside, 'requests').catch(() => inside.destroy());
    void this.#carry(outside, inside, 'answers').catch(() => inside.destroy());
  }

  #track(socket: Socket): void {
    this.#sockets.add(socket);
    socket.setNoDelay(true);
    socket.once('close', () => {
      this.#sockets.delete(socket);
      this.#spoilt.delete(socket);
    });
    socket.on('error', () => socket.destroy());
  }

  async #carry(from: Socket, to: Socket, direction: Direction): Promise<void> {
    let carried = 0;
    let mode = this.#mode;
    for await (const chunk of from as AsyncIterable<Buffer>) {
      if (mode !== this.#mode) carried = 0;
      mode = this.#mode;
      await this.#pass(chunk, { from, to, direction, carried });
      carried += chunk.length;
    }
    await this.#unheld(to);
    to.end();
  }

  async #pass(chunk: Buffer, line: Line): Promise<void> {
    const { to, direction } = line;
    if (this.#mode.kind === 'hold') this.#treated += 1;
    await this.#unheld(to);
    const mode = this.#mode;
    if (treats(mode, chunk, line)) this.#treated += 1;
    switch (mode.kind) {
      case 'drop-answers':
        if (direction === 'requests') return write(to, chunk);
        this.#spoilt.add(to);
        return;
      case 'reset':
        if (direction === 'requests') return write(to, chunk);
        await write(to, chunk.subarray(0, mode.afterBytes));
        to.resetAndDestroy();
        return;
      case 'cut':
        return cut(chunk, mode, line);
      case 'slow':
        await Promise.race([
          delay(between(mode.latencyMs) + (chunk.length * 1_000) / mode.bytesPerSecond),
          this.#changed.promise,
        ]);
        return write(to, chunk);
      case 'slice':
        for (const byte of chunk.subarray(0, mode.bytes)) {
          await write(to, Buffer.of(byte));
          await new Promise(setImmediate);
        }
        return write(to, chunk.subarray(mode.bytes));
      default:
        return write(to, chunk);
    }
  }

  async #unheld(to: Socket): Promise<void> {
    while (this.#mode.kind === 'hold' && !to.destroyed) await this.#changed.promise;
  }
}

interface Line {
  readonly from: Socket;
  readonly to: Socket;
  readonly direction: Direction;
  /** Bytes that went in this direction before, since the mode was set. */
  readonly carried: number;
}

/** Whether the mode does something to the chunk. */
function treats(mode: GateMode, chunk: Buffer, { direction, carried }: Line): boolean {
  if (mode.kind === 'drop-answers' || mode.kind === 'reset') return direction === 'answers';
  if (mode.kind !== 'cut') return mode.kind === 'slow' || mode.kind === 'slice';
  const left = mode.afterBytes - carried;
  return direction === mode.direction && left <= chunk.length;
}

async function cut(chunk: Buffer, mode: GateMode & { kind: 'cut' }, line: Line): Promise<void> {
  const left = Math.max(0, mode.afterBytes - line.carried);
  if (line.direction !== mode.direction || left > chunk.length) return write(line.to, chunk);
  await write(line.to, chunk.subarray(0, left));
  line.to.end();
  line.from.destroy();
}

async function write(to: Socket, chunk: Buffer): Promise<void> {
  if (chunk.length === 0 || to.destroyed) return;
  if (to.write(chunk)) return;
  const drained = Promise.withResolvers<void>();
  to.once('drain', drained.resolve).once('close', drained.resolve);
  await drained.promise;
  to.off('drain', drained.resolve).off('close', drained.resolve);
}

function between([least, most]: readonly [number, number]): number {
  return least + (most - least) * Math.random();
}
