/** Descriptors and connections of a process, as Linux reports them. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** Descriptors of a process but for the connections that its own pools keep to its servers. */
export function descriptorsOf({ pid, port }: { readonly pid: number; readonly port: number }): number {
  const outgoing = outgoingSockets(port);
  const folder = `/proc/${pid}/fd`;
  return readdirSync(folder).filter((name) => !outgoing.has(linkOf(`${folder}/${name}`))).length;
}

interface TcpRow {
  readonly port: number;
  readonly isListening: boolean;
  /** Established connections that a listening socket has not accepted yet. */
  readonly waiting: number;
  readonly inode: string;
}

function tcpRows(): TcpRow[] {
  const [, ...lines] = readFileSync('/proc/net/tcp', 'latin1').trim().split('\n');
  return lines.map((line) => {
    const [, local = '', , state, queues = '', , , , , inode = ''] = line.trim().split(/\s+/);
    const hex = (text: string) => Number.parseInt(text.split(':')[1] ?? '', 16);
    return { port: hex(local), isListening: state === '0A', waiting: hex(queues), inode };
  });
}

/** Established connections to a port of this machine that are not accepted yet. */
export const unaccepted = (port: number) =>
  tcpRows().find((row) => row.isListening && row.port === port)?.waiting ?? 0;

/** Connections of this machine that do not belong to callers of that port, as descriptors name them. */
const outgoingSockets = (port: number) =>
  new Set(tcpRows().flatMap((row) => (row.port === port ? [] : [`socket:[${row.inode}]`])));

/** Empty when it was closed meanwhile. */
function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}
