/** What is read in a terminal: watched sessions, reports, layouts, the doctor, completion. */
import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { startTestApi } from '../support/api.ts';
import { eventually } from '../support/eventually.ts';
import { certificate } from '../support/network/secured-temporal.ts';
import { runnerStage, type StageGraph } from '../support/runner.ts';
import { type Breaks, brokenLineTo } from './broken-line.ts';
import { commandLine } from './support.ts';

const { folder, runSdp, startSdp } = commandLine();
const stage = await runnerStage();
const { api, people } = stage;
const sdp = (args: readonly string[], environment: Record<string, string> = {}, input = '') =>
  runSdp(args, { SDP_URL: api.url, SDP_TOKEN: people.adminToken, ...environment }, input);
const brokenLine = (breaks: Breaks) => brokenLineTo(api.url, breaks);

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

  test('shows the words of a runner on one line, and nothing in them moves the cursor', async () => {
    const graph = await stage.chainOf(1);
    const watching = await watch(graph);
    await stage.upload(graph, 'input', '1');
    const runner = stage.runner();
    const task = await runner.acquire(graph.template);
    const reason = 'Row 7.\n\u001b]0;title\u0007\u001b[2J';
    await runner.end(task.taskId, 'fail', { category: 'validation', reason });
    const { out } = await watching.ended;
    expect(out).toMatch(/ {2}n1: Failed \(validation: Row 7\. \]0;title \[2J\)\n$/);
  });

  test('ends with 1 when the session is deleted', async () => {
    const graph = await stage.chainOf(1);
    const watching = await watch(graph);
    expect((await sdp(['sessions', 'delete', graph.sessionId, '--yes'])).code).toBe(0);
    const { code, out } = await watching.ended;
    expect([code, out]).toEqual([1, expect.stringMatching(/session: deleted\n$/)]);
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
  const file = join(folder, 'report.csv');
  const quiet = await sdp(['reports', 'download', '--format', 'csv', '-o', file, '--json']);
  expect([JSON.parse(quiet.out).file, quiet.err]).toEqual([file, '']);
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
  const broken = await sdp(['layouts', 'put', '-'], {}, '{\n  "name": Laps\n}');
  expect([broken.code, broken.err]).toEqual([
    1,
    "The standard input is not valid JSON: line 2, column 11: Unexpected token 'L'.\n",
  ]);
  expect((await sdp(['layouts', 'delete', String(id)])).out).toContain('Deleted.');
  expect((await sdp(['layouts', 'get', String(id)])).code).toBe(1);
});

test('a retention run is followed over failures of the line; one that no worker starts says so, and what it could not do in its own words', async () => {
  const error = 'The bucket could not be listed; its orphans remain until the next run.';
  const failures = new Map<number, 'before' | number>([
    [2, 'before'],
    [3, 503],
    [4, 429],
  ]);
  const url = await brokenLine((asked, count) =>
    asked === 'GET /api/v2/admin/retention' ? failures.get(count) : undefined,
  );
  const { printed, ended } = startSdp(['retention'], { SDP_URL: url, SDP_TOKEN: people.adminToken });
  const waits =
    'The retention run waits: no worker has started it. It stays requested when you end this command.\n';
  await eventually('it says that it waits', () => printed.err === waits);
  const end = 'update retention_run set ended_at = clock_timestamp(), error = $1 where ended_at is null';
  expect(await stage.database.query(`${end} returning 1`, [error])).toHaveLength(1);
  expect(await ended).toMatchObject({ code: 1, err: `${waits}${error}\n` });
});

describe('sdp doctor', () => {
  test('finds nothing wrong with a platform that is well', async () => {
    type Findings = { findings: Array<{ part: string; state: string }> };
    // There is no worker here that could reconcile them.
    await stage.database.query('update session set dirty_since = null');
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
      expect.arrayContaining(['API', 'database and storage', 'interface', 'clock', 'sign-in', 'workers']),
    ]);
    expect(out).not.toContain(people.adminToken);
  });

  test('finds workers that are away by the work that waits for them, for those who may see all work', async () => {
    const graph = await stage.chainOf(1);
    await stage.database.query(
      `update session set dirty_since = clock_timestamp() - interval '10 minutes' where id = $1`,
      [graph.sessionId],
    );
    const workers = await eventually('the metrics are read anew', async () => {
      const { code, out } = await sdp(['doctor']);
      if (!/workers +wrong/.test(out)) throw new Error(out);
      return { code, out };
    });
    expect([workers.code, workers.out]).toEqual([
      1,
      expect.stringMatching(/sessions that wait for a worker: [1-9]/),
    ]);
    await stage.database.query('update session set dirty_since = null');
    const { out } = await sdp(['doctor'], { SDP_TOKEN: people.Instructor.token });
    expect(out).toMatch(/workers +skipped +shown to Administrators and Developers/);
  });

  test('says how it finds the Temporal UI of another data folder', async () => {
    expect((await sdp(['doctor'])).out).toMatch(/Temporal UI +skipped +.*DATA_DIR/);
  });

  test('knows the platform that `npm start` runs here by every name of this machine', async () => {
    const running = join(folder, 'running.json');
    writeFileSync(running, JSON.stringify({ address: api.url, temporalUiUrl: `${api.url}/docs` }));
    const url = `http://localhost:${new URL(api.url).port}`;
    const { out } = await sdp(['doctor'], { SDP_URL: url });
    rmSync(running);
    expect(out).toMatch(/Temporal UI +ok +http/);
  });

  test('reports fault and remedy for an unreachable platform and an invalid token', async () => {
    const away = await sdp(['doctor'], { SDP_URL: 'http://127.0.0.1:1' });
    expect([away.code, away.out]).toEqual([
      1,
      expect.stringMatching(/API +wrong +does not answer[\s\S]*npm start/),
    ]);
    const unknown = { SDP_URL: 'http://platform.invalid' };
    expect((await sdp(['doctor'], unknown)).out).toMatch(/API +wrong +does not answer: .*platform\.invalid/);
    const { err } = await sdp(['sessions', 'list'], unknown);
    expect(err).toMatch(/^http:\/\/platform\.invalid does not answer: .*platform\.invalid\.$/m);
    const wrong = await sdp(['doctor'], { SDP_TOKEN: 'x' });
    expect([wrong.code, wrong.out]).toEqual([1, expect.stringMatching(/sign-in +wrong[\s\S]*sdp login/)]);
  });

  test('names the setting for a certificate of an authority that this machine does not know', async () => {
    const pair = {
      cert: readFileSync(certificate('server.pem')),
      key: readFileSync(certificate('server.key')),
    };
    const server = createServer(pair, (_, response) => response.end());
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const { code, out } = await sdp(['doctor'], { SDP_URL: `https://127.0.0.1:${port}` });
    expect([code, out]).toEqual([1, expect.stringMatching(/API +wrong[\s\S]*NODE_EXTRA_CA_CERTS/)]);
  });

  test('finds an authentication service that has another key than the platform', async () => {
    const strange = { ...stage.platform.environment, AUTH_URL: api.url, AUTH_SERVICE_KEY: 'w'.repeat(40) };
    const stranger = await startTestApi(strange);
    onTestFinished(() => stranger.stop());
    const { code, out } = await sdp(['doctor'], { SDP_URL: stranger.url });
    expect([code, out]).toEqual([1, expect.stringMatching(/authentication +wrong[\s\S]*AUTH_SERVICE_KEY/)]);
  });

  test('does not advise to sign in when the authentication service is away', async () => {
    const away = await startTestApi({ ...stage.platform.environment, AUTH_URL: 'http://127.0.0.1:9' });
    onTestFinished(() => away.stop());
    const { code, out } = await sdp(['doctor'], { SDP_URL: away.url });
    expect([code, out]).toEqual([1, expect.stringMatching(/authentication +wrong[\s\S]*sign-in +wrong/)]);
    expect(out).not.toContain('sdp login');
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
