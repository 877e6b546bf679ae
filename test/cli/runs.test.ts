/** Logs, runs and rejected inputs, as an operator reads them in a terminal. */
import { describe, expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { runnerStage } from '../support/runner.ts';
import { brokenLineTo } from './broken-line.ts';
import { commandLine } from './support.ts';

const { runSdp, startSdp } = commandLine();
const stage = await runnerStage();
const { api, people } = stage;
const environment = { SDP_URL: api.url, SDP_TOKEN: people.adminToken };
const sdp = (args: readonly string[], more: Record<string, string> = {}) =>
  runSdp(args, { ...environment, ...more });

const line = (message: string, level = 'info', fields?: object) => ({
  at: '2026-03-01T10:04:01.120Z',
  level,
  message,
  ...(fields === undefined ? {} : { fields }),
});

/** A run that a runner holds, with lines in its log. */
async function loggedRun(...lines: readonly object[]) {
  const graph = await stage.chainOf(1, { maxAttempts: 1 });
  await stage.upload(graph, 'input', '1');
  const runner = stage.runner();
  const { taskId, runId } = (await runner.acquire(graph.template)) as { taskId: string; runId: string };
  let sequence = 0;
  const log = (...entries: readonly object[]) => {
    sequence += 1;
    return runner.call('POST', `/tasks/${taskId}/logs`, { sequence, entries });
  };
  await log(...lines);
  return { graph, runner, taskId, runId, log };
}

describe('sdp logs', () => {
  test('prints what was logged by level, text and attempt, plain or as one document a line', async () => {
    const run = await loggedRun(
      line('begins', 'debug', { lap: 3 }),
      line('Lap 3 is late.\n  at laps.ts\u001b[31m', 'warning'),
    );
    const open = await eventually('the log has settled', async () => {
      const ended = await sdp(['logs', run.runId]);
      return ended.out.includes('late') ? ended : undefined;
    });
    expect([open.code, open.err]).toEqual([0, '']);
    await run.runner.end(run.taskId, 'fail', { category: 'validation', reason: 'Row 7.' });
    const node = String(run.graph.nodes.n1);
    const { code, out } = await sdp(['logs', node]);
    expect(code).toBe(0);
    expect(out).toMatch(/Z {2}1 {2}info {5}Claimed by /);
    expect(out).toContain('2026-03-01 10:04:01Z  1  debug    begins  {"lap":3}\n');
    expect(out).toContain('  1  warning  Lap 3 is late.\n      at laps.ts [31m\n');
    const found = await sdp(['logs', run.runId, '--level', 'warning', '--search', 'LATE', '--json']);
    expect(
      found.out
        .trim()
        .split('\n')
        .map((text) => JSON.parse(text)),
    ).toMatchObject([{ level: 'warning', source: 'runner', attempt: 1 }]);
    expect((await sdp(['logs', run.runId, '--attempt', '2'])).out).toBe('');
    const colours = await sdp(['logs', run.runId, '--search', 'late'], { FORCE_COLOR: '1' });
    expect(colours.out).toMatch(/^\u001b\[33m[\s\S]*\u001b\[39m\n$/);
  });

  test('follows a run to its end, every line once, across lost connections', async () => {
    const run = await loggedRun(line('one'));
    const SDP_URL = await brokenLineTo(api.url, (asked, count) =>
      asked.endsWith('/logs') && count <= 3 ? 'after' : undefined,
    );
    const following = startSdp(['logs', run.runId, '--follow', '--level', 'info'], {
      ...environment,
      SDP_URL,
    });
    await eventually('the first line', () => following.printed.out.includes('one'));
    await run.log(line('hidden', 'debug'), line('two'));
    await eventually('the second line', () => following.printed.out.includes('two'));
    await run.log(line('three'));
    await run.runner.write(run.taskId, 'x');
    await run.runner.end(run.taskId, 'complete', { outcome: 'completed' });
    const { code, out } = await following.ended;
    expect(code).toBe(0);
    const messages = out
      .trim()
      .split('\n')
      .map((text) => text.split(/ {2,}/).at(-1));
    expect(messages.slice(1)).toEqual([
      'one',
      'two',
      'three',
      'Published 1 output, 1 bytes.',
      'Attempt 1 ended: completed.',
    ]);
  });

  test('of a node without a run, of an unknown node, and of an unknown run, is refused', async () => {
    const graph = await stage.chainOf(1);
    const node = graph.nodes.n1;
    expect(await sdp(['logs', String(node)])).toMatchObject({
      code: 1,
      err: `Node ${node} has no run. (404)\n`,
    });
    const noNode = await sdp(['logs', '999999']);
    expect([noNode.code, noNode.err]).toEqual([1, expect.stringMatching(/^Node instance not found\. \(404/)]);
    const unknown = await sdp(['logs', '0198f2b5-11d0-7b6e-8a43-6f0de41c2b97', '--follow']);
    expect([unknown.code, unknown.err]).toEqual([1, expect.stringContaining('(404, request ')]);
  });
});

test('sdp runs show and list say who ran what over which inputs, with names, and how it failed', async () => {
  const run = await loggedRun(line('Column lap is missing.', 'error'));
  await run.runner.end(run.taskId, 'fail', { category: 'validation', reason: 'Row 7.' });
  const asDeveloper = { SDP_TOKEN: people.Developer.token };
  expect((await sdp(['runs', 'retry', run.runId], asDeveloper)).code).toBe(0);
  const { code, out, err } = await eventually('the log has settled', async () => {
    const shown = await sdp(['runs', 'show', String(run.graph.nodes.n1)]);
    return shown.out.includes('First error') ? shown : undefined;
  });
  expect([code, err]).toEqual([0, '']);
  expect(out).toContain(`Run            ${run.runId}\n`);
  expect(out).toMatch(new RegExp(`^1 +failed +${run.runner.instanceId} .*validation: Row 7\\.$`, 'm'));
  expect(out).toContain('Configuration  revision 1: {');
  expect(out).toMatch(/^\d+ +input +\S+ +1 B +[0-9a-f]{12}$/m);
  expect(out).toMatch(/First error of the log:\n.* {2}1 {2}error {4}Column lap is missing\./);
  expect(out).toMatch(/^retry +Developer No \S+ /m);
  const asInstructor = await sdp(['runs', 'show', run.runId], { SDP_TOKEN: people.Instructor.token });
  expect(asInstructor).toMatchObject({ code: 0, err: '' });
  const shown = JSON.parse((await sdp(['runs', 'show', run.runId, '--json'])).out);
  expect(shown).toMatchObject({ id: run.runId, actions: [{ action: 'retry' }] });
  const { project, name } = JSON.parse((await sdp(['sessions', 'show', run.graph.sessionId, '--json'])).out);
  const filter = ['--template', run.graph.template, '--since', '2h', '--state', 'queued'];
  const listed = await sdp(['runs', 'list', '--project', String(project.id), ...filter]);
  expect(listed.out).toMatch(
    new RegExp(`^${run.runId} +n1 \\(${run.graph.nodes.n1}\\) +${name} +queued`, 'm'),
  );
  expect((await sdp(['runs', 'list', '--since', 'soon'])).code).toBe(2);
  expect((await sdp(['runs', 'list', '--project', 'no such'])).err).toBe(
    'There is no project no such: see `sdp projects list`.\n',
  );
});

const asDeveloper = (...args: string[]) => sdp(args, { SDP_TOKEN: people.Developer.token });

test('rejected inputs are listed with their reasons, and a reprocess runs the node over them alone', async () => {
  const graph = await stage.chainOf(1, { incremental: true });
  const node = String(graph.nodes.n1);
  expect((await asDeveloper('rejected', node)).out).toBe('No rejected inputs.\n');
  const none = await asDeveloper('reprocess', node, '--rejected');
  expect([none.code, none.err]).toEqual([1, 'The node has no rejected inputs.\n']);
  const ids: number[] = [];
  const named = { 'x-platform-output-metadata': '{"fileName":"bad lap.csv"}' };
  for (const text of ['1', 'bad', '2'])
    ids.push((await stage.upload(graph, 'input', text, text === 'bad' ? named : {})).body.id);
  const runner = stage.runner();
  const { taskId, runId } = await runner.acquire(graph.template);
  const why = { category: 'validation', reason: 'line 3: no time.' };
  await runner.call('PUT', `/tasks/${taskId}/rejections/${ids[1]}`, why);
  await runner.call('PUT', `/tasks/${taskId}/watermark`, { inputId: ids[2] });
  await runner.end(taskId, 'complete', { outcome: 'no-output' });
  const listed = await asDeveloper('rejected', node);
  expect(listed.out).toMatch(/^\d+ +input +bad lap\.csv +validation: line 3: no time\./m);
  expect(listed.out).toContain(runId);
  expect(JSON.parse((await asDeveloper('rejected', node, '--json')).out).rejectedInputs).toMatchObject([
    { outputId: ids[1] },
  ]);
  const taken = async () => {
    const task = await runner.acquire(graph.template);
    const { body } = await runner.call('GET', `/tasks/${task.taskId}/inputs?mode=since-watermark`);
    await runner.end(task.taskId, 'complete', { outcome: 'no-output' });
    return body.inputs.map(({ outputId }: { outputId: number }) => outputId);
  };
  expect((await asDeveloper('reprocess', node, '--rejected')).code).toBe(0);
  expect(await taken()).toEqual([ids[1]]);
  expect((await asDeveloper('reprocess', node, '--inputs', String(ids[0]), String(ids[2]))).code).toBe(0);
  expect(await taken()).toEqual([ids[0], ids[2]]);
  for (const wrong of [
    ['--inputs', 'x'],
    ['--inputs', '1', '--rejected'],
  ])
    expect((await asDeveloper('reprocess', node, ...wrong)).code).toBe(2);
});

test('a reprocess takes over more rejected inputs than one page of their list has', async () => {
  const graph = await stage.chainOf(1, { incremental: true });
  const uploaded = Array.from({ length: 101 }, (_, index) => stage.upload(graph, 'input', String(index)));
  const ids = (await Promise.all(uploaded)).map(({ body }) => body.id as number);
  const runner = stage.runner();
  const rejected: number[] = [];
  const read = async (taskId: string): Promise<number[]> => {
    const { body } = await runner.call('GET', `/tasks/${taskId}/inputs?mode=since-watermark&limit=500`);
    return body.inputs.map(({ outputId }: { outputId: number }) => outputId);
  };
  while (rejected.length < ids.length) {
    const { taskId } = await runner.acquire(graph.template);
    const found = await read(taskId);
    for (const id of found)
      await runner.call('PUT', `/tasks/${taskId}/rejections/${id}`, { category: 'validation', reason: 'no' });
    rejected.push(...found);
    await runner.call('PUT', `/tasks/${taskId}/watermark`, { inputId: found.at(-1) });
    const hasMore = rejected.length < ids.length;
    await runner.end(taskId, 'complete', { outcome: 'no-output', hasMore });
  }
  const again = await asDeveloper('reprocess', String(graph.nodes.n1), '--rejected');
  expect([again.code, again.err]).toEqual([0, '']);
  const { taskId } = await runner.acquire(graph.template);
  expect(new Set(await read(taskId)).size).toBeGreaterThanOrEqual(100);
});
