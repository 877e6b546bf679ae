/** What a worker does beside its work: its file of readiness, its loops, its kept bundle. */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { expect, onTestFinished, test, vi } from 'vitest';
import { leaseTimes } from '../../domain/runs/lease-times.ts';
import type { Database } from '../../store/connection/database.ts';
import { writeBundle } from '../../worker/bundle.ts';
import { startLeaseLoop } from '../../worker/lease-loop.ts';
import { startLoop } from '../../worker/loop.ts';
import { touchRegularly } from '../../worker/ready-file.ts';
import { eventually } from '../support/eventually.ts';

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'sdp-upkeep-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

test('a worker goes on when its file of readiness cannot be written, and writes it as soon as it can', async () => {
  const folder = join(temporaryFolder(), 'inner');
  mkdirSync(folder);
  const file = join(folder, 'ready');
  touchRegularly(file, 20);
  const old = new Date(Date.now() - 60_000);
  utimesSync(file, old, old);
  await eventually('it is new again', () => statSync(file).mtimeMs > old.getTime() + 30_000);
  rmSync(folder, { recursive: true });
  // Several rounds find no folder: one that throws would end the process.
  let turns = 0;
  await eventually('rounds have passed', () => {
    turns += 1;
    return turns > 5;
  });
  mkdirSync(folder);
  await eventually('it is back', () => existsSync(file));
});

test('a loop tells the round under way that it is stopping, so that no backlog holds up a worker that ends', async () => {
  let rounds = 0;
  const loop = startLoop('backlog', 60_000, pino({ level: 'silent' }), async (signal) => {
    while (!signal.aborted) {
      rounds += 1;
      await new Promise((resolve) => setImmediate(resolve));
    }
  });
  await eventually('it works', () => rounds > 0);
  await loop.stop();
  expect(rounds).toBeGreaterThan(0);
});

test('after a pause of the worker or its database holders may renew before any claim is ended', async () => {
  const now = Date.now.bind(Date);
  let stalledMs = 0;
  const clock = vi.spyOn(Date, 'now').mockImplementation(() => now() + stalledMs);
  onTestFinished(() => clock.mockRestore());
  const statements: string[] = [];
  const database = {
    async query(text: string) {
      statements.push(text === 'select 1' ? 'answered' : 'searched');
      stalledMs = leaseTimes.expirePauseMs + 1_000;
      return [];
    },
  } as unknown as Database;
  const loop = startLeaseLoop(database, pino({ level: 'silent' }));
  await eventually('a round has searched', () => statements.includes('searched'));
  await loop.stop();
  expect(statements).toEqual(['answered', 'answered', 'searched']);
});

test('the kept bundle of earlier sources goes when a new one is made, and those that may be in use stay', async () => {
  const folder = temporaryFolder();
  const put = (name: string, ageDays: number) => {
    writeFileSync(join(folder, name), 'old');
    const at = new Date(Date.now() - ageDays * 86_400_000);
    utimesSync(join(folder, name), at, at);
  };
  const [gone, cut, recent] = [
    `workflows-${'a'.repeat(32)}.js`,
    `workflows-${'b'.repeat(32)}.js.77`,
    `workflows-${'c'.repeat(32)}.js`,
  ];
  put(gone, 8);
  put(cut, 8);
  put(recent, 1);
  put('notes.txt', 90);
  await writeBundle(folder);
  const kept = readdirSync(folder);
  expect(kept).toHaveLength(3);
  expect(kept).toEqual(expect.arrayContaining([recent, 'notes.txt']));
});
