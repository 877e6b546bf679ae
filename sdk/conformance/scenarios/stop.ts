/** The runner gets a signal to stop. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Scenario } from '../scenario.ts';
import type { Call } from '../server/journal.ts';
import type { Stage } from '../stage.ts';

/** A claim that was on its way when the signal came, also on a busy machine. */
const onItsWayMs = 1_000;
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
        'The runner ended without release, complete or fail of its task.',
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
    const waiting = stage.journal.of('claim').filter(({ status }) => status === undefined);
    await stopped(stage, terminate(stage), waiting);
    noteWithdrawal(stage, waiting.at(-1));
  },
};

/** Says how the waiting claim ended: each way is allowed, and one of them cannot lose a task. */
function noteWithdrawal(stage: Stage, waiting: Call | undefined): void {
  if (waiting === undefined) {
    stage.note('No claim waited when SIGTERM came.');
    return;
  }
  const { instanceId } = claimOf(waiting);
  const newer = stage.journal
    .after(waiting)
    .some((call) => call.route === 'claim' && claimOf(call).instanceId === instanceId);
  const signedOff = stage.journal.of('signOff').length > 0;
  if (newer)
    stage.note(
      'The waiting claim was withdrawn by a newer one that does not wait: no task can be lost on its way.',
    );
  else if (signedOff)
    stage.note(
      'The waiting claim was ended by DELETE /instances/{instanceId}: no task can be lost on its way.',
    );
  else
    stage.note(
      'The waiting claim was not withdrawn. This is allowed; a task that is on its way at this moment stays held until its lease ends. A newer claim with waitSeconds 0, or DELETE /instances/{instanceId}, withdraws it.',
    );
}

function terminate(stage: Stage): number {
  stage.allowEnd();
  stage.runner.signal('SIGTERM');
  return performance.now();
}

/** The body of a claim, as far as it is one. */
const claimOf = ({ json }: Call) =>
  (json ?? {}) as { readonly instanceId?: string; readonly waitSeconds?: number };

/** @param waiting claims that waited when the signal came: one that does not wait withdraws each of them, at any time */
async function stopped(stage: Stage, notifiedAtMs: number, waiting: readonly Call[] = []): Promise<void> {
  const { graceMs } = stage.under;
  const isEnded = await stage.until(() => stage.runner.exit !== undefined, graceMs);
  if (!isEnded) stage.found('does-not-stop', `The runner still ran ${graceMs / 1_000} s after SIGTERM.`);
  const withdrawable = new Set(waiting.map((call) => claimOf(call).instanceId));
  const isWithdrawal = (call: Call) => {
    const { instanceId, waitSeconds } = claimOf(call);
    return waitSeconds === 0 && withdrawable.delete(instanceId);
  };
  const claims = stage.journal
    .of('claim')
    .filter((call) => call.atMs > notifiedAtMs && !isWithdrawal(call))
    .filter(({ atMs }) => atMs > notifiedAtMs + onItsWayMs);
  if (claims.length > 0) stage.found('claimed-after-stop', `${claims.length} claims came after SIGTERM.`);
}

/** Windows has no SIGTERM. */
export const stopScenarios = process.platform === 'win32' ? [] : [stopWorking, stopWaiting];
