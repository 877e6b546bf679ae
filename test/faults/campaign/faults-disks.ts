/** Disks that are full. */
import { spawnSync } from 'node:child_process';
import { rmSync, statfsSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import pg from 'pg';
import { brokenOffName } from './checks.ts';
import {
  type Fault,
  type FaultContext,
  type FaultKind,
  feltByCalls,
  inTurn,
  nothingToHeal,
} from './fault.ts';
import type { Disk } from './platform.ts';

export const diskFull: FaultKind = {
  number: 13,
  name: 'disk full: database, objects, staging',
  unavailable: (platform) =>
    platform.disks === undefined ? 'file systems cannot be mounted here' : undefined,
  async inject(context) {
    const disk = inTurn<Disk>(['postgres', 'objects', 'temp'], context);
    const files = fill(context.platform.disks!.get(disk)!);
    const makeRoom = () => {
      for (const file of files) rmSync(file, { force: true });
    };
    const more = await needs[disk](context);
    return {
      heal: async () => {
        makeRoom();
        await more.heal();
      },
      isFelt: more.isFelt ?? feltByCalls(context),
    };
  },
};

/** Other writes use part of the room, so the rest is filled by ever smaller files. */
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

/** Makes a caller need room on the disk. */
const needs: Readonly<Record<Disk, (context: FaultContext) => Promise<Fault>>> = {
  postgres: newLogFile,
  objects: () => Promise.resolve(nothingToHeal),
  temp: heldUploads,
};

/** PostgreSQL holds spare files of its log; for the next file after these it needs room, has none, and crashes. */
async function newLogFile(context: FaultContext): Promise<Fault> {
  const { platform } = context;
  const isFeltByCalls = feltByCalls(context);
  const { pid } = platform.stack.postgres!;
  const client = new pg.Client(platform.superuserUrl);
  client.on('error', () => undefined);
  const asking = (async () => {
    await client.connect();
    for (let files = 0; files < 40; files++)
      await client.query(`select pg_logical_emit_message(false, 'campaign', 'full'), pg_switch_wal()`);
  })().catch(() => undefined);
  const heal = async () => {
    await asking;
    await client.end().catch(() => undefined);
  };
  return { heal, isFelt: () => platform.stack.postgres!.pid !== pid || isFeltByCalls() };
}

const megabyte = 1_024 * 1_024;
const heldAtOnce = 12;

/** Uploads whose callers stop in the middle: they fill the memory for waiting bytes, so that others need the disk. */
async function heldUploads(context: FaultContext): Promise<Fault> {
  const { platform, stage, random } = context;
  const isFelt = feltByCalls(context);
  const url = `${random.oneOf(platform.of('API')).directUrl}/api/v2/node-instance/${stage.stores[0]!.nodes.input!}/outputs/data`;
  const bytes = Buffer.alloc(8 * megabyte - 1_024, 'held\n');
  const held = Array.from({ length: heldAtOnce }, (_, at) => {
    const headers = {
      authorization: `Bearer ${stage.token}`,
      'content-type': 'text/plain',
      'content-length': 9 * megabyte,
      'x-platform-output-identifier': `${brokenOffName}${stage.name}-${at}`,
    };
    const sent = request(url, { method: 'POST', agent: false, headers }).on('error', () => undefined);
    sent.write(bytes);
    return sent;
  });
  const heal = () => {
    for (const sent of held) sent.destroy();
  };
  return { heal, isFelt };
}
