/** Faults of the machine: packets, disks, clocks, limits. */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { canDropPackets, dropPackets } from '../../support/network/drop-packets.ts';
import { type Fault, type FaultContext, type FaultKind, inTurn } from './fault.ts';
import { gateOf, type Line, lines, throughGate } from './faults-wire.ts';
import type { CampaignPlatform } from './platform.ts';

/** Where this user cannot drop packets, the gate holds them back; the kernel then still acknowledges them. */
export const halfOpen: FaultKind = {
  number: 12,
  name: 'half-open connections: packets are dropped',
  async inject(context) {
    const { platform, random } = context;
    const line = inTurn(lines, context);
    if (!canDropPackets()) return throughGate(await gateOf(context, line), { kind: 'hold' });
    const port = portOf(platform, line, random.whole(0, platform.of('API').length - 1));
    return dropPackets('campaign', port);
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

const libraries = ['/usr/lib', '/usr/local/lib'];

function clockLibrary(): string | undefined {
  for (const folder of libraries)
    for (const name of existsSync(folder) ? readdirSync(folder) : []) {
      const file = join(folder, name, 'faketime', 'libfaketime.so.1');
      if (existsSync(file)) return file;
    }
  return undefined;
}

const cacheSeconds = 1;
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
      FAKETIME_CACHE_DURATION: String(cacheSeconds),
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
    });
    const step = () => writeFileSync(file, `${random.oneOf(steps)}\n`);
    step();
    const stepping = setInterval(step, Math.max(1_000, holdMs / 3));
    const heal = async () => {
      clearInterval(stepping);
      writeFileSync(file, '+0\n');
      // The process reads the file again after a second, which ends the fault.
      await delay(1_000 * cacheSeconds + 100);
      // A start needs seconds, for which the suite has no time.
      if (size === 'full') await slot.restart();
    };
    return { heal };
  },
};

const descriptors = 64;

/** Idle processes hold fewer than 64 descriptors, so this opens connections to an API process up to its limit. */
async function fewDescriptors({ platform, random }: FaultContext): Promise<Fault> {
  const slot = random.oneOf(platform.of('API'));
  const { pid } = slot;
  const limit = (files: number) => void spawnSync('prlimit', ['--pid', String(pid), `--nofile=${files}:`]);
  limit(descriptors);
  const sockets = Array.from({ length: descriptors }, () =>
    connect(slot.port, '127.0.0.1').on('error', () => undefined),
  );
  const heal = () => {
    for (const socket of sockets) socket.destroy();
    limit(4_096);
  };
  return { heal, isFelt: () => readdirSync(`/proc/${pid}/fd`).length >= descriptors - 1 };
}

async function smallHeap({ platform, random }: FaultContext): Promise<Fault> {
  const slot = random.oneOf(platform.slots);
  await slot.restart({ NODE_OPTIONS: '--max-old-space-size=128' });
  return { heal: () => slot.restart() };
}

/** A limit on processes does not bind the superuser, so it is left out. */
const resourceFaults = [fewDescriptors, smallHeap];

export const resources: FaultKind = {
  number: 15,
  name: '64 file descriptors, a heap of 128 MB',
  inject: (context) => inTurn(resourceFaults, context)(context),
};
