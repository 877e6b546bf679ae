/** Temporary faults: the call has no effect and succeeds the next time, or its answer is slow. */

import type { Job } from '../job.ts';
import type { Scenario } from '../scenario.ts';
import type { ArmedFault, Fault } from '../server/faults.ts';
import { type Call, isSameTarget, type RouteId } from '../server/journal.ts';
import type { Stage } from '../stage.ts';
import { judgeBaseline } from './lost-answers.ts';

/** Each of them meets the fault once. */
const troubled: readonly RouteId[] = [
  'inputs',
  'inputData',
  'state',
  'outputs',
  'uploadStart',
  'watermark',
  'rejection',
  'annotations',
  'logs',
];
const retryAfterSeconds = 1;
/** Tolerance for the runner's clock. */
const earlyMs = 100;

function passing(name: string, title: string, fault: Fault): Scenario {
  return {
    name,
    title,
    async play(stage) {
      const job = stage.offer();
      const armed = [
        stage.fault({ on: ['claim'], fault }),
        ...troubled.map((route) => stage.fault({ on: job.on(route), fault })),
        stage.fault({ on: job.onEnd, fault }),
      ];
      stage.start();
      await job.claimed();
      await job.ended();
      judgeEnd(stage, job, armed);
      if (fault.kind === 'answer' && fault.retryAfterSeconds !== undefined)
        for (const { hits } of armed) for (const call of hits) judgeRetryAfter(stage, call);
      await stage.offer().completed('stopped-claiming');
    },
  };
}

function judgeEnd(stage: Stage, job: Job, armed: readonly ArmedFault[]): void {
  const [claimed] = job.claims;
  if (claimed?.end?.how === 'complete') {
    judgeBaseline(stage, job);
    return;
  }
  if (claimed?.end?.how === 'fail' || claimed?.end?.how === 'release') {
    const last = armed.flatMap(({ hits }) => hits).at(-1);
    stage.found(
      'gave-up-early',
      `The runner ended the task (${claimed.end.how}) after ${last?.route} failed once.`,
    );
    return;
  }
  stage.found(
    'lease-lost',
    'The task was not ended in time after a temporary fault: its lease ended or the runner stopped working on it.',
  );
}

function judgeRetryAfter(stage: Stage, call: Call): void {
  const repeat = stage.journal.after(call).find((other) => isSameTarget(other, call));
  if (repeat === undefined || call.answeredAtMs === undefined) return;
  // Since the call came, which is answered at once: the end of an answer is noticed late on a busy machine.
  const waitedMs = repeat.atMs - call.atMs;
  if (waitedMs < retryAfterSeconds * 1_000 - earlyMs)
    stage.found(
      'retry-after-ignored',
      `${call.route} was repeated after ${Math.round(waitedMs)} ms; Retry-After was ${retryAfterSeconds} s.`,
    );
}

const slowAnswers: Scenario = {
  name: 'slow-answers',
  title: 'every answer is 0.7 seconds late',
  async play(stage) {
    const job = stage.offer();
    stage.fault({ on: () => true, fault: { kind: 'delay', ms: 700 }, times: 10_000 });
    stage.start();
    await job.completed();
    judgeBaseline(stage, job);
  },
};

export const troubleScenarios = [
  passing('unavailable', 'each call is answered once with 503 and Retry-After: 1', {
    kind: 'answer',
    status: 503,
    code: 'unavailable',
    retryAfterSeconds,
  }),
  passing('server-errors', 'each call is answered once with 500', {
    kind: 'answer',
    status: 500,
    code: 'internal',
  }),
  passing('connection-resets', 'the connection of each call is reset once', { kind: 'reset' }),
  slowAnswers,
];
