import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { tokenStage } from '../api/runner-tokens/support.ts';
import { runnerStage } from '../support/runner.ts';
import { ship } from '../support/templates.ts';
import { commandLine } from './support.ts';

const { folder, runSdp } = commandLine();
const stage = await runnerStage();
const { api, database, people } = stage;
await ship(api.composed.services.database);

const sdp = (args: readonly string[], environment: Record<string, string> = {}, input = '') =>
  runSdp(args, { SDP_URL: api.url, SDP_TOKEN: people.adminToken, ...environment }, input);
/** What a command prints for programs; fails when the command does. */
async function json(...args: string[]) {
  const { code, out, err } = await sdp([...args, '--json']);
  if (code !== 0) throw new Error(`sdp ${args.join(' ')}: ${err}`);
  return JSON.parse(out);
}

const nobody = { SDP_TOKEN: '' };

test('accounts are created, found, updated and deactivated', async () => {
  const name = `petra-${randomUUID().slice(0, 8)}`;
  const first = 'a sentence of some length';
  const created = await sdp(['users', 'create', name, '--role', 'Instructor', '--password-stdin'], {}, first);
  expect(created).toMatchObject({ code: 0, out: expect.stringContaining(`Created ${name} (Instructor)`) });
  expect((await json('users', 'list', '--search', name)).users).toMatchObject([{ username: name }]);
  expect((await sdp(['users', 'password', name, '--password-stdin'], {}, 'another sentence')).code).toBe(0);
  const signIn = ['login', '--username', name, '--password-stdin'];
  expect((await sdp(signIn, nobody, first)).code).toBe(1);
  expect((await sdp(signIn, nobody, 'another sentence')).code).toBe(0);
  expect((await sdp(['users', 'deactivate', name.toUpperCase()])).out).toBe(`${name} is deactivated.\n`);
  expect((await sdp(signIn, nobody, 'another sentence')).code).toBe(1);
  expect(await sdp(['users', 'deactivate', 'nobody-at-all'])).toMatchObject({
    code: 1,
    err: 'There is no user nobody-at-all: see `sdp users list`.\n',
  });
});

test('tokens of devices and runners are shown once, listed without their values and revoked', async () => {
  const offline = await json('tokens', 'offline', 'create');
  const [kept] = (await json('tokens', 'offline', 'list')).slice(-1);
  expect(offline.token).toMatch(/^hot_/);
  expect((await sdp(['tokens', 'offline', 'list'])).out).not.toContain(offline.token);
  expect((await sdp(['tokens', 'offline', 'revoke', kept.secretId])).out).toBe('Revoked.\n');
  const graph = await stage.chainOf(1);
  expect(graph.template).toBeTruthy();
  const made = await sdp(['tokens', 'runner', 'create', '--type', 'outside-runner', '--label', 'Lab']);
  expect([made.out, made.err]).toEqual([
    expect.stringMatching(/^hrt_\S+\n$/),
    expect.stringContaining('The token is shown once.'),
  ]);
  const [runner] = await json('tokens', 'runner', 'list');
  expect(runner).toMatchObject({ label: 'Lab', runnerTypes: ['outside-runner'], revoked: false });
  expect((await sdp(['tokens', 'runner', 'revoke', runner.id])).code).toBe(0);
  expect((await json('tokens', 'runner', 'list'))[0].revoked).toBe(true);
});

test('sessions are found, read, frozen, closed and deleted, the last only after confirmation', async () => {
  const { sessionId } = await stage.chainOf(1);
  expect((await json('sessions', 'list', '--search', sessionId)).sessions).toMatchObject([{ id: sessionId }]);
  const table = (await sdp(['sessions', 'list'])).out.split('\n');
  expect(table[0]).toMatch(/^ID +NAME +STATE +NODES +PROJECT +TEMPLATE +CREATED$/);
  const idsOf = async (...filter: string[]) =>
    (await json('sessions', 'list', '--search', sessionId, ...filter)).sessions.map(
      ({ id }: { id: string }) => id,
    );
  expect(await idsOf('--state', 'notStarted,failed')).toEqual([sessionId]);
  expect(await idsOf('--state', 'failed')).toEqual([]);
  expect(await idsOf('--owner', 'me')).toEqual([]);
  expect((await sdp(['sessions', 'show', sessionId])).out).toMatch(/n1 +t-\S+ +NeverBegan/);
  expect((await sdp(['sessions', 'freeze', sessionId])).out).toBe('Session is frozen.\n');
  expect((await sdp(['sessions', 'retry-failed', sessionId])).err).toContain('Session is frozen. (400');
  expect((await sdp(['sessions', 'unfreeze', sessionId])).out).toBe('Session is no longer frozen.\n');
  expect((await sdp(['sessions', 'retry-failed', sessionId])).out).toBe('Retried runs: 0.\n');
  expect((await json('sessions', 'repair', sessionId)).sessionId).toBe(sessionId);
  expect((await sdp(['sessions', 'close', sessionId, '--reason', 'Over.'])).out).toMatch(/^Closed at/);
  expect((await sdp(['sessions', 'show', sessionId])).out).toMatch(/^Closed +\d{4}-\d\d-\d\d /m);
  expect(await sdp(['sessions', 'delete', sessionId])).toMatchObject({ code: 2 });
  expect((await sdp(['sessions', 'delete', sessionId, '--yes'])).out).toBe('Deleted.\n');
  expect((await sdp(['sessions', 'show', sessionId])).err).toContain('Session not found. (404, request ');
});

test('runs are listed, retried and cancelled, a node is explained, a runner drained', async () => {
  const graph = await stage.chainOf(1);
  await stage.upload(graph, 'input', '1');
  const runner = stage.runner();
  const { taskId, runId } = await runner.acquire(graph.template);
  await runner.end(taskId, 'fail', { category: 'validation', reason: 'Row 7.' });
  const listed = await json('runs', 'list', '--session', graph.sessionId);
  expect(listed.nodeRuns).toMatchObject([{ id: runId, state: 'failed' }]);
  expect((await sdp(['explain', String(graph.nodes.n1)])).out).toContain('Row 7.');
  expect((await json('runs', 'retry', runId))[0]).toMatchObject({ id: runId, state: 'queued' });
  expect((await json('runs', 'cancel', runId))[0]).toMatchObject({ id: runId, state: 'cancelled' });
  const node = String(graph.nodes.n1);
  expect(await json('runs', 'retry', node)).toMatchObject([{ id: runId, state: 'queued' }]);
  expect(await json('runs', 'cancel', node)).toMatchObject([{ id: runId, state: 'cancelled' }]);
  expect((await sdp(['runs', 'show', runId])).out).toMatch(/^State +cancelled by .+ at 2.*Z$/m);
  const { id } = (await json('runners', 'list')).runners.find(
    (one: { instanceId: string }) => one.instanceId === runner.instanceId,
  );
  expect((await sdp(['runners', 'drain', id])).out).toBe(`${runner.instanceId} gets no more tasks.\n`);
  expect((await json('runners', 'undrain', id)).drained).toBe(false);
});

test('queues tell what waits, and which runner type nobody is there for', async () => {
  const { graph, runnerType, runner: newRunner } = await tokenStage(stage);
  await stage.upload(graph, 'input', '1');
  const queues = async () => (await sdp(['runners', 'queues'])).out;
  const note = `No runner of type ${runnerType} is there for what waits at ${graph.template}: `;
  expect(await queues()).toContain(`${note}start one.`);
  const runner = newRunner();
  const task = await runner.acquire(graph.template);
  const served = await queues();
  expect(served).not.toContain(note);
  expect(served).toMatch(new RegExp(`${graph.template} .* 1 busy`));
  await runner.end(task.taskId, 'fail', { category: 'validation', reason: 'No.' });
});

test('a configuration is shown, changed by key or as a whole, and the node runs again with it', async () => {
  const graph = await stage.chainOf(1);
  const node = String(graph.nodes.n1);
  await stage.upload(graph, 'input', '1');
  const runner = stage.runner();
  const { taskId } = await runner.acquire(graph.template);
  await runner.end(taskId, 'fail', { category: 'validation', reason: 'No laps.' });
  expect((await sdp(['config', 'show', node])).out).toMatch(/^Revision 1\n\{\n/);
  const changed = await sdp(['config', 'set', node, 'laps=7', 'depth.b=two=2', 'name=A', '--rerun']);
  expect([changed.code, changed.out]).toEqual([0, expect.stringContaining('The node runs again with it.')]);
  const configuration = {
    dataSourceName: 'platform',
    depth: { a: [1], b: 'two=2' },
    laps: 7,
    name: 'A',
  };
  expect(await json('config', 'show', node)).toEqual({ revision: 2, configuration });
  expect((await runner.acquire(graph.template)).configuration).toEqual(configuration);
  const whole = join(folder, 'configuration.json');
  writeFileSync(whole, '{"laps":8}');
  expect(await json('config', 'set', node, '--file', whole)).toEqual({
    revision: 3,
    configuration: { laps: 8 },
  });
  const { revisions } = await json('config', 'show', node, '--revisions');
  expect(revisions.map(({ revision }: { revision: number }) => revision)).toEqual([3, 2, 1]);
  const listed = (await sdp(['config', 'show', node, '--revisions'])).out;
  expect(listed).toContain('the session template');
  expect(listed).toMatch(/^3 .*Z +[A-Z].* \{"laps":8\}$/m);
  expect(listed).not.toContain(revisions[0].changedBy);
  for (const wrong of [[], ['laps'], ['=7'], ['laps=7', '--file', whole]])
    expect((await sdp(['config', 'set', node, ...wrong])).code).toBe(2);
  expect((await sdp(['config', 'set', node, '--file', '-'], {}, '[1]')).err).toBe(
    '- holds no JSON object.\n',
  );
});

test('projects are created, sessions queried from standard input, manifests validated and published', async () => {
  const title = `Course ${randomUUID()}`;
  expect(await json('projects', 'create', title)).toMatchObject({ title });
  expect((await sdp(['projects', 'list'])).out).toContain(title);
  const { sessionId } = await stage.chainOf(1);
  const query = JSON.stringify({ filter: { path: 'id', op: 'eq', value: sessionId } });
  const found = await sdp(['query'], {}, query);
  expect([found.code, found.out]).toEqual([0, expect.stringMatching(/Session[\s\S]*1 of 1\.\n$/)]);
  const refused = await sdp(['query', '-'], {}, '{"limit":0}');
  expect([refused.code, refused.err]).toEqual([1, expect.stringContaining('  $.limit: ')]);
  const manifest = {
    manifestVersion: 1,
    feature: { name: 'cli-tools', version: '1.0.0', ownershipType: 'ThirdParty' },
    runnerTypes: [{ name: 'cli-tools', runtime: 'external' }],
    nodeTemplates: [],
  };
  const good = await sdp(['manifests', 'validate', '-'], {}, JSON.stringify(manifest));
  expect(good.out).toBe('Valid: runner types cli-tools; node templates none.\n');
  expect((await sdp(['manifests', 'publish', '-'], {}, JSON.stringify(manifest))).code).toBe(0);
  const listed = (await sdp(['manifests', 'list'])).out;
  expect(listed).toMatch(/^FEATURE +VERSION +RUNNER TYPES +NODE TEMPLATES +PUBLISHED\n/);
  expect(listed).toMatch(/^cli-tools +1\.0\.0 +cli-tools +none +20/m);
  expect(await json('manifests', 'list', '--feature', 'cli-tools')).toMatchObject([{ manifest }]);
  const bad = await sdp(['manifests', 'publish', '-'], {}, JSON.stringify({ ...manifest, runnerTypes: 1 }));
  expect([bad.code, bad.err]).toEqual([1, expect.stringContaining('  $.runnerTypes')]);
});

test('wrong usage ends with 2 and its reason, a refusal with 1', async () => {
  for (const args of [
    ['nowhere'],
    ['sessions', 'show', '7'],
    ['explain'],
    ['runs', 'list', '--page', '0'],
    ['runs', 'list', '--since', '7'],
    ['audit', '--limit', 'many'],
    ['audit', '--from', 'yesterday'],
    ['runs', 'retry', '102', 'no-run'],
    ['runs', 'cancel', 'no-run'],
  ])
    expect(await sdp(args)).toMatchObject({ code: 2, out: '', err: expect.stringMatching(/^error: /) });
  expect((await sdp(['projects', 'list'], { SDP_URL: 'ftp://x' })).code).toBe(2);
  expect(await sdp(['retention', '--orphans'])).toMatchObject({ code: 2, out: '' });
  const both = await sdp(['upload', '7', import.meta.filename, '--node', 'telemetry']);
  expect(both).toMatchObject({ code: 2, err: expect.stringContaining('7 is the id of a node instance') });
  expect((await sdp(['explain', '999999'])).err).toMatch(
    /^Node instance not found\. \(404, request [\w-]+\)\n$/,
  );
  expect(await sdp(['sessions', 'watch', '--help'])).toMatchObject({
    code: 0,
    out: expect.stringContaining('Examples:'),
  });
});

describe('sdp concurrency and prioritize', () => {
  test('limit what is held at once, and move what is queued', async () => {
    const graph = await stage.chainOf(1);
    const set = ['concurrency', 'set', graph.template, '--max', '5', '--per-session', '1'];
    expect(await json(...set)).toMatchObject({ max: 5, perProject: null, perSession: 1, held: 0 });
    const listed = await json('concurrency', 'list');
    expect(listed.limits.map(({ name }: { name: string }) => name)).toContain(graph.template);
    expect((await sdp(['concurrency', 'clear', graph.template])).out).toBe('The manifest holds.\n');
    expect((await sdp(['concurrency', 'set', 'no-such-name', '--max', '1'])).code).toBe(1);

    await stage.upload(graph, 'input', '1');
    const seconds = async () => {
      const [run] = await stage.database.query<{ seconds: number }>(
        'select extract(epoch from queue_time - claim_time)::float8 as seconds from node_run where session_id = $1',
        [graph.sessionId],
      );
      return run!.seconds;
    };
    await json('sessions', 'prioritize', graph.sessionId, '3');
    expect(await seconds()).toBe(180);
    expect((await sdp(['projects', 'prioritize', `${graph.projectId}`, '-5'])).err).toBe('');
    expect(await seconds()).toBe(-120);
    expect((await sdp(['sessions', 'prioritize', graph.sessionId, '11'])).code).toBe(2);
    await json('projects', 'prioritize', `${graph.projectId}`, '0');
  });
});

const webhooks = (...args: string[]) => sdp(['webhooks', ...args], { SDP_TOKEN: people.Developer.token });
async function webhooksJson(...args: string[]) {
  const { code, out, err } = await webhooks(...args, '--json');
  expect([code, err]).toEqual([0, '']);
  return JSON.parse(out);
}

test('a webhook that its receiver disabled by 410 is enabled again, and changed', async () => {
  const url = 'https://hooks.example.org/sdp';
  const { id } = await webhooksJson('create', url, '--event', 'node.failed');
  const reason = 'The receiver answered with status 410.';
  await database.query('update webhook set enabled = false, disabled_reason = $2 where id = $1', [
    id,
    reason,
  ]);
  expect((await webhooks('list')).out).toContain(reason);
  const enabled = await webhooks('update', id, '--enable');
  expect(enabled).toEqual({ code: 0, out: `${url} is enabled for node.failed.\n`, err: '' });
  expect(await webhooksJson('list')).toMatchObject([{ id, enabled: true, disabledReason: null }]);
  const events = ['--event', 'session.settled', '--event', 'node.failed'];
  const changed = await webhooksJson('update', id, '--to', `${url}/2`, ...events, '--disable');
  expect(changed).toMatchObject({
    id,
    url: `${url}/2`,
    events: ['session.settled', 'node.failed'],
    enabled: false,
  });
  const nothing = await webhooks('update', id);
  expect([nothing.code, nothing.err]).toEqual([
    2,
    'Name what changes: --to, --event, --enable or --disable.\n',
  ]);
  expect((await webhooks('update', id, '--enable', '--disable')).code).toBe(2);
  await webhooksJson('delete', id);
});

test('a webhook of one project names it by title or id', async () => {
  const title = `Course ${randomUUID()}`;
  const project = await json('projects', 'create', title);
  for (const named of [title, String(project.id)]) {
    const made = ['https://hooks.example.org/sdp', '--event', 'node.failed', '--project', named];
    expect(await webhooksJson('create', ...made)).toMatchObject({ projectId: project.id });
  }
});

test('deliveries are listed by page', async () => {
  const { id } = await webhooksJson('create', 'https://hooks.example.org/sdp', '--event', 'node.failed');
  const sent = [await webhooksJson('test', id), await webhooksJson('test', id)].map(
    (delivery) => delivery.id,
  );
  const newest = (await webhooks('deliveries', id, '--limit', '1')).out;
  expect(newest).toContain(sent[1]);
  const [, before = ''] = /\nMore: --before (\d+)\n$/.exec(newest) ?? [];
  const last = await webhooks('deliveries', id, '--limit', '1', '--before', before);
  expect([last.code, last.out]).toEqual([0, expect.stringContaining(sent[0])]);
  expect(last.out).not.toContain('More: ');
});
