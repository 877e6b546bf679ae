/** Entrypoints of deployed runners: which modules are started, and why others are not. */
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { hostStage, reportingModule } from './support.ts';

// Many processes are started, on machines that may do much else.
const stage = await hostStage();
const { process1, publish, sessionOf, shown, untilRuns, work, write } = stage;
const host = await stage.startHost({ SDK_RUNNERS_MEMORY_MB: '100', SDK_RUNNERS_MAX_PROCESSES: '40' });

describe.concurrent('an entrypoint', () => {
  test.each([
    ['broken', 'export default {', /broken.mjs cannot be loaded: Unexpected/],
    [
      'throwing',
      `throw new Error('no \\0 \\ud800 luck for someone@example.org ' + 'x'.repeat(5_000));`,
      /cannot be loaded: no . luck for \[address\] x{300,500}(?!x)/u,
    ],
    ['nothing', 'export const run = 1;', /does not export a runner by default/],
    ['leaving', 'process.exit(0);', /it ended \(code 0\)/],
  ])(
    'that cannot run (%s) is reported to operators, and retried with growing delays',
    async (name, source, why) => {
      write(`${name}.mjs`, source);
      const beganAtMs = Date.now();
      await publish(name, { entrypoint: `${name}.mjs` });
      const down = await eventually('it was tried again and is down', async () => {
        const one = await process1(name);
        return one?.state === 'waiting' && one.starts >= 2 ? one : undefined;
      });
      // Half a second, then one, two, four ...: so many starts need at least this long.
      expect(500 * (2 ** (down.starts - 1) - 1)).toBeLessThanOrEqual(Date.now() - beganAtMs);
      expect(down.message).toMatch(why);
      expect(why.test(host.log())).toBe(true);
    },
  );

  test('that could not run is started after a fix', async () => {
    write('mended.mjs', 'import "./nowhere.mjs";');
    await publish('mended', { entrypoint: 'mended.mjs' });
    await eventually('it is down', async () => (await process1('mended'))?.state === 'waiting');
    write('mended.mjs', reportingModule);
    await work(await sessionOf('mended'), 'one');
    expect(await untilRuns('mended')).toMatchObject({ message: '' });
  });

  test('that does not exist yet gets a warning, and is started when it exists', async () => {
    const published = await publish('late', { entrypoint: 'late.mjs' });
    expect([published.status, published.body.warnings]).toMatchObject([
      200,
      [{ path: '$.runnerTypes[0].entrypoint' }],
    ]);
    await eventually('that is reported', async () =>
      (await process1('late'))?.message.includes('late.mjs is not in the folder'),
    );
    write('late.mjs', reportingModule);
    await work(await sessionOf('late'), 'one');
  });

  test('outside the folder is refused', async () => {
    const outside = join(stage.folder, '../outside');
    mkdirSync(outside, { recursive: true });
    writeFileSync(join(outside, 'evil.mjs'), reportingModule);
    symlinkSync(join(outside, 'evil.mjs'), join(stage.folder, 'linked.mjs'));
    symlinkSync(outside, join(stage.folder, 'folder'));
    const escapes = [
      ...[
        'linked.mjs',
        'folder',
        '..',
        '.',
        '../evil.mjs',
        'folder/evil.mjs',
        '/etc/passwd',
        './telling.mjs',
      ],
      ...['%2e%2e', '..\\evil.mjs', '.hidden.mjs', 'a\nb', '-e', 'data:text/javascript,1', '', 7, {}],
    ];
    for (const entrypoint of escapes) {
      const answer = await publish('escaping', { entrypoint });
      expect([entrypoint, answer.status, answer.body.errors]).toMatchObject([
        entrypoint,
        400,
        [{ path: '$.runnerTypes[0].entrypoint' }],
      ]);
    }
    expect(await shown('escaping')).toBeUndefined();
  });

  test('that is moved outside the folder later is not started', async () => {
    const outside = join(stage.folder, '../later');
    mkdirSync(outside, { recursive: true });
    writeFileSync(join(outside, 'evil.mjs'), reportingModule);
    expect((await publish('later', { entrypoint: 'later.mjs' })).status).toBe(200);
    symlinkSync(join(outside, 'evil.mjs'), join(stage.folder, 'later.mjs'));
    await eventually('that is reported', async () =>
      (await process1('later'))?.message.includes('is outside'),
    );
    expect((await process1('later'))?.starts).toBe(0);
  });
});
