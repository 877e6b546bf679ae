/**
 * Exclusive holding of tasks under every fault. In the suite a small campaign; `npm run campaign:claims` makes 50,000
 * calls, or as many as CAMPAIGN_CALLS says.
 */
import { expect, test } from 'vitest';
import { tokenOf } from '../../support/api.ts';
import { databaseStage } from '../../support/databases.ts';
import { testProcesses } from '../../support/processes.ts';
import { claimCampaign } from './claim-campaign.ts';

const calls = Number(process.env.CAMPAIGN_CALLS ?? 2_000);
const { database, platform } = await databaseStage(4);
const processes = testProcesses(platform.environment);

test(`in ${calls} calls of 32 runners, with stops, kills and lost answers, every run is held by one at a time, and limits hold`, {
  timeout: 300_000 + calls * 40,
}, async () => {
  const [first, second] = await Promise.all([
    processes.startApi(),
    processes.startApi(),
    processes.startWorker('workflows'),
  ]);
  const { username, password } = platform.administrator;
  const token = await tokenOf(first.url, username, password);
  const { violations, ...figures } = await claimCampaign(
    { database, processes, token, apis: [first, second] },
    calls,
  );
  if (process.env.CAMPAIGN_CALLS !== undefined) console.log(figures, `violations: ${violations.length}`);
  expect(violations).toEqual([]);
  // Every kind of event of the campaign has happened.
  expect(figures.endings).toMatchObject({ lost: expect.any(Number), 'given-up': expect.any(Number) });
  expect(figures.limitReached).toBe(true);
  expect(figures.refusedWrites).toBeGreaterThan(0);
  expect(figures.nextTasks).toBeGreaterThan(0);
  expect(figures.unanswered).toBeGreaterThan(0);
  expect(Object.values(figures.faults).reduce((sum, count) => sum + count, 0)).toBeGreaterThan(2);
});
