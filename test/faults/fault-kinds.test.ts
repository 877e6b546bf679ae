/**
 * Every kind of fault in the smallest size that can fail, on one platform with two API processes, two workers and one
 * worker of built-in nodes. `npm run campaign:faults` runs them at full length, and in pairs. FAULTS_SEED repeats a run.
 */
import { afterAll, expect, test } from 'vitest';
import { temporaryDataFolder } from '../support/global-setup.ts';
import { quietRuntime } from '../support/workflows.ts';
import { kinds } from './campaign/kinds.ts';
import { CampaignPlatform } from './campaign/platform.ts';
import { complaints } from './campaign/report.ts';
import { runCampaign } from './campaign/run.ts';
import { sizes } from './campaign/sizes.ts';

const seed = Number(process.env.FAULTS_SEED ?? 4);
quietRuntime();
const platform = await CampaignPlatform.start({
  dataDir: temporaryDataFolder(),
  counts: { API: 2, worker: 2, 'built-in worker': 1 },
  diskMegabytes: 256,
  log: () => undefined,
});
afterAll(() => platform.stop());

test('under every kind of fault nothing acknowledged is lost, torn or doubled, and every process recovers', {
  timeout: 1_500_000,
}, async () => {
  const options = { platform, size: sizes.small, seed, log: () => undefined };
  const report = await runCampaign(
    options,
    kinds.map((kind) => [kind]),
  );
  expect(complaints(report)).toEqual([]);
  // Every fault was injected and felt.
  const missed = report.rows.filter(({ felt, faults, skipped }) => skipped === undefined && felt < faults);
  expect(missed).toEqual([]);
  const sum = (of: 'acknowledged' | 'staleCalls') => report.rows.reduce((total, row) => total + row[of], 0);
  expect(sum('acknowledged')).toBeGreaterThan(100);
  expect(sum('staleCalls')).toBeGreaterThan(0);
});
