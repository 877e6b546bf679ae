/**
 * What people wrote with an earlier version is read after the upgrade as that version answered it.
 *
 * 0036-webhooks.jsonl was recorded from the version of 2026-11-23, the first whose runs have logs, whose configurations have
 * revisions and whose runners reject inputs.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Database } from '../../../store/connection/database.ts';
import { platformMigrations } from '../../../store/connection/migrations.ts';
import { migrate } from '../../../store/migrate.ts';
import { endOverdueClaims } from '../../../store/runs/expire-leases.ts';
import { reconcileSession } from '../../../store/runs/reconcile-session.ts';
import { ask, startTestApi, type TestApi, tokenOf } from '../../support/api.ts';
import { testRunner } from '../../support/runner.ts';
import { testEnvironment } from '../../support/stack.ts';
import { type EarlierData, restoreEarlier } from './restore.ts';

const platform = await testEnvironment();
let earlier: EarlierData;
let api: TestApi;
let database: Database;
let token: string;
let ran: string[];

beforeAll(async () => {
  earlier = await restoreEarlier(platform, '0036-webhooks.jsonl');
  ran = await migrate(earlier.ownerUrl);
  api = await startTestApi(earlier.environment);
  database = await Database.open({ databaseUrl: earlier.databaseUrl, poolSize: 2 });
  token = await tokenOf(api.url, earlier.developer.username, earlier.developer.password);
});
afterAll(async () => {
  await api?.stop();
  await database?.close();
  await earlier?.drop();
});

async function get(path: string) {
  const answer = await ask(api.url, 'GET', `/api/v2${path}`, { token });
  expect([path, answer.status]).toEqual([path, 200]);
  return answer.body;
}

/** What the earlier version answered, by path. */
const recorded = (pattern: RegExp) => {
  const found = [...earlier.answers].filter(([path]) => pattern.test(path));
  expect(found.length).toBeGreaterThan(0);
  return found;
};

interface Entry {
  readonly position: number;
  readonly attempt: number;
  readonly level: string;
  readonly message: string;
  readonly fields: object | null;
}

/** Each run with the log that the earlier version read. */
const logs = () =>
  recorded(/\/logs\?limit=1000$/).map(([path, { entries }]) => ({
    path: path.replace(/\?.*$/, ''),
    entries: (entries as Entry[]).map((entry) => ({
      ...entry,
      // The line of an attempt is made when it is read, and said this word twice.
      message: entry.message.replace(/ended: cancelled\. cancelled$/, 'ended: cancelled.'),
    })),
  }));

async function pages(path: string, query: string): Promise<Entry[]> {
  const entries: Entry[] = [];
  for (let after = 0; ; ) {
    const page = await get(`${path}?after=${after}&${query}`);
    entries.push(...page.entries);
    if (page.complete) return entries;
    after = page.next;
  }
}

test('the upgrade runs every migration since then', () => {
  const names = platformMigrations.migrations.map(({ name }) => name);
  expect(ran).toEqual(names.slice(1 + names.indexOf(earlier.migration)));
  expect(ran.length).toBeGreaterThan(7);
});

describe('the log of a run', () => {
  test('is read by pages of any size, line for line with its positions', async () => {
    expect(logs().flatMap(({ entries }) => entries).length).toBeGreaterThan(100);
    for (const { path, entries } of logs())
      for (const limit of [7, 1_000]) expect(await pages(path, `limit=${limit}`)).toEqual(entries);
  });

  test('is found by text, level and attempt', async () => {
    const matches: Record<string, (entry: Entry) => boolean> = {
      'search=c17': ({ message, fields }) => /c17/i.test(`${message} ${JSON.stringify(fields)}`),
      'search=NO%20LICENCE': ({ message }) => /no licence/.test(message),
      'level=warning': ({ level }) => level === 'warning' || level === 'error',
      'attempt=2': ({ attempt }) => attempt === 2,
    };
    for (const [query, isWanted] of Object.entries(matches)) {
      let found = 0;
      for (const { path, entries } of logs()) {
        const expected = entries.filter(isWanted);
        expect(await pages(path, `limit=20&${query}`), `${path} ${query}`).toEqual(expected);
        found += expected.length;
      }
      expect(found, query).toBeGreaterThan(1);
    }
  });
});

test('an attempt says who ran it and how it ended, and a run who retried or cancelled it', async () => {
  const runs = recorded(/^\/node-runs\/[^/]+$/);
  for (const [path, answer] of runs) expect(await get(path)).toMatchObject(answer);
  const attempts = runs.flatMap(([, answer]) => answer.attempts);
  expect(attempts).toContainEqual(
    expect.objectContaining({
      outcome: 'failed',
      runner: { instanceId: 'rig-3', name: 'Rig 3', version: 'node' },
    }),
  );
  const actions = runs.flatMap(([, answer]) => answer.actions).map(({ action, name }) => [action, name]);
  expect(actions).toEqual([
    ['retry', 'Developer No 4'],
    ['cancel', 'Developer No 4'],
  ]);
});

test('revisions of a configuration are listed with who and when', async () => {
  for (const [path, answer] of recorded(/\/configuration/)) expect(await get(path)).toEqual(answer);
  const { revisions } = earlier.answers.get(
    `/node-instance/${earlier.nodeInstanceId}/configuration/revisions`,
  );
  expect(revisions.map((each: { changedByName: string }) => each.changedByName)).toEqual([
    'Developer No 4',
    'Instructor No 2',
    null,
  ]);
});

test('the lineage of an output names run, runner, inputs and revision', async () => {
  const lineages = recorded(/\/lineage$/);
  for (const [path, answer] of lineages) expect(await get(path)).toEqual(answer);
  expect(lineages.map(([, answer]) => answer.configurationRevision)).toEqual([1, 3]);
});

test('outputs are listed and their bytes read', async () => {
  for (const [path, answer] of recorded(/\/outputs$/)) {
    expect(await get(path)).toMatchObject(answer);
    for (const { id, sizeBytes } of answer)
      expect(await get(`/node-instance/outputs/${id}/data`)).toHaveLength(sizeBytes);
  }
});

test('rejected inputs are listed with their reasons', async () => {
  const [[path, answer]] = recorded(/\/rejected-inputs$/) as [[string, { totalCount: number }]];
  expect(answer.totalCount).toBe(1);
  expect(await get(path)).toMatchObject(answer);
});

describe('work that was not done', () => {
  const runner = () => testRunner(api.url, token, 'after-the-upgrade');
  const line = { at: '2026-12-01T10:00:00Z', level: 'info', message: 'after the upgrade' };

  test('a run that was queued is claimed and completes', async () => {
    const task = await runner().acquire(earlier.waiting.template);
    const answer = await runner().end(task.taskId, 'complete', { outcome: 'no-output' });
    expect(answer.status).toBe(200);
  });

  test('a run that was held is claimed again, and its log continues', async () => {
    const { template, runId, sessionId } = earlier.held;
    expect(await endOverdueClaims(database, 100, () => 0)).toHaveLength(1);
    await database.query(`update node_run set due_at = clock_timestamp() where id = $1`, [runId]);
    await reconcileSession(database, sessionId);
    const task = await runner().acquire(template);
    expect(task).toMatchObject({ runId, attempt: 2 });
    await runner().call('POST', `/tasks/${task.taskId}/logs`, { sequence: 1, entries: [line] });
    await runner().end(task.taskId, 'complete', { outcome: 'no-output' });
    const messages = (await pages(`/node-runs/${runId}/logs`, 'limit=100')).map(({ message }) => message);
    expect(messages).toEqual([
      'Claimed by Rig 3 (rig-3), node.',
      'held while it is upgraded',
      'The lease of rig-3 ended.',
      expect.stringContaining('Attempt 1 ended: lost'),
      expect.stringContaining('Claimed by after-the-upgrade'),
      'after the upgrade',
      expect.stringContaining('Attempt 2 ended:'),
    ]);
  });
});
