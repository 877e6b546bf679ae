/** Packets of a TCP port that are lost, as on a line that was cut: by nftables, which needs a privileged user. */
import { execFileSync, spawnSync } from 'node:child_process';

const tableOf = (name: string) => `sdp_${name}_${process.pid}`;

export function canDropPackets(): boolean {
  const probe = tableOf('probe');
  const made = spawnSync('nft', ['add', 'table', 'inet', probe]).status === 0;
  if (made) spawnSync('nft', ['delete', 'table', 'inet', probe]);
  return made;
}

/** @param name of the rules, different for those that hold at the same time */
export function dropPackets(name: string, port: number): { heal: () => void; isFelt: () => boolean } {
  const table = tableOf(name);
  const rules = [
    `table inet ${table} {\nchain out {\ntype filter hook output priority 0`,
    `tcp dport ${port} counter drop\ntcp sport ${port} counter drop\n}\n}\n`,
  ].join('\n');
  execFileSync('nft', ['-f', '-'], { input: rules });
  return {
    heal: () => void execFileSync('nft', ['delete', 'table', 'inet', table]),
    isFelt: () => /packets [1-9]/.test(String(execFileSync('nft', ['list', 'table', 'inet', table]))),
  };
}
