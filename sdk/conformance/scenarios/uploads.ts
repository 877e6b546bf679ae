/** Outputs in parts. */
import type { Scenario } from '../scenario.ts';
import type { Call } from '../server/journal.ts';
import { judgeBaseline } from './lost-answers.ts';

const partNumber = (call: Call) => Number(/\/parts\/(\d+)/.exec(call.path)?.[1]);

/**
 * The announced limits are so small that the output of the plain task needs parts. A single request is still accepted,
 * up to the 16 MB of the contract.
 */
export const uploadParts: Scenario = {
  name: 'upload-parts',
  title: 'an output in parts: part 1 is refused once, the answers of part 2 and of complete are lost',
  stage: (_under, baseline) => {
    const bytes = baseline?.maxOutputBytes ?? 0;
    const third = Math.max(1, Math.ceil(bytes / 3));
    return { limits: { outputBytes: third, partMinBytes: third, partMaxBytes: third } };
  },
  async play(stage) {
    const job = stage.offer();
    const isPart = (number: number) => (call: Call) =>
      job.has(call) && call.route === 'uploadPart' && partNumber(call) === number;
    stage.fault({ on: isPart(1), fault: { kind: 'answer', status: 503, code: 'unavailable' } });
    const lostPart = stage.fault({ on: isPart(2), fault: { kind: 'lose-answer' } });
    const lostComplete = stage.fault({ on: job.on('uploadComplete'), fault: { kind: 'lose-answer' } });
    stage.start();
    await job.claimed();
    await job.ended();
    if (stage.journal.of('uploadStart').length === 0)
      stage.skip(
        'the runner wrote its output in one request; an output of more than 16 MB exercises this, or a runner that reads limits.maxOutputBytes of whoami',
      );
    const [claim] = job.claims;
    if (claim?.end?.how === 'complete') return judgeBaseline(stage, job);
    const last = [...lostPart.hits, ...lostComplete.hits].at(-1);
    stage.found(
      'upload-not-recovered',
      `The task ended with ${claim?.end?.how} after ${last?.route ?? 'part 1'} failed once.`,
    );
  },
};
