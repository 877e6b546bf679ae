/** The examples as their READMEs start them: manifest and template published, a separate process, a real upload. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { ask } from '../support/api.ts';
import { eventually } from '../support/eventually.ts';
import { openGate } from '../support/network/gate.ts';
import { testProcesses } from '../support/processes.ts';
import { ship } from '../support/templates.ts';
import { kitStage } from './support/kit-stage.ts';

const stage = await kitStage({ INCREMENTAL_MAX_INPUTS: '2' });
await ship(stage.database);
const token = stage.people.Developer.token;
const processes = testProcesses({});
const python = spawnSync('python3', ['--version']).status === 0 ? 'python3' : undefined;

async function call(method: string, path: string, json?: unknown) {
  const answer = await ask(stage.api.url, method, path, { token, json });
  if (answer.status >= 300) throw new Error(`${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body;
}

/** Publishes an example's files and makes a session of its template. */
async function sessionOf(example: string) {
  const read = (file: string) => JSON.parse(readFileSync(`sdk/examples/${example}/${file}`, 'utf8'));
  const published = await call('POST', '/api/v2/admin/runner-manifests', read('manifest.json'));
  expect(published).toMatchObject({ published: true, errors: [], warnings: [] });
  const template = await call('POST', '/api/v2/admin/session-templates', read('session-template.json'));
  const project = await call('POST', '/projects', { Title: example });
  const made = { ProjectId: project.id, SessionTemplateId: template.id };
  const session = await call('POST', '/session', made);
  const { nodeInstances } = await call('GET', `/api/v2/session/${session.id}/node-instances`);
  const entries = nodeInstances.map(({ name, id }: { name: string; id: number }) => [name, id]);
  return {
    sessionId: session.id,
    projectId: project.id,
    dataSourceId: 0,
    nodes: Object.fromEntries(entries) as Record<string, number>,
  };
}

function startExample(example: string, more: Record<string, string> = {}) {
  const variables = { SDP_URL: stage.api.url, SDP_RUNNER_TOKEN: token, ...more };
  const inPython = { PYTHONPATH: 'sdk/python/src', PYTHONDONTWRITEBYTECODE: '1', ...variables };
  return example === 'python'
    ? processes.startScript('sdk/examples/python/csv_to_json_lines.py', inPython, {
        program: python ?? 'python3',
      })
    : processes.startScript('sdk/main.ts', variables, { args: [`sdk/examples/${example}/runner.ts`] });
}

/** All outputs of a node by identifier, as text. */
async function outputsOf(nodeInstanceId: number | undefined): Promise<Map<string, string>> {
  const outputs = await call('GET', `/api/v2/node-instance/${nodeInstanceId}/outputs`);
  const texts = new Map<string, string>();
  for (const { id, outputIdentifier } of outputs) {
    const headers = { authorization: `Bearer ${token}` };
    const data = await fetch(`${stage.api.url}/api/v2/node-instance/outputs/${id}/data`, { headers });
    texts.set(outputIdentifier, await data.text());
  }
  return texts;
}

async function ends(child: ReturnType<typeof startExample>) {
  child.kill('SIGTERM');
  expect(await child.ended).toBe(0);
}

describe('resample-csv', () => {
  test('writes each recording at its rate, also one that is compressed and many megabytes large', async () => {
    const graph = await sessionOf('resample-csv');
    const rows = Array.from({ length: 200_001 }, (_, n) => `${n / 1_000},${n}`);
    const large = `time,value\n${rows.join('\n')}\n`;
    await stage.upload(graph, 'recording', 'time,v,name\n0,0,a\n0.25,5,b\n0.5,10,"c, d"\n');
    await stage.upload(graph, 'recording', gzipSync(large), { 'content-encoding': 'gzip' });
    const child = startExample('resample-csv');
    await eventually('both are written', async () => (await outputsOf(graph.nodes.resampled)).size === 2);
    const [small, second] = [...(await outputsOf(graph.nodes.resampled)).values()];
    expect(small).toBe('time,v,name\n0,0,a\n0.1,2,a\n0.2,4,a\n0.3,6,b\n0.4,8,b\n0.5,10,"c, d"\n');
    const lines = second!.trimEnd().split('\n');
    expect([lines.length, lines[1], lines[2], lines.at(-1)]).toEqual([2_002, '0,0', '0.1,100', '200,200000']);
    await ends(child);
  });

  test('says in which line a recording is wrong, and is not tried again', async () => {
    const graph = await sessionOf('resample-csv');
    await stage.upload(graph, 'recording', 'time,v\n0,1\n1,2\n0.5,3\n');
    const child = startExample('resample-csv');
    await stage.until(graph, 'resampled', 'Failed');
    const { statusDetails } = await stage.node(graph, 'resampled');
    expect(statusDetails).toBe('validation: row 4: the time goes back');
    await ends(child);
  });
});

describe('incremental-aggregation', () => {
  const table = (...speeds: number[]) =>
    `time,speed\n${speeds.map((speed, n) => `${n},${speed}`).join('\n')}\n`;

  test('adds each table once, however many tasks that takes, and makes the same anew in a reprocess', async () => {
    const graph = await sessionOf('incremental-aggregation');
    const child = startExample('incremental-aggregation');
    const upload = (text: string) => stage.upload(graph, 'tables', text);
    const until = (count: number) =>
      eventually(`${count} values are in`, async () => {
        const seen = JSON.parse(await stage.latest(graph, 'aggregate'));
        return seen.count === count ? seen : undefined;
      });
    for (let n = 1; n <= 5; n += 1) await upload(table(n, 10 * n));
    expect(await until(10)).toMatchObject({ tables: 5, sum: 165, least: 1, greatest: 50, mean: 16.5 });
    await upload('no table "');
    await upload(table(100));
    const all = { tables: 6, skipped: 1, count: 11, sum: 265, least: 1, greatest: 100 };
    expect(await until(11)).toMatchObject(all);
    await stage.until(graph, 'aggregate', 'Succeeded');
    const before = (await outputsOf(graph.nodes.aggregate)).size;
    await call('POST', `/api/v2/node-instance/${graph.nodes.aggregate}/reprocess`);
    await stage.until(graph, 'aggregate', 'Succeeded');
    expect(JSON.parse(await stage.latest(graph, 'aggregate'))).toMatchObject(all);
    expect((await outputsOf(graph.nodes.aggregate)).size).toBeGreaterThan(before);
    await upload(table(200));
    expect(await until(12)).toMatchObject({ tables: 7, sum: 465 });
    await ends(child);
  });
});

const why = python === undefined ? ' (there is no python3)' : '';
describe.skipIf(python === undefined)(`python${why}`, () => {
  test('turns tables into JSON lines, also those that are larger than one request', async () => {
    const graph = await sessionOf('python');
    const rows = Array.from({ length: 120_000 }, (_, n) => `${n},${n / 8},"sample ${n}${' '.repeat(100)}"`);
    await stage.upload(graph, 'tables', '\ufeffn,name\n1,größe\n2,\n');
    await stage.upload(graph, 'tables', gzipSync(`number,value,label\n${rows.join('\n')}\n`), {
      'content-encoding': 'gzip',
    });
    const child = startExample('python');
    await eventually('both are written', async () => (await outputsOf(graph.nodes.rows)).size === 2);
    const [small, large] = [...(await outputsOf(graph.nodes.rows)).values()];
    expect(small).toBe('{"n": 1, "name": "größe"}\n{"n": 2, "name": null}\n');
    expect(large!.length).toBeGreaterThan(16 * 1024 * 1024);
    const lines = large!.trimEnd().split('\n');
    expect(lines).toHaveLength(rows.length);
    expect(JSON.parse(lines.at(-1)!)).toMatchObject({ number: 119_999, value: 14_999.875 });
    await ends(child);
  });

  test('gives its task back at SIGTERM, which counts as no attempt, and another process does it', async () => {
    const graph = await sessionOf('python');
    const gate = await openGate(stage.api.url);
    // The task is at work for as long as its input comes: some 20 seconds.
    gate.set({ kind: 'slow', latencyMs: [0, 0], bytesPerSecond: 200_000 });
    const child = startExample('python', { SDP_URL: gate.url, SDP_RUNNER_GRACE_SECONDS: '0' });
    await stage.upload(graph, 'tables', `a,b\n${`${'1'.repeat(3_997)},2\n`.repeat(1_000)}`);
    // By its own log: a task that is still on its way to it is not released.
    await eventually('it works', () => /task of csv-to-json-lines claimed/.test(child.log()));
    await ends(child);
    await gate.close();
    expect(await stage.claims(graph, 'rows')).toMatchObject([{ attempt: 1, ending: 'release' }]);
    const next = startExample('python');
    await stage.until(graph, 'rows', 'Succeeded');
    expect((await stage.claims(graph, 'rows')).at(-1)).toMatchObject({ attempt: 1, ending: 'complete' });
    await ends(next);
  });

  test('says in which line a table is wrong', async () => {
    const graph = await sessionOf('python');
    const child = startExample('python');
    await stage.upload(graph, 'tables', 'a,b\n1,2\n3\n');
    await stage.until(graph, 'rows', 'Failed');
    const { statusDetails } = await stage.node(graph, 'rows');
    expect(statusDetails).toBe('validation: line 3: 1 fields in a table of 2 columns');
    await ends(child);
  });
});
