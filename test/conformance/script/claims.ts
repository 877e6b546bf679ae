/** Claiming, holding and losing tasks. */
import { gzipSync } from 'node:zlib';
import { eventually } from '../../support/eventually.ts';
import { text } from '../driver.ts';
import { type Chapters, held, noOutput, noTask } from './chapter.ts';

export const claimsChapters: Chapters = {
  async 'paths, methods and tokens'(driver) {
    const { runner, taskId } = await held(driver);
    await runner.json('unknown', 'GET', '/nothing');
    await runner.json('method', 'GET', '/tasks/claim');
    await runner.json('method of a task', 'POST', `/tasks/${taskId}/heartbeat`, {});
    await runner.send('no token', 'GET', '/whoami', undefined, { authorization: null });
    await runner.send('wrong token', 'GET', '/whoami', undefined, { authorization: 'Bearer hrt_x' });
    await runner.send('no bearer', 'PUT', `/tasks/${taskId}/heartbeat`, '{}', {
      authorization: 'Basic eDp5',
    });
  },

  async claims(driver) {
    const offered = await driver.side.offer([text('x')]);
    const runner = driver.runner();
    const { instanceId } = runner;
    const templates = [offered.template];
    const bodies: unknown[] = [
      undefined,
      [],
      {},
      { instanceId: '' },
      { instanceId: 'a b' },
      { instanceId: 'x'.repeat(129) },
      { instanceId, templates: 'x' },
      { instanceId, templates: [5] },
      { instanceId, templates, waitSeconds: -1 },
      { instanceId, templates, waitSeconds: 61 },
      { instanceId, templates, waitSeconds: 1.5 },
      { instanceId, templates, waitSeconds: '1' },
      { instanceId, templates: ['no-such-template'] },
      { instanceId, templates: [...templates, driver.side.foreignTemplate()] },
    ];
    for (const body of bodies) await runner.json('claim', 'POST', '/tasks/claim', body);
    const named = `{"instanceId":"${instanceId}"`;
    await runner.send(
      'twice the same name',
      'POST',
      '/tasks/claim',
      `${named},"waitSeconds":0,"waitSeconds":0}`,
    );
    await runner.send('a number out of range', 'POST', '/tasks/claim', `${named},"x":1e400}`);
    await runner.send('too deep', 'POST', '/tasks/claim', `${named},"x":${'['.repeat(64)}${']'.repeat(64)}}`);
    await runner.send(
      'names in values',
      'POST',
      '/tasks/claim',
      `${named},"templates":["no-such"],"x":{"x":["x","x"]}}`,
    );
    await runner.send('malformed', 'POST', '/tasks/claim', '{"instanceId":');
    await runner.send('packed', 'POST', '/tasks/claim', gzipSync('{}'), { 'content-encoding': 'gzip' });
    await runner.send('large', 'POST', '/tasks/claim', ' '.repeat(1024 * 1024 + 1));
    await runner.acquire(offered);
    await driver
      .runner()
      .json('nothing left', 'POST', '/tasks/claim', { instanceId: 'other', templates, unknown: 1 });
  },

  async 'claiming again gives up what the instance holds'(driver) {
    const { offered, runner, taskId } = await held(driver);
    const again = await runner.acquire(offered, 'unused: as if never claimed');
    await runner.put(taskId, 'heartbeat', {});
    await runner.put(again, 'heartbeat', {});
    const third = await runner.acquire(offered, 'used: a lost attempt');
    await runner.put(again, 'complete', noOutput);
    await runner.put(third, 'complete', noOutput);
    await runner.json('done', 'POST', '/tasks/claim', {
      instanceId: runner.instanceId,
      templates: [offered.template],
    });
  },

  async 'a newer claim of an instance answers the one that waits'(driver) {
    const offered = await driver.side.offer([]);
    const runner = driver.runner();
    const body = { instanceId: runner.instanceId, templates: [offered.template] };
    const waiting = runner.json('the older one', 'POST', '/tasks/claim', { ...body, waitSeconds: 30 });
    await eventually('the older claim waits', () => driver.side.waitingClaims() === 1);
    const quiet = driver.runner(runner.instanceId).json('the newer one', 'POST', '/tasks/claim', body);
    await Promise.all([waiting, quiet]);
  },

  async 'the holder alone'(driver) {
    const { runner, taskId, ids } = await held(driver);
    const other = driver.runner();
    const paths: [string, string, unknown?][] = [
      ['PUT', 'heartbeat', {}],
      ['GET', 'inputs'],
      ['GET', 'inputs/{id}/data'],
      ['GET', 'state'],
      ['POST', 'outputs'],
      ['POST', 'outputs/uploads'],
      ['PUT', 'watermark', { inputId: 1 }],
      ['PUT', 'complete', noOutput],
      ['PUT', 'fail', { reason: 'x', category: 'error' }],
      ['PUT', 'release', {}],
    ];
    for (const [method, place, json] of paths) {
      const path = place.replace('{id}', String(ids[0]));
      const body = json === undefined ? undefined : JSON.stringify(json);
      await other.json(`${place} of another`, method, `/tasks/${taskId}/${path}`, json);
      await runner.json(`${place} of no task`, method, `/tasks/${noTask}/${path}`, json);
      await runner.json(`${place} of no id`, method, `/tasks/abc/${path}`, json);
      for (const value of [null, '', 'a b', 'x'.repeat(129)])
        await runner.send(`${place} from ${value}`, method, `/tasks/${taskId}/${path}`, body, {
          'x-platform-runner-instance': value,
        });
    }
    await runner.put(taskId, 'heartbeat', {}, 'still held');
  },

  async 'a lost lease'(driver) {
    const { offered, runner, taskId, ids } = await held(driver);
    const named = { 'x-platform-output-identifier': 'kept' };
    await runner.write(taskId, 'one', named);
    await driver.side.loseLease(taskId);
    const other = driver.runner();
    const next = await other.acquire(offered, 'the next attempt');
    await runner.put(taskId, 'heartbeat', {});
    await runner.json('inputs', 'GET', `/tasks/${taskId}/inputs`);
    await runner.json('data', 'GET', `/tasks/${taskId}/inputs/${ids[0]}/data`);
    await runner.write(taskId, 'one', named);
    await runner.put(taskId, 'complete', { outcome: 'completed' });
    await runner.put(taskId, 'fail', { reason: 'x', category: 'error' });
    await runner.put(taskId, 'release', {});
    await other.write(next, 'one', named, 'finds what is staged');
    await other.put(next, 'complete', { outcome: 'completed' });
  },

  async 'the third lost lease ends the run'(driver) {
    const { offered, runner, taskId } = await held(driver);
    await runner.put(taskId, 'heartbeat', {});
    await driver.side.loseLease(taskId);
    const second = await runner.acquire(offered);
    await driver.side.loseLease(second);
    const third = await runner.acquire(offered);
    await driver.side.loseLease(third);
    await runner.json('none', 'POST', '/tasks/claim', {
      instanceId: runner.instanceId,
      templates: [offered.template],
    });
  },
};
