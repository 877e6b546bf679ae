/** A call takes effect and its answer is lost: the call is repeated, and nothing is doubled. */
import type { Job } from '../job.ts';
import type { Scenario } from '../scenario.ts';
import { endDigest, type TaskEnd } from '../server/ends.ts';
import type { ArmedFault } from '../server/faults.ts';
import { type Call, sideRoutes } from '../server/journal.ts';
import type { Stage } from '../stage.ts';

const claimLost: Scenario = {
  name: 'claim-answer-lost',
  title: 'the answer of a claim is lost, once noticed by the server and once not',
  async play(stage) {
    const first = stage.offer();
    stage.fault({ on: ['claim'], fault: { kind: 'lose-answer' } });
    stage.start();
    await first.completed();
    const second = stage.offer();
    stage.fault({ on: ['claim'], fault: { kind: 'lose-answer', unseen: true } });
    await second.completed('stopped-claiming');
  },
};

const completeLost: Scenario = {
  name: 'complete-answer-lost',
  title: 'the answer of complete is lost after it took effect',
  async play(stage) {
    const job = stage.offer();
    const lost = stage.fault({ on: job.onEnd, fault: { kind: 'lose-answer' } });
    stage.start();
    await job.claimed();
    await job.ended();
    await judgeRepeat(stage, lost);
    await stage.offer().completed('stopped-claiming');
  },
};

const failLost: Scenario = {
  name: 'fail-answer-lost',
  title: 'the input is gone, and the answer of fail is lost after it took effect',
  async play(stage) {
    const { failing } = stage.under;
    const isGiven = failing.inputs !== undefined || failing.configuration !== undefined;
    const job = stage.offer(failing.inputs, failing.configuration);
    if (!isGiven) {
      const fault = { kind: 'answer', status: 404, code: 'input_not_found' } as const;
      stage.fault({ on: job.on('inputData'), fault, times: 1_000 });
    }
    const lost = stage.fault({ on: job.on('fail'), fault: { kind: 'lose-answer' } });
    stage.start();
    await job.claimed();
    await job.ended();
    if (lost.hits.length === 0)
      stage.skip(
        'the runner did not report a failure; --failing-input or --failing-configuration make it do so',
      );
    await judgeRepeat(stage, lost);
    await stage.offer().completed('stopped-claiming');
  },
};

/** Whether the end whose answer was lost was repeated unchanged. */
async function judgeRepeat(stage: Stage, lost: ArmedFault): Promise<void> {
  const [first] = lost.hits;
  if (first === undefined) return;
  const repeat = () =>
    stage.journal.after(first).find(({ taskId, route }) => taskId === first.taskId && !sideRoutes.has(route));
  const isOver = () => repeat() !== undefined || claimedAgain(stage, first);
  if (!(await stage.until(isOver))) {
    stage.found(
      'end-not-repeated',
      `No repeat of ${first.route} came within ${stage.under.patienceMs / 1_000} s.`,
    );
    stage.over();
  }
  const call = repeat();
  if (call === undefined) {
    stage.found(
      'end-not-repeated',
      `After the lost answer of ${first.route} the runner claimed its next task without repeating it.`,
    );
    return;
  }
  await stage.until(() => call.status !== undefined);
  if (call.route !== first.route || digest(call) !== digest(first))
    stage.found(
      'end-changed',
      `${first.route} ${JSON.stringify(first.json)} was followed by ${call.route} ${JSON.stringify(call.json)}.`,
    );
}

function digest(call: Call): string {
  return endDigest({ kind: call.route, body: call.json ?? {} } as TaskEnd);
}

/** Whether the instance of a call has claimed again. */
function claimedAgain(stage: Stage, call: Call): boolean {
  return stage.journal
    .after(call)
    .some(
      (later) =>
        later.route === 'claim' &&
        (later.json as { readonly instanceId?: string } | undefined)?.instanceId === call.instanceId,
    );
}

const outputLost: Scenario = {
  name: 'output-answer-lost',
  title: 'the answer of an output write is lost after it took effect',
  async play(stage) {
    const job = stage.offer();
    const lost = stage.fault({ on: job.onOutput, fault: { kind: 'lose-answer' } });
    await playResend(stage, job, lost);
  },
};

const outputCut: Scenario = {
  name: 'output-cut',
  title: 'the connection breaks in the middle of an output',
  async play(stage) {
    const job = stage.offer();
    const lost = stage.fault({ on: job.on('outputs', 'uploadPart'), fault: { kind: 'cut-request' } });
    await playResend(stage, job, lost);
  },
};

async function playResend(stage: Stage, job: Job, lost: ArmedFault): Promise<void> {
  stage.start();
  await job.claimed();
  await job.ended();
  const [first] = lost.hits;
  if (first === undefined) stage.skip('the runner writes no outputs for this input');
  judgeResend(stage, job, first);
  await stage.offer().completed('stopped-claiming');
}

/** Whether the write without an answer was repeated unchanged, and made one output. */
function judgeResend(stage: Stage, job: Job, first: Call): void {
  const identifier = identifierOf(first);
  const later = stage.journal.after(first).filter((call) => call.taskId === first.taskId);
  const writes = later.filter(({ route }) => route === first.route);
  const resend = writes.find((call) => call.path === first.path && identifierOf(call) === identifier);
  if (identifier === undefined && first.route === 'outputs') {
    stage.found(
      'output-not-resent',
      'The output had no identifier, so no write after the lost answer can count as its resend.',
    );
    return;
  }
  if (resend !== undefined) {
    const isWhole = first.bodySha256 !== undefined;
    if (isWhole && resend.bodySha256 !== first.bodySha256)
      stage.found('resend-differs', `${identifier ?? first.path} was sent again with other bytes.`);
    judgeBaseline(stage, job);
    return;
  }
  const [other] = writes;
  const end = later.find(({ route }) => route === 'fail' || route === 'complete' || route === 'release');
  if (other !== undefined && isAlike(first, other))
    stage.found(
      'identifier-changed',
      `'${identifier}' got no answer and came again as '${identifierOf(other)}'.`,
    );
  else
    stage.found(
      'output-not-resent',
      `The write of '${identifier}' got no answer, and ${end?.route ?? 'nothing'} followed instead of a resend.`,
    );
}

/** The same bytes, or a write whose first try was cut before its bytes were known. */
function isAlike(first: Call, other: Call): boolean {
  if (first.bodySha256 !== undefined) return first.bodySha256 === other.bodySha256;
  return first.headers['content-length'] === other.headers['content-length'];
}

function identifierOf(call: Call): string | undefined {
  return call.headers['x-platform-output-identifier'];
}

/** The same input must give the same output, if it did so twice without faults. */
export function judgeBaseline(
  stage: Stage,
  job: Job,
  rule:
    | 'output-differs'
    | 'gzip-not-decoded'
    | 'truncated-input-used'
    | 'store-not-survived' = 'output-differs',
): void {
  const { digests, outputCount } = stage.baseline ?? {};
  if (job.run.outcome !== 'completed') return;
  const { length } = job.digests;
  if (outputCount !== undefined && length !== outputCount)
    stage.found(rule, `Without faults the same input had ${outputCount} outputs, now it has ${length}.`);
  else if (digests !== undefined && job.digests.join() !== digests.join())
    stage.found(rule, 'The output differs from the one that the same input had twice without faults.');
}

const redelivery: Scenario = {
  name: 'redelivery',
  title: 'the lease ends just before complete, and the same work comes again as another task',
  async play(stage) {
    const job = stage.offer();
    let staged: string[] = [];
    const lost = stage.fault({
      on: job.on('complete'),
      fault: {
        kind: 'meanwhile',
        happened: 'the lease had ended just before',
        act: (call) => {
          const claim = job.claims.find(({ taskId }) => taskId === call.taskId);
          staged = [...job.node.outputs.keys()];
          if (claim !== undefined) stage.world.desk.loseLease(claim);
        },
      },
    });
    stage.start();
    await job.claimed();
    if (!(await stage.until(() => lost.hits.length > 0 || job.isDone))) await job.completed();
    if (lost.hits.length === 0) stage.skip('the runner did not complete the task');
    if (!(await stage.until(() => job.claims.length > 1))) {
      stage.found('stopped-claiming', 'The work was offered again, and the runner did not claim it.');
      stage.over();
    }
    await job.completed();
    const added = [...job.node.outputs.keys()].filter((identifier) => !staged.includes(identifier));
    if (staged.length > 0 && added.length > 0)
      stage.found(
        'output-doubled',
        `The first attempt wrote ${staged.join(', ')}, the second one ${added.join(', ')} beside it.`,
      );
    else judgeBaseline(stage, job);
  },
};

export const lostAnswerScenarios = [claimLost, completeLost, failLost, outputLost, outputCut, redelivery];
