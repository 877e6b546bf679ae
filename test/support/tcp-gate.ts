/** A TCP address in front of a server, which can be shut: as if the server were away for whoever goes through here. */
import { connect, createServer, type Socket } from 'node:net';
import { afterAll } from 'vitest';

export interface TcpGate {
  /** The server's address as seen through the gate, e.g. `http://127.0.0.1:41234`. */
  readonly url: string;
  /** Breaks all connections and refuses new ones. */
  shut(): void;
  /** Breaks all connections; new ones stand and carry nothing. */
  stall(): void;
  open(): void;
}

/** Gone after the file's last test. */
export async function tcpGate(target: string): Promise<TcpGate> {
  const { hostname, port, protocol } = new URL(target);
  const sockets = new Set<Socket>();
  let state: 'open' | 'shut' | 'stalled' = 'open';
  const track = (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    socket.on('error', () => socket.destroy());
  };
  const server = createServer((inside) => {
    track(inside);
    if (state === 'stalled') return;
    if (state === 'shut') {
      inside.resetAndDestroy();
      return;
    }
    const outside = connect(Number(port), hostname);
    track(outside);
    inside.pipe(outside).pipe(inside);
    inside.once('close', () => outside.destroy());
    outside.once('close', () => inside.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address() as { port: number };
  const turn = (next: typeof state) => {
    state = next;
    for (const socket of sockets) socket.destroy();
  };
  afterAll(() => {
    turn('shut');
    server.close();
  });
  return {
    url: `${protocol}//127.0.0.1:${address.port}`,
    shut: () => turn('shut'),
    stall: () => turn('stalled'),
    open: () => turn('open'),
  };
}
