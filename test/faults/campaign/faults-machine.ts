/** Faults of the machine: packets, disks, clocks, limits. */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type FaultContext, type FaultKind, type Heal, inTurn } from './fault.ts';
import { gateOf, type Line, lines } from './faults-wire.ts';
import type { CampaignPlatform, Disk } from './platform.ts';

const table = `sdp_campaign_${process.pid}`;

function canFilter(): boolean {
  const probe = `${table}_probe`;
  const made = spawnSync('nft', ['add', 'table', 'inet', probe]).status === 0;
  if (made) spawnSync('nft', ['delete', 'table', 'inet', probe]);
  return made;
}

/** Where the machine lets us not drop packets, the gate holds what comes: then the kernel still acknowledges it. */
export const halfOpen: FaultKind = {
  number: 12,
  name: 'half-open connections: packets are dropped',
  async inject(context) {
    const { platform, random } = context;
    const line = inTurn(lines, context);
    if (!canFilter()) {
      const gate = await gateOf(context, line);
      gate.set({ kind: 'hold' });
      return () => gate.set({ kind: 'pass' });
    }
    const port = portOf(platform, line, random.whole(0, platform.of('API').length - 1));
    const rules = [
      `table inet ${table} {\nchain out {\ntype filter hook output priority 0`,
      `tcp dport ${port} drop\ntcp sport ${port} drop\n}\n}\n`,
    ].join('\n');
    execFileSync('nft', ['-f', '-'], { input: rules });
    return () => void execFileSync('nft', ['delete', 'table', 'inet', table]);
  },
};

function portOf(platform: CampaignPlatform, line: Line, api: number): number {
  if (line === 'API') return platform.of('API')[api]!.port;
  const { DATABASE_URL, S3_ENDPOINT, TEMPORAL_ADDRESS } = platform.stack.environment;
  const addresses = {
    database: DATABASE_URL,
    objectStore: S3_ENDPOINT,
    temporal: `http://${TEMPORAL_ADDRESS}`,
  };
  return Number(new URL(addresses[line]!).port);
}

export const diskFull: FaultKind = {
  number: 13,
  name: 'disk full: database, objects, staging',
  unavailable: (platform) =>
    platform.disks === undefined ? 'file systems cannot be mounted here' : undefined,
  async inject(context) {
    const folder = context.platform.disks!.get(inTurn<Disk>(['postgres', 'objects', 'temp'], context))!;
    const files = fill(folder);
    return () => {
      for (const file of files) rmSync(file, { force: true });
    };
  },
};

/** What is written meanwhile takes part of it, so the rest is filled in ever smaller files. */
function fill(folder: string): string[] {
  const files: string[] = [];
  for (let tries = 0; tries < 10; tries++) {
    const { bavail, bsize } = statfsSync(folder);
    if (bavail === 0) break;
    const file = join(folder, `full-${tries}`);
    files.push(file);
    spawnSync('fallocate', ['-l', String(bavail * bsize), file]);
  }
  return files;
}

const libraries = ['/usr/lib', '/usr/local/lib'];

function clockLibrary(): string | undefined {
  for (const folder of libraries)
    for (const name of existsSync(folder) ? readdirSync(folder) : []) {
      const file = join(folder, name, 'faketime', 'libfaketime.so.1');
      if (existsSync(file)) return file;
    }
  return undefined;
}

const steps = ['+600s', '-600s', '+3600s', '-3600s'];

export const clock: FaultKind = {
  number: 14,
  name: 'clock of a process steps by minutes and hours, there and back',
  unavailable: () => (clockLibrary() === undefined ? 'libfaketime is not installed' : undefined),
  async inject({ platform, random, holdMs, size }) {
    const slot = random.oneOf([...platform.of('API'), ...platform.of('worker')]);
    const file = join(platform.dataDir, 'clock');
    writeFileSync(file, '+0\n');
    await slot.restart({
      LD_PRELOAD: clockLibrary()!,
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_CACHE_DURATION: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
    });
    const step = () => writeFileSync(file, `${random.oneOf(steps)}\n`);
    step();
    const stepping = setInterval(step, Math.max(1_000, holdMs / 3));
    return async () => {
      clearInterval(stepping);
      writeFileSync(file, '+0\n');
      // A start takes seconds, which the suite has not.
      if (size === 'full') await slot.restart();
    };
  },
};

/** A limit on processes does not bind the superuser, so it is left out. */
const resourceFaults: ReadonlyArray<(context: FaultContext) => Promise<Heal>> = [
  async ({ platform, random }) => {
    const slot = random.oneOf(platform.slots);
    const limit = (files: string) =>
      void spawnSync('prlimit', ['--pid', String(slot.pid), `--nofile=${files}:`]);
    limit('64');
    return () => limit('4096');
  },
  async ({ platform, random }) => {
    const slot = random.oneOf(platform.slots);
    await slot.restart({ NODE_OPTIONS: '--max-old-space-size=128' });
    return () => slot.restart();
  },
];

export const resources: FaultKind = {
  number: 15,
  name: '64 file descriptors, a heap of 128 MB',
  inject: (context) => inTurn(resourceFaults, context)(context),
};
