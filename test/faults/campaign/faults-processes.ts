/** Processes that are killed, stopped and restarted. */
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import type { Failpoint } from '../../../store/connection/failpoint.ts';
import { eventually } from '../../support/eventually.ts';
import { type Fault, type FaultContext, type FaultKind, inTurn, nothingToHeal } from './fault.ts';
import type { CampaignPlatform } from './platform.ts';
import type { Slot } from './slot.ts';

/** Points that the work of a campaign reaches often enough. */
const ofApis: readonly Failpoint[] = [
  'upload-stored',
  'upload-committed',
  'claimed',
  'task-output-stored',
  'task-output-committed',
  'end-committed',
  'reprocess-committed',
  'shared-committed',
  'close-committed',
];

export const apiKilled: FaultKind = {
  number: 1,
  name: 'kill -9 of an API process, at random and at failpoints',
  inject: ({ platform, random, holdMs, turn }) => {
    const slot = random.oneOf(platform.of('API'));
    return turn % 2 === 0 ? crashAt(platform, random.oneOf(ofApis), slot, holdMs) : killed(slot);
  },
};

export const workerKilled: FaultKind = {
  number: 2,
  name: 'kill -9 of a worker, at random and at failpoints',
  inject: ({ platform, random, holdMs }) => {
    const slot = random.oneOf([...platform.of('worker'), ...platform.of('built-in worker')]);
    return random.chance(0.3) ? crashAt(platform, 'session-advanced', slot, holdMs) : killed(slot);
  },
};

async function killed(slot: Slot): Promise<Fault> {
  slot.kill('SIGKILL');
  return nothingToHeal;
}

/** The first process that reaches the point dies there; if none does, the given process is killed. */
async function crashAt(
  platform: CampaignPlatform,
  point: Failpoint,
  slot: Slot,
  holdMs: number,
): Promise<Fault> {
  const armed = join(platform.failpointDir, point);
  writeFileSync(armed, 'crash');
  const until = Date.now() + holdMs;
  while (existsSync(armed) && Date.now() < until) await delay(5);
  if (!existsSync(armed)) return nothingToHeal;
  rmSync(armed, { force: true });
  return killed(slot);
}

export const standing: FaultKind = {
  number: 3,
  name: 'SIGSTOP of a process, for longer than a lease',
  async inject({ platform, random }) {
    const slot = random.oneOf(platform.slots);
    slot.kill('SIGSTOP');
    return { heal: () => slot.kill('SIGCONT') };
  },
};

export const temporalKilled: FaultKind = {
  number: 4,
  name: 'kill -9 of Temporal',
  async inject({ platform }) {
    platform.stack.temporal!.kill('SIGKILL');
    return nothingToHeal;
  },
};

export const objectStoreKilled: FaultKind = {
  number: 6,
  name: 'kill -9 of the object store',
  async inject({ platform }) {
    platform.stack.objectStore!.kill('SIGKILL');
    return nothingToHeal;
  },
};

const startLimitMs = 90_000;

const databaseFaults: ReadonlyArray<(context: FaultContext) => Promise<Fault>> = [
  async ({ platform }) => {
    await platform.stack.postgres!.stop();
    // Another fault, as a full disk, may keep it from starting for a while.
    const start = () => platform.stack.postgres!.start().then(() => true);
    return { heal: async () => void (await eventually('PostgreSQL is started', start, startLimitMs)) };
  },
  async ({ platform }) => {
    const client = new pg.Client(platform.superuserUrl);
    await client.connect();
    await client.query(
      `select pg_terminate_backend(pid) from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid()`,
    );
    await client.end();
    return nothingToHeal;
  },
  async ({ platform }) => {
    // The whole group: without it, the backends of a dead postmaster would hold its shared memory.
    process.kill(-platform.stack.postgres!.pid!, 'SIGKILL');
    return nothingToHeal;
  },
];

export const databaseRestarted: FaultKind = {
  number: 5,
  name: 'PostgreSQL restarted, its sessions terminated, its group killed',
  inject: (context) => inTurn(databaseFaults, context)(context),
};
