/**
 * Nothing is lost, doubled or forgotten during faults. In the suite a few seconds; `npm run soak` lasts
 * 10 minutes, or for as many as SOAK_MINUTES says.
 */
import { expect, test } from 'vitest';
import { tokenOf } from '../../support/api.ts';
import { databaseStage } from '../../support/databases.ts';
import { testProcesses } from '../../support/processes.ts';
import { expectOnlyReferredObjects } from '../fault-world.ts';
import { soak } from './soak.ts';

const seconds = process.env.SOAK_MINUTES === undefined ? 6 : Number(process.env.SOAK_MINUTES) * 60;
const { database, platform } = await databaseStage(4);
// Small enough that tasks stop at it and have to be followed up.
const processes = testProcesses({ ...platform.environment, INCREMENTAL_MAX_INPUTS: '5' });

test(`after ${seconds} s of uploads, reprocesses, freezes, unsound runners and killed processes every input was consumed once`, {
  timeout: 300_000 + seconds * 2_000,
}, async () => {
  const [first, second, worker] = await Promise.all([
    processes.startApi(),
    processes.startApi(),
    processes.startWorker('workflows'),
  ]);
  const token = await tokenOf(first.url, platform.administrator.username, platform.administrator.password);
  const world = { database, processes, apis: [first, second], worker, token };
  const { wrong, ...figures } = await soak(world, seconds);
  if (process.env.SOAK_MINUTES !== undefined) console.log(figures);
  expect(wrong).toEqual([]);
  // Every kind of event of the soak has happened.
  expect(figures.reprocesses).toBeGreaterThan(0);
  expect(figures.freezes).toBeGreaterThan(0);
  expect(Object.keys(figures.faults).length).toBeGreaterThan(0);
  expect(figures.claims).toMatchObject({ complete: expect.any(Number), release: expect.any(Number) });
  await expectOnlyReferredObjects(platform, database);
});
