/** Log lines, rejected inputs, and ends that claim the next task. */
import { type Chapters, held, incremental, noOutput } from './chapter.ts';

const at = '2026-01-01T00:00:00.000Z';
const line = (message: unknown, more: object = {}) => ({ at, level: 'info', message, ...more });

export const sideChapters: Chapters = {
  async logs(driver) {
    const { runner, taskId } = await held(driver);
    const send = (what: string, json?: unknown) => runner.json(what, 'POST', `/tasks/${taskId}/logs`, json);
    await send('the first lines', {
      sequence: 1,
      entries: [line('one', { fields: { rows: 1 } }), line('two', { level: 'error' })],
    });
    await send('again', { sequence: 1, entries: [line('one')] });
    await send('with a gap', { sequence: 5, entries: [line('three')] });
    await send('below the last', { sequence: 4, entries: [line('four')] });
    const wrong: unknown[] = [
      undefined,
      {},
      { sequence: 7, entries: [] },
      { sequence: 0, entries: [] },
      { sequence: '7', entries: [] },
      { sequence: 7, entries: {} },
      { sequence: 7, entries: [line(5)] },
      { sequence: 7, entries: [line('x', { level: 'warn' })] },
      { sequence: 7, entries: [line('x', { at: 'yesterday' })] },
      { sequence: 7, entries: [line('x'.repeat(8 * 1024 + 1))] },
      { sequence: 7, entries: [line('x', { fields: [] })] },
      { sequence: 7, entries: [line('x', { fields: { x: 'x'.repeat(4 * 1024) } })] },
      { sequence: 7, entries: Array.from({ length: 501 }, () => line('x')) },
    ];
    for (const body of wrong) await send('wrong', body);
    await driver.runner().json('of a stranger', 'POST', `/tasks/${taskId}/logs`, {
      sequence: 8,
      entries: [line('x')],
    });
    await runner.put(taskId, 'fail', { category: 'error', reason: 'x', logTail: 'the last words' });
    await send('after the end', { sequence: 9, entries: [line('late')] });
  },

  async 'rejected inputs'(driver) {
    const { offered, runner, taskId, ids } = await held(driver, 3, incremental);
    const reject = async (
      what: string,
      id: unknown,
      json: unknown = { category: 'validation', reason: 'x' },
    ) => {
      const { status } = await runner.json(what, 'PUT', `/tasks/${taskId}/rejections/${id}`, json);
      return status;
    };
    await runner.write(taskId, 'of the first', { 'x-platform-output-identifier': 'first' });
    await reject('the second', ids[1]);
    await reject('the second again', ids[1]);
    await reject('one that is consumed', ids[0]);
    await reject('no input', 999_999);
    await reject('no id', 'abc');
    for (const json of [{}, { category: 'x', reason: 'x' }, { category: 'validation' }])
      await reject('wrong', ids[2], json);
    await runner.json('state', 'GET', `/tasks/${taskId}/state`);
    await runner.put(taskId, 'complete', { outcome: 'no-output', hasMore: true });
    const next = await runner.acquire(offered, 'the follow-up');
    await runner.json('its inputs', 'GET', `/tasks/${next}/inputs`);
  },

  async 'an end that claims the next task'(driver) {
    const { offered, runner, taskId, ids } = await held(driver, 2, incremental);
    const next = { waitSeconds: 0, templates: [offered.template] };
    await runner.put(taskId, 'watermark', { inputId: ids[0] });
    const wrong = [{ waitSeconds: 31 }, { waitSeconds: -1 }, { ...next, templates: ['no-such-template'] }];
    for (const each of wrong) await runner.put(taskId, 'complete', { ...noOutput, next: each }, 'wrong');
    const more = { ...noOutput, hasMore: true, next };
    const { body } = await runner.put(taskId, 'complete', more, 'the follow-up comes with it');
    await runner.put(taskId, 'complete', more, 'again: what it holds');
    await runner.put(body.next.taskId, 'release', { next }, 'released, and claimed again');
    const third = await runner.put(taskId, 'complete', more, 'again');
    await runner.put(
      third.body.next.taskId,
      'fail',
      { category: 'validation', reason: 'x', next },
      'nothing left',
    );
  },
};
