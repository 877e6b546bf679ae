/** A run that failed on the platform fails in the same way on the author's machine, with both kits. */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { sweepAbandonedObjects } from '../../store/objects/pending-objects.ts';
import { sweepSupersededOutputs } from '../../store/outputs/versions.ts';
import { sweepRunnerInstances } from '../../store/runners/runner-instances.ts';
import { sweepTaskUploads } from '../../store/runs/sweep-task-uploads.ts';
import { pythonProgram } from '../support/python-program.ts';
import { runnerStage } from '../support/runner.ts';
import { commandLine } from './support.ts';

const stage = await runnerStage();
const { api, people, database } = stage;
const { objects } = api.composed.services;
const checkout = fileURLToPath(new URL('../../', import.meta.url));
const environment = {
  SDP_URL: api.url,
  SDP_TOKEN: people.Developer.token,
  SDP_RUNNER_TOKEN: 'hrt_secret',
  PYTHONPATH: join(checkout, 'sdk/python/src'),
};
const replay = (args: readonly string[], ...command: string[]) =>
  runSdp(['replay', ...args, '--', ...command], environment);

/** Adds up the numbers of its inputs; it fails on text that is not a number. */
const typescript = `
import { defineRunner, TaskFailure } from '@simulation-data-platform/runner';
export default defineRunner({ templates: [], async run(task) {
  console.log(Object.keys(process.env).filter((name) => name.startsWith('SDP_')).sort().join());
  let sum = Number(process.env.ADDED ?? 0);
  for await (const input of task.inputs('latest')) {
    const value = Number(await input.text());
    if (process.env.CORRECTED) continue;
    if (Number.isNaN(value)) throw new TaskFailure('validation', 'Input ' + input.outputIdentifier + ' is no number.');
    sum += value;
  }
  await task.write('sum\\n' + sum + '\\n', { identifier: 'sum' });
} });`;
const python = `
import os
import sdp

@sdp.runner(templates=[])
def add(task):
    total = 0
    for item in task.inputs('latest'):
        try:
            total += float(item.text())
        except ValueError:
            if not os.environ.get("CORRECTED"):
                raise sdp.TaskFailure("validation", f"Input {item.output_identifier} is no number.")
    task.write(f"sum\\n{total:g}\\n", identifier="sum")

sdp.run(add)
`;

const { folder, startSdp } = commandLine();
/** In a process of its own: the runner writes to its streams. */
const runSdp = (...command: Parameters<typeof startSdp>) => startSdp(...command).ended;
writeFileSync(join(folder, 'add.mts'), typescript);
writeFileSync(join(folder, 'add.py'), python);
const kits = [
  { kit: 'TypeScript', command: [process.execPath, join(checkout, 'sdk/main.ts'), join(folder, 'add.mts')] },
  { kit: 'Python', command: [pythonProgram ?? 'python3', join(folder, 'add.py')] },
];

/** A run over one input. */
async function run(input: string | Uint8Array, headers: Record<string, string> = {}) {
  const graph = await stage.chainOf(1, { maxAttempts: 1 });
  await stage.upload(graph, 'input', input, { 'x-platform-output-identifier': 'lap-7', ...headers });
  const runner = stage.runner();
  const task = (await runner.acquire(graph.template)) as { taskId: string; runId: string };
  return { graph, runner, ...task };
}

async function failedRun() {
  const failed = await run('seven');
  const reason = 'Input lap-7 is no number.';
  await failed.runner.end(failed.taskId, 'fail', { category: 'validation', reason });
  return failed;
}

/** Moves what happened in a session to the day before, and removes what is no longer needed. */
async function aDayLater(sessionId: string): Promise<void> {
  const runs = `(select id from node_run where session_id = $1)`;
  const moved = [
    ['node_run', ['created_at', 'ended_at'], 'session_id = $1'],
    ['node_attempt', ['available_at', 'started_at', 'ended_at'], `run_id in ${runs}`],
    ['node_claim', ['claimed_at', 'lease_until', 'ended_at'], `run_id in ${runs}`],
    ['node_output_superseded', ['superseded_at'], 'session_id = $1'],
  ] as const;
  for (const [table, columns, where] of moved) {
    const set = columns.map((column) => `${column} = ${column} - interval '1 day'`).join(', ');
    const rows = await database.query(`update ${table} set ${set} where ${where} returning 1`, [sessionId]);
    expect(rows.length, table).toBeGreaterThan(0);
  }
  await sweepSupersededOutputs(database, { olderThanSeconds: 300 });
  await sweepTaskUploads(database, objects);
  await sweepAbandonedObjects(database, objects, { olderThanSeconds: 300 });
  await sweepRunnerInstances(database);
}

async function completedRun() {
  const done = await run(gzipSync('7'), { 'content-encoding': 'gzip' });
  await done.runner.write(done.taskId, 'sum\n7\n', {
    'x-platform-output-identifier': 'sum',
    'content-type': 'text/plain; charset=utf-8',
  });
  await done.runner.end(done.taskId, 'complete', { outcome: 'completed' });
  return done;
}

describe.each(kits)('a replay with the $kit kit', ({ kit, command }) => {
  test.skipIf(kit === 'Python' && pythonProgram === undefined)(
    'fails a day later as the run did, and is over when the code is corrected',
    async () => {
      const failed = await failedRun();
      // The node has a newer input by now; the run keeps its own.
      await stage.upload(failed.graph, 'input', '8', { 'x-platform-output-identifier': 'lap-7' });
      await aDayLater(failed.graph.sessionId);
      const { code, err } = await replay([failed.runId], ...command);
      expect(err).toContain('The same failure as in the run: validation: Input lap-7 is no number.\n');
      expect(code).toBe(1);
      const corrected = await runSdp(['replay', failed.runId, '--', ...command], {
        ...environment,
        CORRECTED: '1',
      });
      expect([corrected.code, corrected.err]).toEqual([
        0,
        expect.stringContaining('It ends as completed here; the run failed with validation: '),
      ]);
    },
  );

  test.skipIf(kit === 'Python' && pythonProgram === undefined)(
    'compares outputs with those of the run',
    async () => {
      const { graph } = await completedRun();
      const out = join(folder, `out-${kit}`);
      const same = await replay([String(graph.nodes.n1), '--out', out], ...command);
      expect([same.code, same.err]).toEqual([0, expect.stringContaining('The same as in the run.\n')]);
      expect(readFileSync(join(out, 'outputs', 'sum'), 'utf8')).toBe('sum\n7\n');
    },
  );
});

test.each([
  ['TypeScript', 'runner.mts', typescript],
  ['Python', 'runner.py', python.replace('sdp.run(add)', '')],
])('without a command a replay runs the %s runner of this folder', async (kit, file, code) => {
  if (kit === 'Python' && pythonProgram === undefined) return;
  const { runId } = await failedRun();
  const own = join(folder, `own-${kit}`);
  mkdirSync(own);
  writeFileSync(join(own, file), code);
  const replayed = await runSdp(['replay', runId], environment, '', own);
  expect([replayed.code, replayed.err]).toEqual([
    1,
    expect.stringContaining('The same failure as in the run: validation: Input lap-7 is no number.\n'),
  ]);
  const nothing = await runSdp(['replay', runId], environment, '', folder);
  expect([nothing.code, nothing.err]).toEqual([
    2,
    'There is no runner.py or runner.ts here: name a command after --, or a folder with --save.\n',
  ]);
});

test.skipIf(pythonProgram === undefined)(
  'a replay runs what runner init made in Python as a plain program, too',
  async () => {
    const made = join(folder, 'made-runner');
    expect((await runSdp(['runner', 'init', made, '--python'], {})).code).toBe(0);
    const { runId } = await failedRun();
    const { err } = await replay([runId], pythonProgram!, join(made, 'runner.py'));
    expect(err).toContain('there are no rows');
  },
);

test('a replay gives the code no variable of the platform, and says what differs', async () => {
  const { runId } = await completedRun();
  const [{ command }] = kits as [(typeof kits)[0]];
  const changed = await runSdp(['replay', runId, '--', ...command], { ...environment, ADDED: '1' });
  expect(changed.code).toBe(1);
  expect(changed.out).toBe('SDP_REPLAY_CASE,SDP_REPLAY_OUT\n');
  expect(changed.err).toContain("differs  sum: line 2: '8', was '7'\n");
  expect(changed.err).toContain('It differs from the run: 2 differences.\n');
});

test('a replay is saved as a case with the bytes as stored, and never over other files', async () => {
  const { runId, taskId } = await completedRun();
  const saved = join(folder, 'case');
  const ended = await runSdp(['replay', runId, '--save', saved, '--json'], environment);
  expect([ended.code, ended.err, JSON.parse(ended.out)]).toEqual([
    0,
    '',
    expect.objectContaining({ inputs: 1, expected: 1 }),
  ]);
  const { task, inputs, state } = JSON.parse(readFileSync(join(saved, 'case.json'), 'utf8'));
  expect([task.taskId, inputs.length, state]).toEqual([taskId, 1, null]);
  const bytes = readFileSync(join(saved, 'inputs', String(inputs[0].outputId)));
  expect(bytes.equals(gzipSync('7'))).toBe(true);
  expect(readdirSync(join(saved, 'outputs'))).toEqual(['sum']);
  expect(await replay([runId, '--save', saved], 'true')).toMatchObject({ code: 2 });
  const failed = await failedRun();
  const other = join(folder, 'other');
  await runSdp(['replay', failed.runId, '--save', other], environment);
  expect(existsSync(join(other, 'outputs.json'))).toBe(false);
});

test('a replay refuses a command that is no runner, and a run that was never claimed', async () => {
  const { runId } = await failedRun();
  expect(await replay([runId], 'true')).toMatchObject({
    code: 1,
    err: expect.stringContaining("a runner of a kit, for example by 'sdp-runner my_runner.py'"),
  });
  expect(await replay([runId], 'no-such-command')).toMatchObject({ code: 2 });
  expect((await runSdp(['replay', runId], environment)).code).toBe(2);
  const graph = await stage.chainOf(1);
  await stage.upload(graph, 'input', '1');
  const early = await replay([String(graph.nodes.n1)], 'true');
  expect([early.code, early.err]).toEqual([1, expect.stringMatching(/\(4\d\d, request /)]);
});
