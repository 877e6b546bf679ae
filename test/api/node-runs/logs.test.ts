import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { removeOldLogs } from '../../../store/run-logs/write-log.ts';
import { requeueTask } from '../../../store/runs/release-claim.ts';
import { ask, makePerson } from '../../support/api.ts';
import { type Entry, logStage } from './log-stage.ts';

const { stage, api, database, people, line, held, log, page, whole, written, messages } = await logStage();

/** Without the version of a runner, which is known once its process has stored what it saw. */
const identified = (entries: readonly Entry[]) =>
  entries.map(({ position, source, message }) =>
    source === 'runner' ? { position, message } : { position },
  );

describe('the log of a run', () => {
  test('holds what its runner wrote, with the platform’s own lines between, in the order in which they came', async () => {
    const { runner, taskId, runId } = await held();
    const first = await log(runner, taskId, 1, [line('begins', 'debug', { lap: 3 }), line('goes on')]);
    expect([first.status, first.body]).toEqual([200, { nextSequence: 2, truncated: false }]);
    await runner.write(taskId, 'abc');
    await log(runner, taskId, 2, [line('ends', 'warning')]);
    await runner.end(taskId, 'complete', { outcome: 'completed' });
    const found = await whole(runId);
    expect(messages(found)).toEqual([
      expect.stringContaining(`Claimed by ${runner.instanceId}`),
      'begins',
      'goes on',
      'ends',
      'Published 1 output, 3 bytes.',
      'Attempt 1 ended: completed.',
    ]);
    expect(written(found)[0]).toMatchObject({ attempt: 1, level: 'debug', fields: { lap: 3 } });
    const positions = found.entries.map(({ position }) => position);
    expect(positions).toEqual([...new Set(positions)].sort((a, b) => a - b));
  });

  test('keeps the last word of a task that failed, once, with every attempt and every operator', async () => {
    const { graph, runner, taskId, runId } = await held({ maxAttempts: 1 });
    const fail = { category: 'error', reason: 'no licence', logTail: 'Traceback\n  line 3\nno licence\n' };
    expect((await runner.end(taskId, 'fail', fail)).status).toBe(200);
    expect((await runner.end(taskId, 'fail', fail)).status).toBe(200);
    const failed = await whole(runId, { level: 'error' });
    expect(messages(failed)).toEqual([
      'Traceback\n  line 3\nno licence',
      'Attempt 1 ended: failed (error). no licence',
    ]);
    const retried = await ask(api.url, 'POST', `/api/v2/admin/node-runs/${runId}/retry`, {
      token: people.Developer.token,
    });
    expect(retried.status).toBe(202);
    const again = await runner.acquire(graph.template);
    await log(runner, again.taskId, 1, [line('second')]);
    await ask(api.url, 'POST', `/api/v2/admin/node-runs/${runId}/cancel`, { token: people.Developer.token });
    await runner.end(again.taskId, 'fail', { category: 'error', reason: 'stopped' });
    const later = await whole(runId, { attempt: 2 });
    expect(messages(later)).toEqual([
      `Retried by user ${people.Developer.userId}.`,
      expect.stringContaining(`Claimed by ${runner.instanceId}`),
      'second',
      `Cancelled by user ${people.Developer.userId}.`,
      'Attempt 2 ended: cancelled.',
    ]);
  });

  test('names a runner whose token has no label by its instance', async () => {
    const { graph, runner, task, runId } = await held();
    await runner.end(task.taskId, 'release');
    const made = await ask(api.url, 'POST', '/api/v2/admin/runner-tokens', {
      token: people.adminToken,
      json: { runnerTypes: [task.runnerType] },
    });
    const unnamed = stage.runner({ token: made.body.token });
    const again = await unnamed.acquire(graph.template);
    await unnamed.end(again.taskId, 'complete', { outcome: 'no-output' });
    expect(messages(await whole(runId))).toContainEqual(
      expect.stringMatching(`^Claimed by ${unnamed.instanceId}[.,]`),
    );
  });

  test('says when its runner claimed again, or lost its token, without ending the task', async () => {
    const { graph, runner, runId } = await held();
    const again = await runner.acquire(graph.template);
    await requeueTask(database, again.taskId);
    const last = await runner.acquire(graph.template);
    await runner.end(last.taskId, 'complete', { outcome: 'no-output' });
    const claimed = expect.stringContaining(`Claimed by ${runner.instanceId}`);
    expect(messages(await whole(runId))).toEqual([
      claimed,
      `Given up by ${runner.instanceId}, which claimed again.`,
      claimed,
      `Taken from ${runner.instanceId}: its token has ended.`,
      claimed,
      expect.stringContaining('Attempt 1 ended: no-output.'),
    ]);
  });

  test('is the same by pages of any size, by level and by search', async () => {
    const { runner, taskId, runId } = await held();
    for (let call = 1; call <= 40; call += 1) {
      const entries = [1, 2, 3].map((n) =>
        line(`call ${call} line ${n}`, n === 3 ? 'warning' : 'info', { Car: `C${call}` }),
      );
      await log(runner, taskId, call, entries);
    }
    await runner.end(taskId, 'complete', { outcome: 'no-output' });
    const all = await whole(runId, { limit: 1_000 });
    expect(written(all)).toHaveLength(120);
    for (const query of [{}, { level: 'warning' }, { search: 'c17' }, { search: 'LINE 2' }]) {
      const expected = identified(await allPages(runId, { ...query, limit: 1_000 }));
      for (const limit of [1, 7, 64])
        expect(identified(await allPages(runId, { ...query, limit }))).toEqual(expected);
    }
    expect((await allPages(runId, { level: 'warning' })).map(({ message }) => message)).toEqual(
      Array.from({ length: 40 }, (_, index) => `call ${index + 1} line 3`),
    );
    expect(await allPages(runId, { search: 'c17' })).toHaveLength(3);
    expect(await allPages(runId, { search: 'LINE 2' })).toHaveLength(40);
  });

  async function allPages(runId: string, query: Record<string, string | number>): Promise<Entry[]> {
    const entries: Entry[] = [];
    for (let after = 0; ; ) {
      const found = await page(runId, { ...query, after });
      entries.push(...found.entries);
      if (found.complete) return entries;
      after = found.next;
    }
  }

  test('can be followed from any line to its end', async () => {
    const { runner, taskId, runId } = await held();
    await log(runner, taskId, 1, [line('before')]);
    const response = await followed(runId);
    const text = response.text();
    await log(runner, taskId, 2, [line('while it is read')]);
    await runner.end(taskId, 'complete', { outcome: 'no-output' });
    const events = eventsOf(await text);
    expect(events.map(({ kind }) => kind)).toEqual([...events.slice(1).map(() => 'entry'), 'end']);
    const lines = events.filter(({ kind }) => kind === 'entry').map(({ data }) => data);
    expect(identified(lines)).toEqual(identified((await whole(runId)).entries));
    const second = lines[1];
    const rest = eventsOf(await (await followed(runId, String(second.position))).text());
    const later = rest.filter(({ kind }) => kind === 'entry').map(({ data }) => data);
    expect(identified(later)).toEqual(identified(lines.slice(2)));
  });

  test('is followed no longer than its reader has the role for it', async () => {
    const { runId } = await held();
    const reader = await makePerson(api.url, people.adminToken, 'Instructor');
    const stream = await followed(runId, undefined, reader.token);
    expect(stream.status).toBe(200);
    const lowered = await ask(api.url, 'PATCH', `/api/authorization/users/${reader.userId}`, {
      token: people.adminToken,
      json: { role: 'Trainee' },
    });
    expect(lowered.status).toBe(200);
    // It would never end, as the run is held.
    expect(eventsOf(await stream.text()).map(({ kind }) => kind)).not.toContain('end');
  });

  function followed(runId: string, lastEventId?: string, token = people.Instructor.token): Promise<Response> {
    return fetch(`${api.url}/api/v2/node-runs/${runId}/logs`, {
      headers: {
        authorization: `Bearer ${token}`,
        accept: 'text/event-stream',
        ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }),
      },
    });
  }

  function eventsOf(text: string) {
    return text
      .split('\n\n')
      .filter((block) => block.startsWith('event:'))
      .map((block) => {
        const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(block)?.[1] ?? '';
        return { kind: field('event'), data: JSON.parse(field('data')) };
      });
  }

  test('is not shown to Trainees, and is 404 for a run that does not exist', async () => {
    const { runId } = await held();
    const path = (id: string) => `/api/v2/node-runs/${id}/logs`;
    expect((await ask(api.url, 'GET', path(runId), { token: people.Trainee.token })).status).toBe(403);
    for (const id of [randomUUID(), 'none']) {
      expect((await ask(api.url, 'GET', path(id), { token: people.Developer.token })).status).toBe(404);
    }
  });

  test('loses its lines after the days that they are kept', async () => {
    const { runner, taskId, runId } = await held();
    await log(runner, taskId, 1, [line('old')]);
    await database.query(`update node_log set created_at = now() - interval '31 days' where run_id = $1`, [
      runId,
    ]);
    expect(await removeOldLogs(database, 30)).toBe(1);
    await log(runner, taskId, 2, [line('new')]);
    await runner.end(taskId, 'complete', { outcome: 'no-output' });
    expect(written(await whole(runId)).map(({ message }) => message)).toEqual(['new']);
  });
});
