/** Incremental node templates: the cap, follow-ups, a watermark ahead of the runner's, and failures. */

import type { Job } from '../job.ts';
import type { Scenario } from '../scenario.ts';
import { type Call, sideRoutes } from '../server/journal.ts';
import type { Stage } from '../stage.ts';
import { manyOf } from './inputs.ts';

const cap = 2;
const inputCount = 5;

const incrementalCap: Scenario = {
  name: 'incremental-cap',
  title: `${inputCount} inputs, at most ${cap} in one task: follow-ups process the rest`,
  incremental: true,
  stage: () => ({ limits: { inputsPerTask: cap } }),
  async play(stage) {
    const job = stage.offer(manyOf(stage, inputCount));
    const last = job.node.inputs.at(-1);
    stage.start();
    await job.claimed();
    const isOver = () => job.isDone || job.claims.length > inputCount + 1;
    if (!(await stage.until(isOver, stage.under.patienceMs * 2))) await job.completed();
    for (const claim of job.claims) judgeCap(stage, job, claim.taskId);
    if (stage.findings.length > 0) return;
    if (job.node.watermark.outputId !== last?.outputId)
      stage.found(
        'has-more-missing',
        `The watermark is at input ${job.node.watermark.position} of ${inputCount}, and no follow-up is wanted.`,
      );
  },
};

/** Compares what the holder reported at the task's end with the watermark at that time. */
function judgeCap(stage: Stage, job: Job, taskId: string): void {
  const end = job.calls.find((call) => call.taskId === taskId && call.route === 'complete');
  if (end === undefined) return;
  const { hasMore } = (end.json ?? {}) as { readonly hasMore?: boolean };
  const { followUp } = (end.reply ?? {}) as { readonly followUp?: boolean };
  const position = watermarkAt(stage, job, end);
  const isLast = position === job.node.inputs.length;
  if (hasMore && followUp === false && !isLast)
    stage.found(
      'watermark-not-moved',
      'complete said hasMore, and the watermark had not moved in that task.',
    );
  else if (!hasMore && !isLast)
    stage.found(
      'has-more-missing',
      `A task completed without hasMore when the watermark was at input ${position} of ${job.node.inputs.length}.`,
    );
}

/** The position of the watermark when a call came, from the writes that were accepted before it. */
function watermarkAt(stage: Stage, job: Job, end: Call): number {
  const before = stage.journal.calls.slice(0, stage.journal.calls.indexOf(end));
  const moves = before
    .filter((call) => job.has(call) && (call.status === 200 || call.status === 201))
    .map((call) => watermarkOf(call))
    .filter((inputId) => inputId !== undefined);
  return job.node.inputs.find(({ outputId }) => outputId === moves.at(-1))?.position ?? 0;
}

/** The input to which a call moves the watermark. */
function watermarkOf(call: Call): number | undefined {
  if (call.route === 'watermark') return (call.json as { readonly inputId?: number } | undefined)?.inputId;
  const header = call.headers['x-platform-watermark'];
  return header === undefined ? undefined : Number(header);
}

const maxRepeats = 3;

const watermarkRegression: Scenario = {
  name: 'watermark-regression',
  title: 'the watermark is ahead of the runner: its step is answered with 409',
  incremental: true,
  stage: () => ({ limits: { inputsPerTask: cap } }),
  async play(stage) {
    const job = stage.offer(manyOf(stage, cap + 1));
    const last = job.node.inputs.at(-1);
    const steps = stage.fault({
      on: (call) => job.has(call) && (call.route === 'watermark' || watermarkOf(call) !== undefined),
      fault: {
        kind: 'meanwhile',
        happened: 'the watermark had moved on before',
        act: () => {
          if (last !== undefined) job.node.watermark = { position: last.position, outputId: last.outputId };
        },
      },
      times: 1_000,
    });
    stage.start();
    await job.claimed();
    await job.ended();
    if (steps.hits.length === 0) stage.skip('the runner moves no watermark');
    const paths = steps.hits.map((call) => `${call.path} ${watermarkOf(call)} ${call.bodySha256}`);
    const repeats = Math.max(...paths.map((path) => paths.filter((other) => other === path).length));
    if (repeats > maxRepeats)
      stage.found('repeats-refused-call', `The step that was refused with 409 came ${repeats} times.`);
    await stage.offer().completed('stopped-claiming');
  },
};

const failedAfterWatermark: Scenario = {
  name: 'failed-after-watermark',
  title: `the run fails for good after its first step of the watermark over ${inputCount} inputs, and is retried`,
  incremental: true,
  async play(stage) {
    const whole = stage.offer(manyOf(stage, inputCount));
    stage.start();
    await whole.completed();
    if (whole.node.watermark.position === 0) stage.skip('the runner moves no watermark');
    const job = stage.offer(manyOf(stage, inputCount));
    const lost = stage.fault({
      on: (call) => job.has(call) && !sideRoutes.has(call.route) && job.node.watermark.position > 0,
      fault: {
        kind: 'meanwhile',
        happened: 'the run had failed for good just before',
        act: (call) => {
          const claim = job.claims.find(({ taskId }) => taskId === call.taskId);
          if (claim !== undefined) stage.world.loseForGood(claim);
        },
      },
    });
    await job.claimed('stopped-claiming');
    if (!(await stage.until(() => lost.hits.length > 0 && job.isDone))) await job.completed();
    stage.world.retry(job.run);
    await job.completed();
    judgeResults(stage, whole, job);
  },
};

/** Whether a run that failed has all the outputs of one that did not. */
function judgeResults(stage: Stage, whole: Job, job: Job): void {
  const { digests, outputCount } = stage.baseline ?? {};
  if (digests === undefined && outputCount === undefined)
    stage.skip('the runner writes other outputs each time');
  const left = [...job.digests];
  const missing = whole.published.filter(({ sha256 }) => {
    // When bytes differ each time, the number of outputs decides.
    const at = digests === undefined ? left.length - 1 : left.indexOf(sha256);
    return at < 0 || left.splice(at, 1).length === 0;
  });
  if (missing.length === 0) return;
  stage.found(
    'failed-after-watermark',
    `Of ${whole.published.length} outputs over ${inputCount} inputs ${missing.length} are missing for good when the run fails after its first step of the watermark and is retried.`,
  );
}

export const incrementalScenarios = [incrementalCap, watermarkRegression, failedAfterWatermark];
