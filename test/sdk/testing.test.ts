/** Tasks in memory and saved cases, for the tests of runners. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import resampleCsv from '../../sdk/examples/resample-csv/runner.ts';
import { defineRunner, type Task, TaskFailure } from '../../sdk/index.ts';
import { CaseError, runCase, type TestInput, testTask } from '../../sdk/testing.ts';
import { testProcesses } from '../support/processes.ts';

const processes = testProcesses({});

test('an input of a test without bytes and without a file is refused', async () => {
  const misspelled = { text: '1', nodeName: 'laps' } as TestInput;
  await expect(testTask(() => {}, { inputs: ['0', misspelled] })).rejects.toThrow(
    'Input 2 of the test has neither bytes nor a file.',
  );
});

test('a task in memory shows outputs, progress, log, state and watermark', async () => {
  const runner = defineRunner<{ add: number }, { sum: number }>({
    templates: ['adds'],
    async run(task) {
      let { sum } = (await task.state.get()) ?? { sum: 0 };
      await task.eachNewInput(async (input) => {
        task.progress({ phase: 'adding', done: input.outputId });
        console.log(`reading ${input.outputIdentifier}`);
        sum += Number(await input.text()) + task.configuration.add;
        task.state.set({ sum });
        await task.writeJson({ sum }, { metadata: { of: 'größe' }, gzip: true });
      });
    },
  });
  const result = await testTask(runner, {
    inputs: ['1', Buffer.from('2'), { bytes: '3', identifier: 'three', gzip: true }],
    configuration: { add: 10 },
    state: { sum: 100 },
    watermark: 1,
  });
  expect(result).toMatchObject({
    endedBy: 'complete',
    outcome: 'completed',
    hasMore: false,
    state: { sum: 125 },
    watermark: 3,
    progress: [{ phase: 'adding', done: 2 }, { done: 3 }],
    logs: [
      { level: 'info', message: 'reading input-2' },
      { level: 'info', message: 'reading three' },
    ],
    dropped: [],
    error: undefined,
  });
  expect(result.outputs.map((output) => [output.identifier, output.json(), output.metadata])).toEqual([
    ['test-run.1.1', { sum: 112 }, { of: 'größe' }],
    ['test-run.2.1', { sum: 125 }, { of: 'größe' }],
  ]);
});

test('ends are those of the platform', async () => {
  const nothing = await testTask(() => undefined);
  expect(nothing).toMatchObject({ endedBy: 'complete', outcome: 'no-output' });
  const refused = await testTask(() => 'completed');
  expect(refused).toMatchObject({ endedBy: 'fail', category: 'error', outcome: undefined });
  const failed = await testTask(
    async (task) => {
      await task.eachNewInput(async (input) => {
        await task.write(await input.text());
        if (input.outputId === 2) throw new TaskFailure('validation', 'bad');
      });
    },
    { inputs: ['a', 'b', 'c'] },
  );
  expect(failed).toMatchObject({ endedBy: 'fail', category: 'validation', reason: 'bad', watermark: 1 });
  expect(failed.outputs.map((output) => output.text())).toEqual(['a']);
  expect(failed.dropped.map((output) => output.text())).toEqual(['b']);
  expect(failed.logs.at(-1)).toMatchObject({
    level: 'error',
    message: expect.stringMatching(/bad\n {4}at /),
  });
  const rejected = await testTask(
    {
      onBadInput: 'reject',
      run: async (task) => {
        await task.eachNewInput(() => {
          throw new TaskFailure('validation', 'bad');
        });
      },
    },
    { inputs: ['a'] },
  );
  expect(rejected).toMatchObject({ outcome: 'no-output', rejected: [{ outputId: 1, reason: 'bad' }] });
});

test('annotations are those that the platform would get', async () => {
  const result = await testTask(async (task) => {
    await task.annotate({ from: 1500, label: 'Brake lock', tags: ['brakes'], channel: 'speed' });
    await task.annotate({
      from: new Date('2026-03-14T09:30:00Z'),
      to: Date.UTC(2026, 2, 14, 9, 31),
      label: 'Lap 1',
    });
    await task.writeJson({});
  });
  const none = { to: null, text: '', tags: [], channel: null };
  expect(result.annotations).toEqual([
    { ...none, from: '1970-01-01T00:00:01.500Z', label: 'Brake lock', tags: ['brakes'], channel: 'speed' },
    { ...none, from: '2026-03-14T09:30:00.000Z', to: '2026-03-14T09:31:00.000Z', label: 'Lap 1' },
  ]);
});

test('a run with annotations and without an output is warned that they are not published', async () => {
  const mark = { from: 0, label: 'Lap 1' };
  const messages = async (work: (task: Task) => Promise<unknown>, inputs: readonly string[] = []) => {
    const run = async (task: Task) => void (await work(task));
    const { logs } = await testTask(run, { inputs });
    return logs.map(({ level, message }) => `${level}: ${message}`);
  };
  const dropped = 'warning: The run wrote no output: its annotations (2) are not published.';
  expect(await messages((task) => task.annotate(mark, mark))).toEqual([dropped]);
  expect(await messages((task) => task.annotate(mark).then(() => task.write('a')))).toEqual([]);
  // A move of the watermark publishes them.
  const moves = (task: Task) => task.eachNewInput(() => task.annotate(mark));
  expect(await messages(moves, ['a'])).toEqual([]);
});

test('a cancel and the cap of one task come as on the platform', async () => {
  const cancel = new AbortController();
  const cancelled = await testTask(
    async (task) => {
      cancel.abort();
      for await (const _input of task.inputs());
    },
    { inputs: ['a'], cancel: cancel.signal },
  );
  expect(cancelled).toMatchObject({ endedBy: 'fail', reason: 'cancelled' });
  const capped = await testTask(async (task) => void (await task.eachNewInput(() => undefined)), {
    inputs: ['a', 'b', 'c'],
    maxInputsPerTask: 2,
  });
  expect(capped).toMatchObject({ hasMore: true, watermark: 2 });
});

test('an example of the kit is tested in a line', async () => {
  const { outputs } = await testTask(resampleCsv, {
    inputs: ['time,speed\n0,1\n1,3\n'],
    configuration: { rateHz: 2 },
  });
  expect(outputs.map((output) => output.text())).toEqual(['time,speed\n0,1\n0.5,2\n1,3\n']);
});

const claim = {
  ...{ taskId: 't', runId: 'r', attempt: 2, maxAttempts: 3, reason: 'retry', projectId: 1, sessionId: 's' },
  ...{ sessionName: 's', nodeInstanceId: 2, nodeName: 'n', nodeTemplate: 't', runnerType: 'r' },
  ...{ configuration: { add: 1 }, parents: [{ nodeInstanceId: 1, name: 'in' }], traceparent: null },
  ...{ claimedAt: '2026-01-01T00:00:00.000Z', leaseExpiresAt: '2026-01-01T00:00:30.000Z' },
  ...{ heartbeatIntervalSeconds: 10, incremental: { watermark: 5, pendingInputs: 2, maxInputsPerTask: 100 } },
};

/** A case of two new inputs and one that was consumed before. */
function savedCase(): string {
  const folder = mkdtempSync(join(tmpdir(), 'sdp-case-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(join(folder, 'inputs'));
  const texts: readonly (readonly [number, string])[] = [
    [5, '0'],
    [6, '10'],
    [7, '20'],
  ];
  const inputs = texts.map(([outputId, text]) => {
    writeFileSync(join(folder, 'inputs', String(outputId)), text);
    const wire = { outputId, nodeInstanceId: 1, nodeName: 'in', outputIdentifier: `i${outputId}` };
    const stored = { contentType: 'text/plain', contentEncoding: null, sizeBytes: text.length, sha256: null };
    return { ...wire, ...stored, metadata: null, createdAt: '2026-01-01T00:00:00.000Z' };
  });
  writeFileSync(
    join(folder, 'case.json'),
    JSON.stringify({ caseVersion: 1, task: claim, inputs, state: null }),
  );
  return folder;
}

const adder = (format: (sum: number) => string) =>
  defineRunner<{ add: number }>({
    templates: [],
    async run(task) {
      await task.eachNewInput(async (input) => {
        await task.write(format(Number(await input.text()) + task.configuration.add));
      });
    },
  });
const right = adder((sum) => `sum\n${sum}\n`);

test('a saved case says how outputs differ from those of the run', async () => {
  const folder = savedCase();
  const saved = await runCase(folder, right, { update: true });
  expect(saved.outputs.map(({ identifier }) => identifier)).toEqual(['r.5.1', 'r.6.1']);
  expect((await runCase(folder, right)).differences).toEqual([]);
  const [first, line] = (
    await runCase(
      folder,
      adder((sum) => `sum\n${sum + 1}\n`),
    )
  ).differences;
  expect(first).toMatch(/^r\.5\.1: SHA-256 [0-9a-f]{64}, was [0-9a-f]{64}$/);
  expect(line).toBe("r.5.1: line 2: '12', was '11'");
  expect(
    (
      await runCase(
        folder,
        adder((sum) => `sum\n${sum}`),
      )
    ).differences.slice(0, 2),
  ).toEqual(['r.5.1: 6 bytes, were 7', "r.5.1: line 3: nothing, was ''"]);
  const nothing = await runCase(folder, () => undefined);
  expect(nothing.differences).toEqual(['r.5.1: it was not written', 'r.6.1: it was not written']);
});

test('a saved case lists since the watermark what its run got, where it says so', async () => {
  const folder = savedCase();
  const file = join(folder, 'case.json');
  const saved = JSON.parse(readFileSync(file, 'utf8'));
  const inputs = [...saved.inputs, { ...saved.inputs[0], outputId: 9 }];
  writeFileSync(join(folder, 'inputs', '9'), '5');
  writeFileSync(file, JSON.stringify({ ...saved, inputs, sinceWatermark: [6, 9] }));
  const { outputs } = await runCase(folder, right);
  expect(outputs.map(({ identifier }) => identifier)).toEqual(['r.5.1', 'r.6.1']);
});

test.each([
  [7, [5]],
  [5, [6, 7, 5]],
])(
  'an input that was replaced has the place of its new version: above %d are %j',
  async (watermark, since) => {
    const folder = savedCase();
    const file = join(folder, 'case.json');
    const saved = JSON.parse(readFileSync(file, 'utf8'));
    const [first, ...others] = saved.inputs;
    const inputs = [...others, first];
    writeFileSync(file, JSON.stringify({ ...saved, inputs, watermark, sinceWatermark: since }));
    const result = await runCase(folder, right);
    expect([result.outputs.length, result.watermark]).toEqual([since.length, 5]);
  },
);

test('a folder without a case, or without the bytes of an input, is refused by name', async () => {
  await expect(runCase(tmpdir(), right)).rejects.toThrow(CaseError);
  const folder = savedCase();
  rmSync(join(folder, 'inputs', '6'));
  await expect(runCase(folder, right)).rejects.toThrow('The case has no bytes of input 6.');
});

test('SDP_REPLAY_CASE makes sdp-runner work on that case, print, and write what came of it', async () => {
  const folder = savedCase();
  await runCase(folder, right, { update: true });
  const module = join(folder, 'adder.mts');
  writeFileSync(
    module,
    `import { defineRunner } from '@simulation-data-platform/runner';
     export default defineRunner({ templates: [], async run(task) {
       await task.eachNewInput(async (input) => {
         task.progress({ phase: 'adding', done: 1, total: 2, unit: 'inputs' });
         task.log.info('input ' + input.outputId);
         console.log('printed');
         await task.write('sum\\n' + (Number(await input.text()) + task.configuration.add) + (process.env.WRONG ?? '') + '\\n');
       });
     } });`,
  );
  const replay = async (variables: Record<string, string>) => {
    const out = join(folder, 'out');
    const all = { SDP_REPLAY_CASE: folder, SDP_REPLAY_OUT: out, ...variables };
    const child = processes.startScript('sdk/main.ts', all, { args: [resolve(module)] });
    const code = await child.ended;
    return { code, log: child.log(), result: JSON.parse(readFileSync(join(out, 'result.json'), 'utf8')) };
  };
  const same = await replay({});
  expect(same.code, same.log).toBe(0);
  expect(same.log).toMatch(/^\d\d:\d\d:\d\d\.\d{3} {2}info {5}input 6$/m);
  expect(same.log.match(/^printed$/gm)).toHaveLength(2);
  expect(same.log).toContain('progress  adding 1 of 2 inputs\n');
  expect(same.log.trimEnd()).toMatch(/The task ended: completed\. Outputs: 2\.$/);
  expect(readFileSync(join(folder, 'out/outputs/r.6.1'), 'utf8')).toBe('sum\n21\n');
  expect(same.result).toEqual({
    ...{ endedBy: 'complete', outcome: 'completed', category: null, reason: null, hasMore: false },
    ...{ statusDetails: null, state: null, watermark: 7, rejected: [], differences: [] },
  });
  const other = await replay({ WRONG: '?' });
  expect(other.code).toBe(1);
  expect(other.log).toContain("differs  r.5.1: line 2: '11?', was '11'\n");
});
