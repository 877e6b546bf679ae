/** A gate for a test file: for its connections the server is down. */
import { afterAll } from 'vitest';
import { openGate } from './gate.ts';

export interface TcpGate {
  /** The server's address as seen through the gate, e.g. `http://127.0.0.1:41234`. */
  readonly url: string;
  /** Breaks all connections and refuses new ones. */
  shut(): void;
  /** Breaks all connections; new ones open and forward nothing. */
  stall(): void;
  open(): void;
}

/** Gone after the file's last test. */
export async function tcpGate(target: string): Promise<TcpGate> {
  const gate = await openGate(target);
  afterAll(() => gate.close());
  return {
    url: gate.url,
    shut: () => gate.set({ kind: 'shut' }),
    stall: () => gate.set({ kind: 'stall' }),
    open: () => gate.set({ kind: 'pass' }),
  };
}
