import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { openGate } from '../support/network/gate.ts';
import { runnerStage, type StageGraph } from '../support/runner.ts';
import { type Breaks, brokenLineTo } from './broken-line.ts';
import { commandLine } from './support.ts';

const { folder, runSdp, startSdp } = commandLine();
const stage = await runnerStage();
const { api, people } = stage;
const sdp = (args: readonly string[], environment: Record<string, string> = {}, input = '') =>
  runSdp(args, { SDP_URL: api.url, SDP_TOKEN: people.adminToken, ...environment }, input);
const brokenLine = (breaks: Breaks) => brokenLineTo(api.url, breaks);

function fileOf(name: string, content: string): string {
  mkdirSync(join(folder, 'files'), { recursive: true });
  const path = join(folder, 'files', name);
  writeFileSync(path, content);
  return path;
}

const outputsOf = async (graph: StageGraph) => {
  const { out } = await sdp(['outputs', 'list', String(graph.nodes.input), '--json']);
  return JSON.parse(out) as Array<{ id: number; outputIdentifier: string; contentType: string }>;
};

describe('sdp outputs list', () => {
  test('distinguishes a node without outputs from an unknown one', async () => {
    const graph = await stage.chainOf(1);
    expect(await outputsOf(graph)).toEqual([]);
    const empty = await sdp(['outputs', 'list', String(graph.nodes.input)]);
    expect([empty.code, empty.out]).toEqual([0, 'No outputs yet.\n']);
    const wrong = await sdp(['outputs', 'list', '999999', '--json']);
    expect([wrong.code, wrong.err]).toEqual([1, expect.stringContaining('Node instance not found.')]);
  });
});

describe('sdp upload', () => {
  test('sends several files to the input node of a session, and a repeated command sends none', async () => {
    const graph = await stage.chainOf(1);
    const files = ['one.csv', 'two.json', 'three'].map((name) => fileOf(name, `bytes of ${name}`));
    const first = await sdp(['upload', graph.sessionId, ...files, '--json', '--metadata', '{"lap":"ü"}']);
    expect([first.code, JSON.parse(first.out).uploads.length]).toEqual([0, 3]);
    const outputs = await outputsOf(graph);
    expect(outputs.map(({ contentType }) => contentType).sort()).toEqual([
      'application/json',
      'application/octet-stream',
      'text/csv',
    ]);
    expect(outputs[0]).toMatchObject({ metadata: { lap: 'ü' } });
    const again = await sdp(['upload', String(graph.nodes.input), ...files]);
    expect(again.err.match(/already stored as output/g)).toHaveLength(3);
    expect(await outputsOf(graph)).toEqual(outputs);
  });

  test('reads the outputs of a node once for any number of files, and sends the missing ones', async () => {
    const graph = await stage.chainOf(1);
    const path = `/api/v2/node-instance/${graph.nodes.input}/outputs`;
    const files = ['a.csv', 'b.csv', 'c.csv', 'd.csv'].map((name) => fileOf(name, `bytes of ${name}`));
    expect((await sdp(['upload', graph.sessionId, files[0]!, files[2]!])).code).toBe(0);
    const asked: string[] = [];
    const others: Promise<unknown>[] = [];
    const url = await brokenLine((what) => {
      // Another writer adds one of the files, and one more, during the transfer.
      if (what === `POST ${path}/data` && !asked.includes(what))
        others.push(sdp(['upload', graph.sessionId, files[1]!, fileOf('other.csv', 'of another')]));
      asked.push(what);
      return undefined;
    });
    const ended = await sdp(['upload', graph.sessionId, ...files, '--parallel', '2'], { SDP_URL: url });
    await Promise.all(others);
    expect([ended.code, ended.err.match(/already stored as output/g)]).toEqual([
      0,
      Array(2).fill(expect.any(String)),
    ]);
    expect(asked.filter((what) => what === `GET ${path}`)).toHaveLength(1);
    expect(asked.filter((what) => what === `POST ${path}/data`)).toHaveLength(2);
    const names = (await outputsOf(graph)).map(({ outputIdentifier }) => outputIdentifier.split('-')[0]);
    expect(names.sort()).toEqual(['a.csv', 'b.csv', 'c.csv', 'd.csv', 'other.csv']);
    const again = await sdp(['upload', graph.sessionId, ...files]);
    expect(again.err.match(/already stored as output/g)).toHaveLength(4);
  });

  test('retries broken uploads, and finds those that had arrived', async () => {
    const graph = await stage.chainOf(1);
    const path = `POST /api/v2/node-instance/${graph.nodes.input}/outputs/data`;
    const url = await brokenLine((asked, count) => {
      if (asked !== path || count > 2) return undefined;
      return count === 1 ? 'before' : 'after';
    });
    const file = fileOf('broken.csv', 'a,b\n1,2\n');
    const ended = await sdp(['upload', graph.sessionId, file], { SDP_URL: url });
    expect([ended.code, ended.err]).toEqual([0, expect.stringContaining('already stored as output')]);
    const [output, ...others] = await outputsOf(graph);
    expect(others).toEqual([]);
    const saved = join(folder, 'saved.csv');
    expect((await sdp(['outputs', 'download', String(output!.id), '-o', saved])).code).toBe(0);
    expect(readFileSync(saved, 'utf8')).toBe('a,b\n1,2\n');
    const lineage = await sdp(['outputs', 'lineage', String(output!.id)]);
    expect(lineage.out).toContain(`Output    ${output!.id} (${output!.outputIdentifier})`);
  });

  test('goes on with a long file where the line broke, also in another command', async () => {
    const graph = await stage.chainOf(1);
    const bytes = randomBytes(40 * 1024 * 1024);
    const file = join(folder, 'long.bin');
    writeFileSync(file, bytes);
    const gate = await openGate(api.url);
    const through = { SDP_URL: gate.url };
    gate.set({ kind: 'cut', direction: 'requests', afterBytes: 18 * 1024 * 1024 });
    const broken = await sdp(['upload', graph.sessionId, file, '--retries', '0'], through);
    expect([broken.code, broken.err]).toEqual([1, expect.stringContaining('failed')]);
    const before = gate.treated;
    const ended = await sdp(['upload', graph.sessionId, file, '--metadata', '{"lap":"ü"}'], through);
    expect([ended.code, gate.treated - before]).toEqual([0, 1]);
    await gate.close();
    const [output, ...others] = await outputsOf(graph);
    expect(others).toEqual([]);
    const saved = join(folder, 'long.saved');
    expect((await sdp(['outputs', 'download', String(output!.id), '-o', saved])).code).toBe(0);
    expect(readFileSync(saved).equals(bytes)).toBe(true);
    const again = await sdp(['upload', graph.sessionId, file]);
    expect(again.err).toContain('already stored as output');
  });

  test('does not retry a refused upload, and ends with 1', async () => {
    const graph = await stage.chainOf(1);
    await sdp(['sessions', 'freeze', graph.sessionId]);
    const ended = await sdp(['upload', graph.sessionId, fileOf('late.csv', 'x')]);
    expect([ended.code, ended.err]).toEqual([
      1,
      expect.stringContaining('Session is frozen. (400, request '),
    ]);
    expect((await sdp(['upload', graph.sessionId, '/nowhere'])).err).toBe('File not found: /nowhere.\n');
    expect((await sdp(['upload', graph.sessionId, '--node', 'x', fileOf('a', 'a')])).code).toBe(2);
  });
});

/** A watch that has read the current state of the session and now follows live. */
async function watch(graph: StageGraph, url = api.url, ...options: string[]) {
  const environment = { SDP_URL: url, SDP_TOKEN: people.adminToken };
  const args = ['sessions', 'watch', graph.sessionId, '--until-done', ...options];
  const { printed, ended } = startSdp(args, environment);
  await eventually('it shows the session', () => /participant/.test(printed.out));
  return { ended };
}

describe('sdp sessions watch', () => {
  test('ends with 0 when all nodes have succeeded, across a lost connection and without repeated lines', async () => {
    const graph = await stage.chainOf(1);
    const url = await brokenLine((asked, count) =>
      asked.endsWith('/events') && count <= 2 ? 'after' : undefined,
    );
    const watching = await watch(graph, url);
    await stage.upload(graph, 'input', '1');
    const runner = stage.runner();
    const task = await runner.acquire(graph.template);
    await runner.write(task.taskId, 'out');
    await runner.end(task.taskId, 'complete', { outcome: 'completed' });
    const { code, out, err } = await watching.ended;
    expect([code, err]).toEqual([0, '']);
    expect(out.match(/n1: Succeeded/g)).toHaveLength(1);
  });

  test('ends with 1 when a node has failed, and prints events as lines for programs', async () => {
    const graph = await stage.chainOf(1);
    const watching = await watch(graph, api.url, '--json');
    await stage.upload(graph, 'input', '1');
    const runner = stage.runner();
    const task = await runner.acquire(graph.template);
    await runner.end(task.taskId, 'fail', { category: 'validation', reason: 'Row 7.' });
    const { code, out } = await watching.ended;
    expect(code).toBe(1);
    const events = out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(events.at(-1)).toMatchObject({ event: 'node', data: { name: 'n1', state: 'Failed' } });
  });

  test('is refused for an unknown session', async () => {
    const { code, err } = await sdp(['sessions', 'watch', '0198f2b4-6c1e-7d3a-9b52-3f1c8a7e4d10']);
    expect([code, err]).toEqual([1, expect.stringContaining('Session not found. (404, request ')]);
  });
});

test('reports are listed and saved under the name from the platform', async () => {
  const saved = await sdp(['reports', 'download', '--format', 'csv', '-o', '-']);
  const listed = await sdp(['reports', 'list']);
  expect([saved.code, listed.code]).toEqual([0, 0]);
  expect(listed.out).toMatch(/^KEY +NAME +DEFAULT/);
});

test('a report is scheduled, run, listed and fetched by commands', async () => {
  const made = await sdp([
    'reports',
    'schedule',
    'create',
    'session-list',
    '--every',
    'week',
    '--at',
    '06:30',
    '--json',
  ]);
  expect([made.code, made.err]).toEqual([0, '']);
  const { id } = JSON.parse(made.out) as { id: string };
  const listed = await sdp(['reports', 'schedule', 'list']);
  expect(listed.out).toContain('every week monday 06:30 UTC');
  expect((await sdp(['reports', 'schedule', 'disable', id])).out).toContain('Disabled.');
  expect((await sdp(['reports', 'schedule', 'enable', id])).out).toContain('Enabled; next ');
  expect((await sdp(['reports', 'schedule', 'run', id])).code).toBe(0);
  const files = await sdp(['reports', 'files', '--schedule', id]);
  expect([files.code, files.err]).toEqual([0, '']);
  expect((await sdp(['reports', 'schedule', 'delete', id])).out).toContain('Deleted.');
  const gone = await sdp(['reports', 'fetch', id]);
  expect([gone.code, gone.err]).toEqual([1, expect.stringContaining('Report file not found.')]);
});

test('a layout is put from a file, printed as it was put, replaced and deleted', async () => {
  const layout = { version: 1, panels: [{ kind: 'lines', channels: ['speed'] }] };
  const json = (name: string) => JSON.stringify({ name, scope: 'everyone', layout });
  const made = await sdp(['layouts', 'put', '-', '--json'], {}, json('From a file'));
  expect([made.code, made.err]).toEqual([0, '']);
  const { id } = JSON.parse(made.out) as { id: number };
  const got = await sdp(['layouts', 'get', String(id)]);
  expect(JSON.parse(got.out)).toMatchObject({
    name: 'From a file',
    scope: 'everyone',
    layout: { version: 1 },
  });
  const again = await sdp(
    ['layouts', 'put', '-', '--id', String(id)],
    {},
    got.out.replace('From a file', 'Anew'),
  );
  expect([again.code, again.out]).toEqual([0, expect.stringContaining(`Saved Anew as layout ${id}.`)]);
  expect((await sdp(['layouts', 'list'])).out).toContain('Anew');
  expect((await sdp(['layouts', 'put', '-'], {}, 'no JSON')).err).toContain('- is not JSON.');
  expect((await sdp(['layouts', 'delete', String(id)])).out).toContain('Deleted.');
  expect((await sdp(['layouts', 'get', String(id)])).code).toBe(1);
});

describe('sdp doctor', () => {
  test('finds nothing wrong with a platform that is well', async () => {
    type Findings = { findings: Array<{ part: string; state: string }> };
    // On a busy machine a part may answer too late for it.
    const { code, out } = await eventually('all parts answer in time', async () => {
      const looked = await sdp(['doctor', '--json']);
      if (looked.code !== 0) throw new Error(looked.out);
      return looked;
    });
    const { findings } = JSON.parse(out) as Findings;
    expect(findings.filter(({ state }) => !['ok', 'skipped'].includes(state))).toEqual([]);
    expect([code, findings.map(({ part }) => part)]).toEqual([
      0,
      expect.arrayContaining(['API', 'database and storage', 'interface', 'clock', 'sign-in']),
    ]);
    expect(out).not.toContain(people.adminToken);
  });

  test('reports fault and remedy for an unreachable platform and an invalid token', async () => {
    const away = await sdp(['doctor'], { SDP_URL: 'http://127.0.0.1:1' });
    expect([away.code, away.out]).toEqual([
      1,
      expect.stringMatching(/API +wrong +does not answer[\s\S]*npm start/),
    ]);
    const wrong = await sdp(['doctor'], { SDP_TOKEN: 'x' });
    expect([wrong.code, wrong.out]).toEqual([1, expect.stringMatching(/sign-in +wrong[\s\S]*sdp login/)]);
  });
});

test('the shell completes commands, subcommands and options', async () => {
  const { out: script } = await sdp(['completion', 'bash']);
  const complete = (...words: string[]) => {
    const test = `COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}; _sdp; echo "\${COMPREPLY[@]}"`;
    return spawnSync('bash', ['-c', `${script}\n${test}`], { encoding: 'utf8' }).stdout.trim();
  };
  expect(complete('sdp', 'se')).toBe('sessions');
  expect(complete('sdp', 'sessions', 'un')).toBe('unfreeze');
  expect(complete('sdp', 'sessions', 'watch', '--u')).toBe('--url --until-done');
  expect((await sdp(['completion', 'zsh'])).out).toContain('#compdef sdp');
});
