/** `sdp webhooks`: made, changed, enabled again, and their deliveries by page. */
import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { runnerStage } from '../support/runner.ts';
import { commandLine } from './support.ts';

const { runSdp } = commandLine();
const { api, people, database } = await runnerStage();
const sdp = (...args: string[]) =>
  runSdp(['webhooks', ...args], { SDP_URL: api.url, SDP_TOKEN: people.Developer.token });
async function json(...args: string[]) {
  const { code, out, err } = await sdp(...args, '--json');
  expect([code, err]).toEqual([0, '']);
  return JSON.parse(out);
}

test('a webhook that its receiver disabled by 410 is enabled again, and changed', async () => {
  const url = 'https://hooks.example.org/sdp';
  const { id } = await json('create', url, '--event', 'node.failed');
  const reason = 'The receiver answered with status 410.';
  await database.query('update webhook set enabled = false, disabled_reason = $2 where id = $1', [
    id,
    reason,
  ]);
  expect((await sdp('list')).out).toContain(reason);
  const enabled = await sdp('update', id, '--enable');
  expect(enabled).toEqual({ code: 0, out: `${url} is enabled for node.failed.\n`, err: '' });
  expect(await json('list')).toMatchObject([{ id, enabled: true, disabledReason: null }]);
  const events = ['--event', 'session.settled', '--event', 'node.failed'];
  const changed = await json('update', id, '--to', `${url}/2`, ...events, '--disable');
  expect(changed).toMatchObject({
    id,
    url: `${url}/2`,
    events: ['session.settled', 'node.failed'],
    enabled: false,
  });
  const nothing = await sdp('update', id);
  expect([nothing.code, nothing.err]).toEqual([
    2,
    'Name what changes: --to, --event, --enable or --disable.\n',
  ]);
  expect((await sdp('update', id, '--enable', '--disable')).code).toBe(2);
  await json('delete', id);
});

test('a webhook of one project names it by title or id', async () => {
  const title = `Course ${randomUUID()}`;
  const environment = { SDP_URL: api.url, SDP_TOKEN: people.Developer.token };
  const project = JSON.parse((await runSdp(['projects', 'create', title, '--json'], environment)).out);
  for (const named of [title, String(project.id)]) {
    const made = ['https://hooks.example.org/sdp', '--event', 'node.failed', '--project', named];
    expect(await json('create', ...made)).toMatchObject({ projectId: project.id });
  }
});

test('deliveries are listed by page', async () => {
  const { id } = await json('create', 'https://hooks.example.org/sdp', '--event', 'node.failed');
  const sent = [await json('test', id), await json('test', id)].map((delivery) => delivery.id);
  const newest = (await sdp('deliveries', id, '--limit', '1')).out;
  expect(newest).toContain(sent[1]);
  const [, before = ''] = /\nMore: --before (\d+)\n$/.exec(newest) ?? [];
  const last = await sdp('deliveries', id, '--limit', '1', '--before', before);
  expect([last.code, last.out]).toEqual([0, expect.stringContaining(sent[0])]);
  expect(last.out).not.toContain('More: ');
});
