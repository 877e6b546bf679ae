/** What a task writes, at once and in parts. */
import { gzipSync } from 'node:zlib';
import { text } from '../driver.ts';
import { type Chapters, held, incremental, noTask } from './chapter.ts';

export const outputsChapters: Chapters = {
  async outputs(driver) {
    const { runner, taskId } = await held(driver);
    const named = { 'content-type': 'text/csv', 'x-platform-output-identifier': 'a.b_c-1' };
    await runner.write(taskId, 'bytes', { ...named, 'x-platform-output-metadata': '{"n":1}' });
    await runner.write(taskId, 'other bytes', named, 'again');
    await runner.write(taskId, 'x', { ...named, 'content-encoding': 'br' }, 'again, whatever else is said');
    await runner.write(taskId, 'unnamed', {});
    await runner.write(taskId, '', { 'x-platform-output-identifier': 'empty' });
    await runner.write(taskId, gzipSync('x'), {
      'x-platform-output-identifier': 'gz',
      'content-encoding': 'gzip',
    });
    const wrong: Record<string, string>[] = [
      { 'x-platform-output-identifier': '' },
      { 'x-platform-output-identifier': 'a b' },
      { 'x-platform-output-identifier': 'a/b' },
      { 'x-platform-output-identifier': 'x'.repeat(101) },
      { 'x-platform-output-metadata': '[]' },
      { 'x-platform-output-metadata': '{' },
      { 'x-platform-output-metadata': '{"$a":1}' },
      { 'x-platform-output-metadata': `{"a":"${'x'.repeat(4096)}"}` },
      { 'x-platform-watermark': 'x' },
      { 'x-platform-watermark': '0' },
      { 'x-platform-watermark': '999999999' },
      { 'content-encoding': 'br' },
      { 'x-amz-checksum-sha256': 'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=' },
      { 'content-md5': 'AAAAAAAAAAAAAAAAAAAAAA==' },
    ];
    for (const headers of wrong)
      await runner.write(taskId, 'bytes', headers, `outputs ${JSON.stringify(headers).slice(0, 60)}`);
    await runner.write(taskId, Buffer.alloc(16 * 1024 * 1024 + 1), {}, 'too large');
    await runner.put(taskId, 'complete', { outcome: 'completed' });
  },

  async 'outputs with a watermark'(driver) {
    const { offered, runner, taskId, ids } = await held(driver, 3, incremental);
    const header = (id: number | undefined) => ({ 'x-platform-watermark': String(id) });
    await runner.write(taskId, 'sum', { ...header(ids[1]), 'x-platform-output-identifier': 'sum' });
    await runner.json('state', 'GET', `/tasks/${taskId}/state`);
    await runner.write(taskId, 'x', { ...header(ids[0]), 'x-platform-output-identifier': 'back' }, 'back');
    await runner.write(
      taskId,
      'x',
      { ...header(ids[1]), 'x-platform-output-identifier': 'same' },
      'the same',
    );
    await runner.put(taskId, 'complete', { outcome: 'completed', hasMore: true });
    const next = await runner.acquire(offered, 'the follow-up');
    await runner.write(next, 'x', { 'x-platform-output-identifier': 'sum' }, 'of an earlier run');
    await runner.put(next, 'complete', { outcome: 'completed' }, 'counts as written');
  },

  async 'uploads in parts'(driver) {
    const { runner, taskId, offered } = await held(driver);
    const at = `/tasks/${taskId}/outputs/uploads`;
    const big = Buffer.alloc(5 * 1024 * 1024, 1);
    const start = async (identifier: string) =>
      (await runner.send('start', 'POST', at, undefined, { 'x-platform-output-identifier': identifier })).body
        .handle;
    const part = (handle: string, number: unknown, bytes: Uint8Array | string, headers = {}) =>
      runner.send(`part ${number}`, 'PUT', `${at}/${handle}/parts/${number}`, bytes, headers);
    const complete = (handle: string, what = 'completed') =>
      runner.send(what, 'POST', `${at}/${handle}/complete`);
    await runner.send('wrong name', 'POST', at, undefined, { 'x-platform-output-identifier': 'a b' });
    const handle = await start('big');
    await complete(handle, 'without parts');
    await part(handle, 2, 'the last');
    await complete(handle, 'with a gap');
    for (const number of ['0', '-1', '10001', 'x', '1.5']) await part(handle, number, 'x');
    await part(handle, 1, 'too small but for the last');
    await complete(handle, 'too small');
    await part(handle, 1, big, { 'x-amz-checksum-sha256': 'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=' });
    await part(handle, 1, big);
    await complete(handle);
    await complete(handle, 'completed again');
    await part(handle, 1, 'x');
    await start('big');
    await runner.write(taskId, 'x', { 'x-platform-output-identifier': 'big' }, 'in one request');
    const given = await start('given-up');
    await part(given, 1, 'x');
    await runner.send('abort', 'DELETE', `${at}/${given}`);
    await runner.send('abort again', 'DELETE', `${at}/${given}`);
    await part(given, 1, 'x');
    for (const unknown of [noTask, 'abc']) await part(unknown, 1, 'x');
    await runner.send('abort of none', 'DELETE', `${at}/${noTask}`);
    await complete(noTask, 'completion of none');
    const open = await start('open');
    await runner.put(taskId, 'complete', { outcome: 'completed' });
    await part(open, 1, 'x');
    await driver.side.publish(offered, text('news'));
    const next = await runner.acquire(offered);
    await runner.send('of an earlier task', 'PUT', `/tasks/${next}/outputs/uploads/${open}/parts/1`, 'x');
    await runner.json('state', 'GET', `/tasks/${next}/state`);
  },

  async 'what a move of the watermark publishes'(driver) {
    const { offered, runner, taskId, ids } = await held(driver, 3, incremental);
    const named = (identifier: string, watermark?: number) => ({
      'x-platform-output-identifier': identifier,
      ...(watermark === undefined ? {} : { 'x-platform-watermark': String(watermark) }),
    });
    const newest = (id: string) => runner.json('the newest that is published', 'GET', `/tasks/${id}/state`);
    for (const name of ['a', 'b']) await runner.write(taskId, name, named(name));
    await newest(taskId);
    await runner.put(taskId, 'watermark', { inputId: ids[0] });
    await newest(taskId);
    await runner.write(taskId, 'late', named('late'));
    await newest(taskId);
    await runner.put(taskId, 'watermark', { inputId: ids[0] }, 'the same again');
    await newest(taskId);
    await runner.write(taskId, 'c', named('c'));
    await runner.write(taskId, 'd', named('d'));
    await runner.write(taskId, 'c', named('c', ids[1]), 'a resend that moves');
    await newest(taskId);
    await runner.write(taskId, 'e', named('e'));
    await runner.put(taskId, 'fail', { category: 'validation', reason: 'broken' });
    await driver.side.publish(offered, text('news'));
    const next = await runner.acquire(offered);
    await runner.json('what is left', 'GET', `/tasks/${next}/inputs`);
    await newest(next);
    await runner.write(next, 'd', named('d'), 'published by the run before');
    await runner.write(next, 'e', named('e'), 'dropped by the run before');
    await runner.put(next, 'complete', { outcome: 'no-output' });
  },

  async 'unnamed outputs before and after a move'(driver) {
    const { offered, runner, taskId, ids } = await held(driver, 2, incremental);
    await runner.write(taskId, 'of the first input');
    await runner.put(taskId, 'watermark', { inputId: ids[0] });
    await runner.write(taskId, 'of the second');
    await driver.side.loseLease(taskId);
    const next = await runner.acquire(offered);
    await runner.write(next, 'of the second', {}, 'met again');
    await runner.write(next, 'of the second too', { 'x-platform-watermark': String(ids[1]) });
    await runner.put(next, 'complete', { outcome: 'completed' });
  },

  async 'uploads in parts with a watermark'(driver) {
    const { runner, taskId, ids } = await held(driver, 3, incremental);
    const at = `/tasks/${taskId}/outputs/uploads`;
    const watermark = (id: number | undefined) => ({ 'x-platform-watermark': String(id) });
    const start = async (identifier: string, id: number | undefined) =>
      await runner.send('start', 'POST', at, undefined, {
        'x-platform-output-identifier': identifier,
        ...watermark(id),
      });
    const { body } = await start('sum', ids[1]);
    await runner.send('part', 'PUT', `${at}/${body.handle}/parts/1`, 'sum');
    await runner.json('state', 'GET', `/tasks/${taskId}/state`);
    await runner.send('complete', 'POST', `${at}/${body.handle}/complete`);
    await runner.json('state', 'GET', `/tasks/${taskId}/state`);
    const back = await start('back', ids[0]);
    await runner.send('part', 'PUT', `${at}/${back.body.handle}/parts/1`, 'x');
    await runner.send('back', 'POST', `${at}/${back.body.handle}/complete`);
    await runner.send(
      'the one said later',
      'POST',
      `${at}/${back.body.handle}/complete`,
      undefined,
      watermark(ids[2]),
    );
    await runner.json('state', 'GET', `/tasks/${taskId}/state`);
    await start('sum', ids[0]);
  },
};
