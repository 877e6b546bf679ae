import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';

/** The ports of the embedded servers, by name. */
export type PortName = 'postgres' | 'temporal' | 'temporalUi' | 's3';

/** True when no process listens on the port at that address. */
export async function isPortFree(port: number): Promise<boolean> {
  return (await listenErrorCode(port, '127.0.0.1')) === undefined;
}

/** Why this process cannot listen there, as the system's code; undefined when it can. */
export function listenErrorCode(port: number, host: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', ({ code }: NodeJS.ErrnoException) => resolve(code ?? 'unknown'));
    server.listen({ port, host, exclusive: true }, () => server.close(() => resolve(undefined)));
  });
}

/** A free port of the system's choosing. Another process may take it before it is used: start again with another. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen({ port: 0, host: '127.0.0.1' }, () => {
      const address = server.address();
      const port = typeof address === 'object' && address !== null ? address.port : 0;
      server.close(() => resolve(port));
    });
  });
}

/** The ports chosen last time, so that a bookmarked address (the Temporal UI) stays valid. */
export function rememberedPorts(dataDir: string): Partial<Record<PortName, number>> {
  try {
    const value: unknown = JSON.parse(readFileSync(join(dataDir, 'ports.json'), 'utf8'));
    if (typeof value !== 'object' || value === null) return {};
    return Object.fromEntries(
      Object.entries(value).filter(([, port]) => Number.isInteger(port) && port > 0 && port < 65_536),
    );
  } catch {
    return {};
  }
}

/** Saves the ports for the next start. */
export function rememberPorts(dataDir: string, ports: Partial<Record<PortName, number>>): void {
  writeFileSync(
    join(dataDir, 'ports.json'),
    `${JSON.stringify({ ...rememberedPorts(dataDir), ...ports })}\n`,
  );
}

/** True for an address that only this machine reaches. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127\./.test(host);
}

/** The address by which this machine reaches a server that listens there. */
export function localAddress(host: string, port: number): string {
  const isEvery = host === '0.0.0.0' || host === '::' || host === '';
  const named = host.includes(':') ? `[${host}]` : host;
  return `http://${isEvery ? '127.0.0.1' : named}:${port}`;
}
