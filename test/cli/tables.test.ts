/** What people read where programs ask for JSON: lists as tables, and secrets that are shown once. */
import { expect, test } from 'vitest';
import { runnerStage } from '../support/runner.ts';
import { commandLine } from './support.ts';

const { runSdp } = commandLine();
const stage = await runnerStage();
const { api, people } = stage;
const sdp = (...args: string[]) => runSdp(args, { SDP_URL: api.url, SDP_TOKEN: people.adminToken });
const send = (path: string, json: object, token = people.adminToken) =>
  fetch(`${api.url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(json),
  });

/** The headings of a table, and the cells of its first row that has this text. */
async function listed(text: string, ...args: string[]): Promise<Record<string, string>> {
  const { code, out, err } = await sdp(...args);
  expect([code, err]).toEqual([0, '']);
  const [headings = [], ...rows] = out
    .trimEnd()
    .split('\n')
    .map((line) => line.split(/ {2,}/));
  const row = rows.find((cells) => cells.includes(text));
  expect(row?.length, out).toBe(headings.length);
  return Object.fromEntries(headings.map((heading, at) => [heading, row![at]!]));
}

test('a list has a heading for each column and a row for each thing', async () => {
  const graph = await stage.chainOf(1);
  await sdp('concurrency', 'set', graph.template, '--max', '5', '--per-session', '1');
  expect(await listed(graph.template, 'concurrency', 'list')).toMatchObject({
    ...{ KIND: 'node template', MAX: '5', 'PER PROJECT': '-', 'PER SESSION': '1', HELD: '0', BY: 'operator' },
  });

  await sdp('tokens', 'runner', 'create', '--type', 'outside-runner', '--label', 'Lab 3');
  expect(await listed('Lab 3', 'tokens', 'runner', 'list')).toMatchObject({
    ...{ TYPES: 'outside-runner', SCOPES: 'tasks', 'LAST USED': '-', REVOKED: 'no' },
  });

  const { username, email } = people.Instructor;
  expect(await listed(username, 'users', 'list')).toMatchObject({
    ...{ EMAIL: email, ROLE: 'Instructor', ACTIVE: 'yes' },
  });

  const view = { name: 'Failed today', scope: 'everyone', query: 'tab=failed' };
  expect((await send('/api/v2/session/views', view)).status).toBe(201);
  expect(await listed('Failed today', 'sessions', 'views')).toMatchObject({
    ...{ FOR: 'everyone', ADDRESS: '/sessions?tab=failed' },
  });
});

test('the lineage of an output names its inputs', async () => {
  const graph = await stage.chainOf(1);
  await stage.upload(graph, 'input', '1', { 'x-platform-output-identifier': 'lap-1' });
  const runner = stage.runner();
  const { taskId } = await runner.acquire(graph.template);
  await runner.write(taskId, 'result');
  await runner.end(taskId, 'complete', { outcome: 'completed' });
  const made = JSON.parse((await sdp('outputs', 'latest', String(graph.nodes.n1), '--json')).out);
  const { code, out } = await sdp('outputs', 'lineage', String(made.id));
  expect(code).toBe(0);
  expect(out).toMatch(/\n\nINPUT +NODE +IDENTIFIER +SIZE +NEW\n\d+ +input +lap-1 +1 B +yes\n$/);
});

test('a secret of a webhook stands alone in the standard output, when it is made and when it is replaced', async () => {
  const address = 'https://hooks.example.org/sdp';
  const made = await sdp('webhooks', 'create', address, '--event', 'node.failed');
  const [, id = ''] = /^The secret of webhook (\S+) is shown once\.\n$/.exec(made.err) ?? [];
  expect(made.out).toMatch(/^whsec_\S+\n$/);
  const replaced = await sdp('webhooks', 'rotate-secret', id);
  expect(replaced.out).toMatch(/^whsec_\S+\n$/);
  expect(replaced.out).not.toBe(made.out);
  expect(replaced.err).toMatch(/^The secret is shown once\. The old one is used until 2\S+ \S+Z\.\n$/);

  const sent = JSON.parse((await sdp('webhooks', 'test', id, '--json')).out);
  const again = await sdp('webhooks', 'redeliver', id, sent.id);
  expect([again.code, again.err]).toEqual([0, '']);
  expect(again.out).toMatch(/^Queued again as [0-9a-f-]{36}\.\n$/);
  expect((await sdp('webhooks', 'deliveries', id)).out).toContain(again.out.slice(16, 52));
});

test('a delivery that waits behind another of its session says so', async () => {
  const graph = await stage.chainOf(1);
  const made = await sdp(
    'webhooks',
    'create',
    'https://hooks.example.org/sdp',
    '--event',
    'output.published',
  );
  const [, id = ''] = /^The secret of webhook (\S+) is shown once\.\n$/.exec(made.err) ?? [];
  for (const name of ['lap-1', 'lap-2'])
    await stage.upload(graph, 'input', '1', { 'x-platform-output-identifier': name });
  const { code, out } = await sdp('webhooks', 'deliveries', id);
  expect(code).toBe(0);
  const [head, second, first] = out.trimEnd().split('\n');
  expect(head).toMatch(/ {2}LAST ATTEMPT {2}NEXT ATTEMPT$/);
  expect(second).toMatch(/ pending +0 +- +after an earlier one of its session$/);
  expect(first).toMatch(/ pending +0 +- +\d{4}-\S+ \S+Z$/);
});
