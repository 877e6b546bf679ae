/** What a run prints and logs is kept with its attempt. */
import { spawn } from 'node:child_process';
import { resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import type { Claim } from '../../sdk/conformance/server/model.ts';
import { TaskFailure } from '../../sdk/index.ts';
import { eventually } from '../support/eventually.ts';
import { testProcesses } from '../support/processes.ts';
import { contractStage } from './support/contract-stage.ts';

const processes = testProcesses({});
const entries = ({ log }: Claim) => log.flatMap((call) => call.entries);
const lines = (claim: Claim) => entries(claim).map(({ level, message }) => `${level} ${message}`);
/** How many lines were dropped, each time that it is said. */
const dropped = (claim: Claim) =>
  lines(claim).flatMap((line) => {
    const [, count] = /^warning (\d+) lines were dropped/.exec(line) ?? [];
    return count === undefined ? [] : [Number(count)];
  });
/** Lines that came or were said to be dropped. */
const accounted = (claim: Claim) =>
  dropped(claim).reduce((sum, count) => sum + count, 0) + lines(claim).length - dropped(claim).length;

test('lines of task.log, the console and the streams are kept in order with their levels', async () => {
  const stage = await contractStage();
  const node = stage.offer('x');
  console.log('before every run');
  await stage.start({
    async run(task) {
      task.log.debug('begins', { rows: 3 });
      console.log('printed %d', 7);
      console.error('an error\nin two lines');
      await delay(1);
      process.stdout.write('one\ntw');
      process.stdout.write('o\n');
      const bytes = Buffer.from('30 °C\n');
      process.stdout.write(bytes.subarray(0, 4));
      process.stdout.write(bytes.subarray(4));
      process.stderr.write('without an end');
      task.log.warning('ends');
      return 'no-output' as const;
    },
  });
  const claim = await stage.ended(node);
  console.log('after every run');
  expect(lines(claim)).toEqual([
    'debug begins',
    'info printed 7',
    'error an error\nin two lines',
    'info one',
    'info two',
    'info 30 °C',
    'warning ends',
    'warning without an end',
  ]);
  expect(entries(claim)[0]?.fields).toEqual({ rows: 3 });
  expect(claim.end?.how).toBe('complete');
});

test('runs at the same time keep their lines apart, and captureConsole false keeps only those of task.log', async () => {
  const stage = await contractStage();
  const nodes = [stage.offer('x'), stage.offer('y')];
  const both = Promise.withResolvers<void>();
  let begun = 0;
  const run = async (task: { nodeInstanceId: number; log: { info(text: string): void } }) => {
    begun += 1;
    if (begun === 2) both.resolve();
    await both.promise;
    for (let turn = 0; turn < 3; turn += 1) {
      console.log(`of ${task.nodeInstanceId}`);
      await delay(5);
    }
    return 'no-output' as const;
  };
  await stage.start({ run }, { concurrency: 2 });
  for (const node of nodes)
    expect(lines(await stage.ended(node))).toEqual(Array(3).fill(`info of ${node.nodeInstanceId}`));
  const quiet = await contractStage();
  const node = quiet.offer('z');
  await quiet.start({
    captureConsole: false,
    run(task) {
      console.log('printed alone');
      task.log.info('logged');
      return 'no-output' as const;
    },
  });
  expect(lines(await quiet.ended(node))).toEqual(['info logged']);
});

test('the error that fails a task is logged with its stack and its causes', async () => {
  const stage = await contractStage();
  const node = stage.offer('x');
  await stage.start({
    run() {
      throw new TaskFailure('validation', 'wrong header', { cause: new Error('no column speed') });
    },
  });
  const [line] = entries(await stage.ended(node));
  expect(line).toMatchObject({ level: 'error' });
  expect(line?.message).toMatch(/wrong header\n {4}at .*logs\.test\.ts[\s\S]*no column speed/);
});

test('lines come within a second while the run goes on, and a call without an answer doubles none', async () => {
  const stage = await contractStage();
  const node = stage.offer('x');
  const lost = stage.server.faults.add({ on: ['logs'], fault: { kind: 'lose-answer' } });
  const goOn = Promise.withResolvers<void>();
  await stage.start({
    async run(task) {
      task.log.info('one');
      await goOn.promise;
      task.log.info('two');
      return 'no-output' as const;
    },
  });
  await eventually('the first line is there', () => node.runs[0]?.claims[0]?.log.length === 1);
  const [first] = lost.hits;
  await eventually('it came again', () =>
    stage.server.journal.after(first!).some(({ route }) => route === 'logs'),
  );
  goOn.resolve();
  expect(lines(await stage.ended(node))).toEqual(['info one', 'info two']);
});

test('a platform that is older than logs is asked once, and its tasks end as before', async () => {
  const stage = await contractStage();
  const nodes = ['x', 'y', 'z'].map((text) => stage.offer(text));
  stage.server.faults.add({
    on: ['logs'],
    fault: { kind: 'answer', status: 404, code: 'not_found' },
    times: 99,
  });
  await stage.start({
    run(task) {
      task.log.info('hello');
      return 'no-output' as const;
    },
  });
  for (const node of nodes) expect((await stage.ended(node)).end?.how).toBe('complete');
  expect(stage.server.journal.of('logs')).toHaveLength(1);
});

test('a failure carries the last lines when the log could not be sent', async () => {
  const stage = await contractStage();
  const node = stage.offer('x');
  const away = { kind: 'answer', status: 503, code: 'unavailable' } as const;
  stage.server.faults.add({ on: ['logs'], fault: away, times: 99 });
  await stage.start({
    run(task) {
      task.log.info('the last word');
      throw new Error('broken');
    },
  });
  const { end } = await stage.ended(node);
  expect(end?.how).toBe('fail');
  expect(end?.logTail).toMatch(/ info the last word\n.* error Error: broken\n {4}at /);
});

test('more lines than can be sent are dropped, counted and said', async () => {
  const stage = await contractStage();
  const node = stage.offer('x');
  const goOn = Promise.withResolvers<void>();
  const held = stage.server.faults.add({ on: ['logs'], fault: { kind: 'hold', until: goOn.promise } });
  await stage.start({
    async run(task) {
      for (let line = 0; line < 2_000; line += 1) task.log.info('x'.repeat(4_000));
      await eventually('the first lines are on their way', () => held.hits.length > 0);
      goOn.resolve();
      await eventually(
        'all are sent, or said to be dropped',
        () => accounted(node.runs[0]!.claims[0]!) === 2_000,
      );
      task.log.info('after it');
      return 'no-output' as const;
    },
  });
  const claim = await stage.ended(node);
  expect(dropped(claim).length).toBeGreaterThan(0);
  expect(lines(claim).at(-1)).toBe('info after it');
  expect(accounted(claim)).toBe(2_001);
  for (const { bodyBytes } of stage.server.journal.of('logs'))
    expect(bodyBytes).toBeLessThanOrEqual(256 * 1024);
});

test('lines leave a process that computes without a pause, and a kill loses at most the last second', async () => {
  const stage = await contractStage();
  const node = stage.offer('x');
  const child = processes.startScript(
    'sdk/main.ts',
    { SDP_URL: stage.server.url, SDP_RUNNER_TOKEN: stage.server.token, LINES_MS: '100' },
    { args: [resolve('test/sdk/support/runners/logs-busily.ts')] },
  );
  const count = () => node.runs[0]?.claims[0]?.log.flatMap((call) => call.entries).length ?? 0;
  await eventually('lines come while it computes', () => count() >= 20);
  child.kill('SIGKILL');
  await child.ended;
  const printed = child.log().match(/^line \d+$/gm)?.length ?? 0;
  expect(printed - count()).toBeLessThanOrEqual(10);
});

test('lines of a deployed runner are kept without its doing', async () => {
  const stage = await contractStage();
  const node = stage.offer('x');
  const child = spawn(
    process.execPath,
    ['sdk/deployed.ts', resolve('test/sdk/support/runners/prints-once.ts'), 'deployed', '1'],
    {
      stdio: ['ignore', 'ignore', 'inherit', 'pipe'],
      env: { SDP_URL: stage.server.url, SDP_RUNNER_TOKEN: stage.server.token },
    },
  );
  onTestFinished(() => void child.kill('SIGKILL'));
  expect(lines(await stage.ended(node))).toEqual(['info printed by a deployed runner']);
});

test('a task goes on, and keeps its lines, when the reader of its standard output has left', async () => {
  const stage = await contractStage();
  const node = stage.offer('x');
  const environment = { TEMPLATE: 'contract', BEHAVIOUR: 'prints' };
  const child = spawn(process.execPath, ['sdk/main.ts', 'test/sdk/support/runners/behaviours.ts'], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { SDP_URL: stage.server.url, SDP_RUNNER_TOKEN: stage.server.token, ...environment },
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  child.stdout.destroy();
  const claim = await stage.ended(node);
  expect(lines(claim)).toEqual(['info line 1', 'info line 2', 'info line 3']);
  expect(claim.end?.how).toBe('complete');
});

test('the last lines are stored although their connection went silent', async () => {
  const stage = await contractStage();
  const node = stage.offer('x');
  const over = Promise.withResolvers<void>();
  onTestFinished(() => over.resolve());
  const silent = stage.server.faults.add({ on: ['logs'], fault: { kind: 'hold', until: over.promise } });
  await stage.start({
    run(task) {
      task.log.info('the last line');
      return 'no-output' as const;
    },
  });
  const claim = await stage.ended(node);
  expect(silent.hits).toHaveLength(1);
  expect(lines(claim)).toEqual(['info the last line']);
});

test('the first line of the process says until when its token is valid', async () => {
  const lines: (readonly unknown[])[] = [];
  const stage = await contractStage();
  await stage.start({}, { log: (...line) => lines.push(line) });
  const tokenExpiresAt = expect.stringMatching(/^20\d\d-.*Z$/);
  expect(lines[0]).toMatchObject(['info', 'contract 0.0.0 claims tasks', { tokenExpiresAt }]);
});
