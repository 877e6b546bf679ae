/**
 * Every kind of fault in the smallest size that can fail, on one platform with two API processes, two workers and one
 * worker of built-in nodes. `npm run campaign:faults` runs them at full length, and in pairs. FAULTS_SEED repeats a run.
 */
import { afterAll, expect, test } from 'vitest';
import { temporaryDataFolder } from '../support/global-setup.ts';
import { quietRuntime } from '../support/workflows.ts';
import { kinds } from './campaign/kinds.ts';
import { CampaignPlatform } from './campaign/platform.ts';
import { Campaign, sizes } from './campaign/run.ts';
import { complaints } from './campaign/table.ts';

const seed = Number(process.env.FAULTS_SEED ?? 4);
quietRuntime();
const platform = await CampaignPlatform.start({
  dataDir: temporaryDataFolder(),
  counts: { API: 2, worker: 2, 'built-in worker': 1 },
  diskMegabytes: 256,
  log: () => undefined,
});
afterAll(() => platform.stop());

test('under every kind of fault nothing acknowledged is lost, torn or doubled, and every process serves again', {
  timeout: 400_000,
}, async () => {
  const campaign = await Campaign.over(platform, { size: sizes.small, seed, log: () => undefined });
  const report = await campaign.run(kinds.map((kind) => [kind]));
  expect(complaints(report)).toEqual([]);
  // What it is about has happened.
  const missed = report.rows.filter(
    ({ faults, skipped, kind }) => faults === 0 && skipped === undefined && kind !== 'end',
  );
  expect(missed).toEqual([]);
  expect(report.rows.reduce((sum, { duringFaults }) => sum + duringFaults.succeeded, 0)).toBeGreaterThan(0);
  expect(report.counts).toMatchObject({
    acknowledged: expect.toSatisfy((count: number) => count > 100),
    staleRefused: expect.toSatisfy((count: number) => count > 0),
    revokedRefused: expect.toSatisfy((count: number) => count > 0),
  });
});
