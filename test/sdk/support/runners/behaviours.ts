/** Runners that behave in the way that `BEHAVIOUR` names, for tasks of `TEMPLATE`. */
import { setTimeout as sleep } from 'node:timers/promises';
import { defineRunner, type RunResult, type Task } from '../../../../sdk/index.ts';

const behaviours: Readonly<Record<string, (task: Task) => Promise<RunResult>>> = {
  /** Computes for `BUSY_MS` without giving the event loop a moment. */
  async busy(task) {
    console.error('computing');
    const until = performance.now() + Number(process.env.BUSY_MS);
    let sum = 0;
    while (performance.now() < until) sum += Math.sqrt(sum + 1);
    await task.write(`computed ${Number.isFinite(sum)}`);
  },
  /** Works until it is aborted. */
  async waits(task) {
    console.error('waiting');
    await sleep(600_000, undefined, { signal: task.signal });
  },
  /** Hears no signal. */
  async stubborn() {
    console.error('waiting');
    await sleep(600_000);
  },
  /** Is done soon, signal or not. */
  async soon(task) {
    console.error('waiting');
    await sleep(1_000);
    await task.write('done in the time of grace');
  },
};

export default defineRunner({
  name: 'behaviours',
  version: '1.2.3',
  templates: [process.env.TEMPLATE ?? ''],
  cancelGraceSeconds: Number(process.env.CANCEL_GRACE_SECONDS ?? 5),
  run: behaviours[process.env.BEHAVIOUR ?? '']!,
});
