/** Heartbeats, and the ends of tasks. */
import { text } from '../driver.ts';
import { type Chapters, held, incremental, noOutput } from './chapter.ts';

export const endsChapters: Chapters = {
  async heartbeats(driver) {
    const { runner, taskId } = await held(driver);
    const bodies: unknown[] = [
      undefined,
      {},
      { phase: 'reading', message: 'x', progress: { done: 1, total: 2, unit: 'laps' } },
      { phase: null, message: null, progress: null },
      [],
      'x',
      { phase: 7 },
      { phase: 'x'.repeat(256) },
      { message: 'x'.repeat(4001) },
      { message: 'a\u0000' },
      { message: '\ud800' },
      { progress: 5 },
      { progress: {} },
      { progress: { done: -1 } },
      { progress: { done: 1, unit: 5 } },
    ];
    for (const body of bodies) await runner.put(taskId, 'heartbeat', body);
    await driver.side.cancel(taskId);
    await runner.put(taskId, 'heartbeat', {}, 'cancelled');
    await runner.write(taskId, 'x', {}, 'still written');
    await runner.put(taskId, 'complete', { outcome: 'completed' }, 'complete of a cancelled run');
    await runner.put(taskId, 'complete', { outcome: 'completed' }, 'and again');
  },

  async 'every end of a cancelled run'(driver) {
    for (const [how, body] of [
      ['fail', { reason: 'x', category: 'error' }],
      ['release', {}],
    ] as const) {
      const { offered, runner, taskId } = await held(driver);
      await driver.side.cancel(taskId);
      await runner.put(taskId, how, body);
      await runner.json('no retry', 'POST', '/tasks/claim', {
        instanceId: runner.instanceId,
        templates: [offered.template],
      });
    }
  },

  async complete(driver) {
    const { runner, taskId } = await held(driver);
    const wrong: unknown[] = [
      undefined,
      {},
      [],
      { outcome: 'done' },
      { outcome: null },
      { outcome: 'completed', hasMore: 'yes' },
      { outcome: 'completed', statusDetails: 5 },
      { outcome: 'completed', statusDetails: 'x'.repeat(4001) },
      { outcome: 'completed', state: [] },
    ];
    for (const body of wrong) await runner.put(taskId, 'complete', body, 'wrong');
    await runner.put(taskId, 'complete', { outcome: 'completed' }, 'nothing written');
    await runner.put(taskId, 'complete', { outcome: 'no-output', hasMore: true }, 'hasMore of a plain node');
    await runner.put(taskId, 'complete', {
      outcome: 'suspended',
      statusDetails: 'waits',
      state: { b: 1, a: 2 },
    });
    await runner.put(
      taskId,
      'complete',
      { state: { a: 2, b: 1 }, statusDetails: 'waits', outcome: 'suspended', unknown: 1 },
      'again',
    );
    await runner.put(taskId, 'complete', { outcome: 'suspended' }, 'another one');
    await runner.put(taskId, 'fail', { reason: 'x', category: 'error' }, 'another end');
    await runner.put(taskId, 'release', {}, 'another end');
    await driver.runner().put(taskId, 'complete', { outcome: 'suspended' }, 'of a stranger');
    await runner.put(taskId, 'heartbeat', {}, 'after the end');
    await runner.write(taskId, 'x', {}, 'after the end');
  },

  async hasMore(driver) {
    const first = await held(driver, 2, incremental);
    await first.runner.put(
      first.taskId,
      'complete',
      { outcome: 'no-output', hasMore: true },
      'without a step',
    );
    const second = await held(driver, 2, incremental);
    await second.runner.put(second.taskId, 'watermark', { inputId: second.ids[0] });
    await second.runner.put(second.taskId, 'complete', { outcome: 'suspended', hasMore: true }, 'suspended');
    const third = await held(driver, 2, incremental);
    await third.runner.put(third.taskId, 'watermark', { inputId: third.ids[0] });
    await third.runner.put(third.taskId, 'complete', { outcome: 'no-output', hasMore: true }, 'after a step');
    await third.runner.acquire(third.offered, 'the follow-up');
  },

  async 'news during a task makes one more'(driver) {
    const { offered, runner, taskId } = await held(driver);
    await driver.side.publish(offered, text('news'));
    await driver.side.publish(offered, text('more news'));
    await runner.put(taskId, 'complete', noOutput);
    const next = await runner.acquire(offered);
    await runner.json('inputs', 'GET', `/tasks/${next}/inputs`);
    await runner.json('latest', 'GET', `/tasks/${next}/inputs?mode=latest`);
    await runner.put(next, 'complete', noOutput);
  },

  async fail(driver) {
    const { offered, runner, taskId } = await held(driver);
    const wrong: unknown[] = [
      undefined,
      {},
      { reason: 'x' },
      { category: 'error' },
      { category: 'other', reason: 'x' },
      { category: 'error', reason: 5 },
      { category: 'error', reason: 'x'.repeat(4001) },
      { category: 'error', reason: 'a\u0000' },
    ];
    for (const body of wrong) await runner.put(taskId, 'fail', body, 'wrong');
    await runner.put(taskId, 'fail', { category: 'error', reason: 'x' });
    await runner.put(taskId, 'fail', { reason: 'x', category: 'error' }, 'again');
    await runner.put(taskId, 'fail', { reason: 'y', category: 'error' }, 'another reason');
    await runner.json('waits', 'POST', '/tasks/claim', {
      instanceId: runner.instanceId,
      templates: [offered.template],
    });
    const single = await held(driver, 1, { maxAttempts: 1 });
    await single.runner.put(
      single.taskId,
      'fail',
      { category: 'memory', reason: 'full' },
      'in the last attempt',
    );
    const invalid = await held(driver);
    await invalid.runner.put(invalid.taskId, 'fail', { category: 'validation', reason: 'line 3' });
  },

  async release(driver) {
    const { offered, runner, taskId } = await held(driver);
    await runner.put(taskId, 'release', { reason: 5 }, 'wrong');
    await runner.put(taskId, 'release', { reason: 'shutdown' });
    await runner.put(taskId, 'release', { reason: 'shutdown' }, 'again');
    await runner.put(taskId, 'release', undefined, 'another one');
    const second = await runner.acquire(offered);
    await runner.put(second, 'release', undefined);
    const third = await runner.acquire(offered);
    await runner.put(third, 'release', undefined);
    await runner.json('waits', 'POST', '/tasks/claim', {
      instanceId: runner.instanceId,
      templates: [offered.template],
    });
  },
};
