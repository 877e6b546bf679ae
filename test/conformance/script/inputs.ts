/** What a task reads, and its watermark. */
import { packed, text } from '../driver.ts';
import { type Chapters, held, incremental } from './chapter.ts';

export const inputsChapters: Chapters = {
  async 'lists of inputs'(driver) {
    const { offered, runner, taskId } = await held(driver, 7, incremental);
    await driver.side.publish(offered, text('too late for this task'));
    const list = (query: string) => runner.json(`inputs ${query}`, 'GET', `/tasks/${taskId}/inputs${query}`);
    for (const mode of ['', 'since-watermark', 'latest', 'all']) {
      let query = mode === '' ? '?limit=3' : `?limit=3&mode=${mode}`;
      for (let page = 0; page < 4; page += 1) {
        const { body } = await list(query);
        if (body.nextCursor === null) break;
        query = `${query.replace(/&cursor=.*/, '')}&cursor=${body.nextCursor}`;
      }
    }
    const wrong = [
      'mode=newest',
      'mode=',
      'limit=0',
      'limit=501',
      'limit=x',
      'limit=1.5',
      'cursor=',
      'cursor=x',
      'cursor=p-1',
    ];
    for (const query of wrong) await list(`?${query}`);
    await list('?limit=500&unknown=1');
  },

  async 'bytes of inputs'(driver) {
    const offered = await driver.side.offer([text('0123456789'), packed('packed bytes')]);
    const runner = driver.runner();
    const taskId = await runner.acquire(offered);
    const [plain, gzip] = offered.inputIds;
    const read = async (id: unknown, headers: Record<string, string> = {}) => {
      const path = `/tasks/${taskId}/inputs/${id}/data`;
      const answer = await runner.send(`data ${JSON.stringify(headers)}`, 'GET', path, undefined, {
        'accept-encoding': 'identity',
        ...headers,
      });
      const kept = [
        'content-type',
        'content-encoding',
        'content-length',
        'content-range',
        'accept-ranges',
        'etag',
        'vary',
      ];
      const seen = kept.map((name) => `${name}: ${answer.headers.get(name)}`);
      driver.notes.push(['headers', answer.status, answer.status < 400 ? seen : seen.slice(3, 4)]);
    };
    await read(plain);
    const ranges = [
      'bytes=2-4',
      'bytes=7-',
      'bytes=-3',
      'bytes=-30',
      'bytes=0-0',
      'bytes=5-2',
      'bytes=10-',
      'bytes=1-2,4-5',
      'lines=1-2',
    ];
    for (const range of ranges) await read(plain, { range });
    await read(gzip);
    await read(gzip, { 'accept-encoding': 'gzip' });
    await read(gzip, { 'accept-encoding': 'gzip;q=0, identity' });
    await read(gzip, { range: 'bytes=0-3' });
    for (const id of [999_999, 0, 'abc', '9007199254740993']) await read(id);
  },

  async 'state and watermark'(driver) {
    const { offered, runner, taskId, ids } = await held(driver, 4, incremental);
    const state = () => runner.json('state', 'GET', `/tasks/${taskId}/state`);
    await state();
    await runner.put(taskId, 'watermark', { inputId: ids[1], state: { seen: 2 } });
    await runner.put(taskId, 'watermark', { inputId: ids[1] }, 'the same again');
    await runner.put(taskId, 'watermark', { inputId: ids[0] }, 'back');
    const later = await driver.side.publish(offered, text('later'));
    await runner.put(taskId, 'watermark', { inputId: later }, 'an input of the next task');
    await runner.put(taskId, 'watermark', { inputId: 9_007_199_254_740_991 }, 'no input');
    const wrong: unknown[] = [
      undefined,
      {},
      [],
      { inputId: '1' },
      { inputId: 0 },
      { inputId: 1.5 },
      { inputId: 2 ** 53 },
    ];
    for (const body of wrong) await runner.put(taskId, 'watermark', body, 'wrong');
    for (const value of ['x', [1], { a: 'x'.repeat(65_536) }])
      await runner.put(taskId, 'watermark', { inputId: ids[2], state: value }, 'wrong state');
    await state();
    await runner.put(taskId, 'complete', { outcome: 'no-output', hasMore: true, state: { seen: 3 } });
    const next = await runner.acquire(offered, 'the follow-up');
    await runner.json('its inputs', 'GET', `/tasks/${next}/inputs`);
    await runner.json('its state', 'GET', `/tasks/${next}/state`);
  },
};
