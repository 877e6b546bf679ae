/** Ports of this machine in place of those that containers have for themselves. */
import { randomInt } from 'node:crypto';
import { isPortFree } from '../../local/ports.ts';

const portNames = [
  'postgres',
  'temporal',
  's3',
  'proxy',
  'proxyTls',
  'proxyInside',
  'api-1',
  'api-2',
  // The ports of their metrics; these serve nothing else.
  'worker-1',
  'worker-2',
  'worker-3',
  'builtin-worker-1',
  'builtin-worker-2',
  'runner-host-1',
  'runner-host-2',
  'history',
  'matching',
  'worker',
  'http',
  'member1',
  'member2',
  'member3',
  'member4',
] as const;
export type Ports = Readonly<Record<(typeof portNames)[number], number>>;

export async function findPorts(): Promise<Ports> {
  const found: number[] = [];
  while (found.length < portNames.length) {
    // Temporal writes its ports down as 16 bits with a sign; the ports that the system chooses are above that.
    const port = randomInt(20_000, 32_767);
    if (!found.includes(port) && (await isPortFree(port))) found.push(port);
  }
  return Object.fromEntries(portNames.map((name, at) => [name, found[at]])) as Ports;
}

/** Port of one container of a service that several may run of. @throws when there is none for it */
export function portOf(ports: Ports, service: string, replica: number): number {
  const port = (ports as Readonly<Record<string, number>>)[`${service}-${replica}`];
  if (port === undefined) throw new Error(`There is no port for ${service}-${replica}.`);
  return port;
}
