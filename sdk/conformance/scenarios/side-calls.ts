/** Optional calls: logs, and ends that claim the next task. */
import type { Scenario } from '../scenario.ts';
import { endingRoutes } from '../server/journal.ts';

const logLost: Scenario = {
  name: 'log-answer-lost',
  title: 'the answer of a call of log lines is lost after it took effect',
  async play(stage) {
    const job = stage.offer();
    const lost = stage.fault({ on: job.on('logs'), fault: { kind: 'lose-answer' } });
    stage.start();
    await job.completed();
    const [first] = lost.hits;
    if (first === undefined) {
      stage.note('The runner sends no log lines to the platform (POST /tasks/{taskId}/logs).');
      return;
    }
    const isRepeat = stage.journal
      .after(first)
      .some(({ route, bodySha256 }) => route === 'logs' && bodySha256 === first.bodySha256);
    if (!isRepeat) stage.found('log-not-resent', 'Its lines did not come again under the same sequence.');
  },
};

const nextLost: Scenario = {
  name: 'next-answer-lost',
  title: 'two tasks wait, and the answer of the first complete is lost together with the next task in it',
  async play(stage) {
    const jobs = [stage.offer(), stage.offer()];
    const isEnd = stage.fault({
      on: (call) => endingRoutes.includes(call.route),
      fault: { kind: 'lose-answer' },
    });
    stage.start();
    for (const job of jobs) await job.completed('stopped-claiming');
    const [first] = isEnd.hits;
    const { next } = (first?.json ?? {}) as { readonly next?: unknown };
    if (next == null) {
      stage.note('The runner claims each task by a separate call: complete, fail and release accept next.');
      return;
    }
    const dropped = jobs.flatMap(({ claims }) => claims).find(({ end }) => end?.how === 'given-up');
    if (dropped !== undefined)
      stage.found(
        'next-dropped',
        `Task ${dropped.taskId} was handed out with the answer of ${first?.route}, and the runner claimed again instead.`,
      );
  },
};

export const sideScenarios = [logLost, nextLost];
