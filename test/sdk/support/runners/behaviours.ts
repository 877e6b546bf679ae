/** Runners that behave in the way that `BEHAVIOUR` names, for tasks of `TEMPLATE` and `OTHER_TEMPLATE`. */
import { existsSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { PassThrough } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { defineRunner, type RunResult, type Task, TaskFailure } from '../../../../sdk/index.ts';

const behaviours: Readonly<Record<string, (task: Task) => Promise<RunResult>>> = {
  /** Computes for `BUSY_MS` and blocks the event loop. */
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
  /** Ignores the signal. */
  async stubborn() {
    console.error('waiting');
    await sleep(600_000);
  },
  /** Reads lines with Node's own reader and fails in the middle; a task on the input `wait` runs until its abort. */
  async 'stops reading'(task) {
    for await (const input of task.inputs()) {
      if (input.outputIdentifier === 'wait') {
        console.error('waiting');
        while (!existsSync(process.env.GO_ON_FILE ?? '')) await sleep(50);
        await task.write('completed');
        return;
      }
      for await (const line of createInterface({ input: input.stream() })) {
        throw new TaskFailure('validation', `wrong header: ${line}`);
      }
    }
  },
  /** Fails while its own readers of the input continue, and does not await them. */
  async 'leaves readers'(task) {
    for await (const input of task.inputs()) {
      if (input.outputIdentifier === 'wait') return await behaviours['stops reading']?.(task);
      void input.stream().pipe(new PassThrough());
      void pipeline(input.stream(), new PassThrough());
      void input.bytes();
      await sleep(100);
      throw new TaskFailure('validation', 'wrong header');
    }
  },
  /** Leaves a promise that rejects, while it waits. */
  async 'leaves a rejection'(task) {
    task.log.info('begun');
    void Promise.reject(new Error('nothing awaits this'));
    await sleep(600_000, undefined, { signal: task.signal });
  },
  async prints() {
    for (let line = 1; line <= 3; line += 1) {
      process.stdout.write(`line ${line}\n`);
      await sleep(50);
    }
    return 'no-output';
  },
  exits(task) {
    task.log.info('begun');
    process.exit(3);
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
  templates: [process.env.TEMPLATE ?? '', process.env.OTHER_TEMPLATE ?? ''].filter((name) => name !== ''),
  cancelGraceSeconds: Number(process.env.CANCEL_GRACE_SECONDS ?? 5),
  run: behaviours[process.env.BEHAVIOUR ?? '']!,
});
