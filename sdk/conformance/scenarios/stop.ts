/** The runner gets a signal to stop. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Scenario } from '../scenario.ts';
import type { Stage } from '../stage.ts';

/** A claim that was on its way when the signal came. */
const onItsWayMs = 300;
const heldAfterSignalMs = 300;

const stopWorking: Scenario = {
  name: 'stop-while-working',
  title: 'SIGTERM in the middle of a task',
  async play(stage) {
    const job = stage.offer();
    const holding = job.held();
    stage.start();
    const { claim, release } = await holding;
    const notifiedAtMs = terminate(stage);
    await delay(heldAfterSignalMs);
    release();
    await stopped(stage, notifiedAtMs);
    stage.heartbeatsJudgedUntilMs = stage.runner.exit?.atMs ?? Number.POSITIVE_INFINITY;
    if (claim.end?.reply === undefined && !stage.has('does-not-stop'))
      stage.found(
        'stopped-without-release',
        'The runner ended and left its task behind without release, complete or fail.',
      );
  },
};

const stopWaiting: Scenario = {
  name: 'stop-while-waiting',
  title: 'SIGTERM while there is no work',
  async play(stage) {
    stage.start();
    if (!(await stage.until(() => stage.journal.of('claim').length > 0))) {
      stage.found('never-claimed', 'No claim came.');
      stage.over();
    }
    await stopped(stage, terminate(stage));
  },
};

function terminate(stage: Stage): number {
  stage.allowEnd();
  stage.runner.signal('SIGTERM');
  return performance.now();
}

async function stopped(stage: Stage, notifiedAtMs: number): Promise<void> {
  const { graceMs } = stage.under;
  const isEnded = await stage.until(() => stage.runner.exit !== undefined, graceMs);
  if (!isEnded)
    stage.found('does-not-stop', `The runner was still there ${graceMs / 1_000} s after SIGTERM.`);
  const claims = stage.journal.of('claim').filter(({ atMs }) => atMs > notifiedAtMs + onItsWayMs);
  if (claims.length > 0) stage.found('claimed-after-stop', `${claims.length} claims came after SIGTERM.`);
}

/** Windows knows no SIGTERM. */
export const stopScenarios = process.platform === 'win32' ? [] : [stopWorking, stopWaiting];
