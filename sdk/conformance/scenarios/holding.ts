/** A long task: holding it, losing it, being cancelled or refused in the middle. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Held, Job } from '../job.ts';
import type { Scenario } from '../scenario.ts';
import { type Call, outputRoutes, writingRoutes } from '../server/journal.ts';
import type { Claim } from '../server/model.ts';
import type { Stage } from '../stage.ts';
import { judgeBaseline } from './lost-answers.ts';

/** The time for a runner to react to a heartbeat's answer before its own work continues. */
const noticeMs = 1_000;
/** How much longer than a lease the work is delayed. */
const beyondLease = 1.3;

async function hold(stage: Stage): Promise<{ readonly job: Job; readonly held: Held }> {
  const job = stage.offer();
  const holding = job.held();
  stage.start();
  return { job, held: await holding };
}

/** Lets a call wait for longer than a lease; ends the scenario as soon as the runner is silent for too long. */
async function outlastLease(stage: Stage, { claim, release }: Held): Promise<void> {
  const untilMs = performance.now() + stage.leaseMs * beyondLease;
  const isSilent = () => silenceMs(stage, claim) > stage.maxSilenceMs;
  const isOver = () => performance.now() > untilMs || isSilent() || claim.end !== undefined;
  await stage.until(isOver, stage.leaseMs * 2);
  const seconds = (silenceMs(stage, claim) / 1_000).toFixed(1);
  const isLost = claim.end?.how === 'lost';
  // On a machine that stalls a lease may end before the silence counts as too long.
  const sentNone = !stage.journal.forTask(claim.taskId).some(({ route }) => route === 'heartbeat');
  if (isSilent() || (isLost && sentNone))
    stage.found(
      'heartbeat-missing',
      `While the runner waited for an answer no heartbeat came for ${seconds} s.`,
    );
  if (isLost) stage.found('lease-lost', 'The lease ended while the runner waited for an answer.');
  if (isSilent() || claim.end !== undefined) stage.over();
  release();
}

/** How long no call has come for a held task. */
function silenceMs(stage: Stage, claim: Claim): number {
  const lastMs = stage.journal.forTask(claim.taskId).at(-1)?.atMs ?? claim.claimedAtMs;
  return stage.stalls.ranMs(lastMs);
}

const heartbeat: Scenario = {
  name: 'heartbeat',
  title: 'an answer comes later than the end of the lease; heartbeats renew it',
  async play(stage) {
    const { job, held } = await hold(stage);
    await outlastLease(stage, held);
    await job.completed();
    judgeBaseline(stage, job);
  },
};

const heartbeatLate: Scenario = {
  name: 'heartbeat-late',
  title: 'heartbeats are answered later than the next one is due',
  async play(stage) {
    // A runner that waits for each answer sends fewer heartbeats here, and still holds its task.
    stage.maxSilenceMs = stage.leaseMs;
    const lateMs = stage.heartbeatIntervalMs * 1.3;
    stage.fault({ on: ['heartbeat'], fault: { kind: 'delay', ms: lateMs }, times: 1_000 });
    const { job, held } = await hold(stage);
    await outlastLease(stage, held);
    await job.completed();
  },
};

const heartbeatErrors: Scenario = {
  name: 'heartbeat-errors',
  title: 'the connection of the first heartbeat is reset, the answer of the second is lost',
  async play(stage) {
    const { job, held } = await hold(stage);
    stage.fault({ on: ['heartbeat'], fault: { kind: 'reset' } });
    const lost = stage.fault({ on: ['heartbeat'], fault: { kind: 'lose-answer' } });
    await outlastLease(stage, held);
    if (lost.hits.length === 0)
      stage.found('heartbeat-missing', 'After the first heartbeat was reset no further one came.');
    await job.completed();
  },
};

/** Waits until a heartbeat's answer has notified the runner; ends the scenario when none comes. */
async function notified(
  stage: Stage,
  { claim, release }: Held,
  isNotified: (call: Call) => boolean,
): Promise<Call> {
  const find = () =>
    stage.journal.forTask(claim.taskId).find((call) => call.answeredAtMs !== undefined && isNotified(call));
  if (!(await stage.until(() => find() !== undefined, stage.leaseMs))) {
    stage.found(
      'heartbeat-missing',
      `No heartbeat came within a lease (${stage.under.leaseSeconds} s), so the runner could not be notified.`,
    );
    release();
    stage.over();
  }
  const call = find();
  if (call === undefined) return stage.over();
  // The runner may abort its waiting call; else it gets the answer now, like other open calls.
  await stage.until(() => performance.now() - (call.answeredAtMs ?? 0) > noticeMs, noticeMs * 2);
  release();
  return call;
}

/** Calls for the task after the time that the runner has to react. */
function callsAfter(stage: Stage, { claim }: Held, call: Call): Call[] {
  return stage.journal
    .forTask(claim.taskId)
    .filter(({ atMs }) => atMs > (call.answeredAtMs ?? 0) + noticeMs - 200);
}

const leaseLost: Scenario = {
  name: 'lease-lost',
  title: 'the lease has ended: a heartbeat in the middle of the work is answered with 404',
  async play(stage) {
    const { job, held } = await hold(stage);
    stage.world.revokeLease(held.claim);
    await notified(stage, held, ({ code }) => code === 'task_not_found');
    await stage.offer().completed('stopped-claiming');
    // Activity of another thread shows a moment later.
    if (job.calls.some(({ goneAtMs, answeredAtMs }) => goneAtMs === undefined && answeredAtMs === undefined))
      await delay(noticeMs);
  },
};

const leaseLostAtWrite: Scenario = {
  name: 'lease-lost-at-write',
  title: 'the lease has ended: the first output is answered with 404',
  async play(stage) {
    const job = stage.offer();
    const lost = stage.fault({
      on: (call) => job.has(call) && writingRoutes.includes(call.route),
      fault: {
        kind: 'meanwhile',
        happened: 'the lease had ended just before',
        act: (call) => {
          const claim = job.claims.find(({ taskId }) => taskId === call.taskId);
          if (claim !== undefined) stage.world.revokeLease(claim);
        },
      },
    });
    stage.start();
    await job.claimed();
    if (!(await stage.until(() => lost.hits.length > 0 || job.isDone))) await job.completed();
    if (lost.hits.length === 0) stage.skip('the runner wrote nothing');
    await stage.offer().completed('stopped-claiming');
  },
};

const cancel: Scenario = {
  name: 'cancel',
  title: 'an operator cancels the run: a heartbeat is answered with cancelRequested true',
  async play(stage) {
    const { job, held } = await hold(stage);
    job.run.cancelRequested = true;
    const isCancel = ({ reply }: Call) =>
      (reply as { readonly cancelRequested?: boolean } | undefined)?.cancelRequested;
    const call = await notified(stage, held, (each) => isCancel(each) === true);
    stage.heartbeatsJudgedUntilMs = call.answeredAtMs ?? 0;
    await stage.until(() => held.claim.end !== undefined, stage.under.patienceMs + stage.leaseMs);
    judgeCancel(stage, held, call);
    await stage.offer().completed('stopped-claiming');
  },
};

function judgeCancel(stage: Stage, held: Held, call: Call): void {
  const later = callsAfter(stage, held, call);
  const write = later.find(
    ({ route }) => outputRoutes.includes(route) || route === 'uploadPart' || route === 'watermark',
  );
  // Its work was delayed until now, so it cannot have been done.
  const completed = stage.journal
    .after(call)
    .find(
      ({ taskId, route, json }) =>
        taskId === held.claim.taskId &&
        route === 'complete' &&
        (json as { readonly outcome?: string } | undefined)?.outcome === 'completed',
    );
  const ignoring = write ?? completed;
  if (ignoring !== undefined) {
    const seconds = ((ignoring.atMs - (call.answeredAtMs ?? 0)) / 1_000).toFixed(1);
    stage.found(
      'cancel-ignored',
      `${ignoring.method} ${ignoring.route} came ${seconds} s after the runner was notified of the cancel.`,
    );
  } else if (held.claim.end === undefined || held.claim.end.how === 'lost') {
    stage.found('cancel-abandoned', 'The runner stopped its work and did not end the task.');
  }
}

const tokenRevoked: Scenario = {
  name: 'token-revoked',
  title: 'the token is revoked in the middle of a task: every call is answered with 401',
  async play(stage) {
    const { held } = await hold(stage);
    stage.allowEnd();
    stage.server.revokeToken();
    const isRefused = ({ status }: Call) => status === 401;
    const told401 = () =>
      stage.journal.calls.find((call) => isRefused(call) && call.answeredAtMs !== undefined);
    await stage.until(() => told401() !== undefined, stage.leaseMs);
    const call = told401();
    stage.heartbeatsJudgedUntilMs = call?.answeredAtMs ?? Number.POSITIVE_INFINITY;
    if (call !== undefined) await stage.until(() => stage.runner.exit !== undefined, noticeMs);
    held.release();
    await stage.until(() => stage.runner.exit !== undefined, 3_000);
    if (call !== undefined) judgeRevoked(stage, held, call);
  },
};

function judgeRevoked(stage: Stage, held: Held, call: Call): void {
  const notifiedAtMs = call.answeredAtMs ?? 0;
  const write = callsAfter(stage, held, call).find(({ route }) => writingRoutes.includes(route));
  if (write !== undefined)
    stage.found(
      'went-on-after-401',
      `${write.method} ${write.route} came ${((write.atMs - notifiedAtMs) / 1_000).toFixed(1)} s after the token was refused.`,
    );
  if (stage.runner.exit !== undefined) return;
  const later = stage.journal.calls.filter(({ atMs }) => atMs > notifiedAtMs + noticeMs).length;
  if (later > 3)
    stage.found('calls-after-401', `${later} more calls came within 3 s with the token that was refused.`);
}

export const holdingScenarios = [
  heartbeat,
  heartbeatLate,
  heartbeatErrors,
  leaseLost,
  leaseLostAtWrite,
  cancel,
  tokenRevoked,
];
