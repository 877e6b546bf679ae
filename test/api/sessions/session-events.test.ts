/** Events of a session as they come, and its activity afterwards. */
import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { SessionFeed } from '../../../api/session-events/feed.ts';
import { ask, startTestApi } from '../../support/api.ts';
import { openDatabase } from '../../support/databases.ts';
import { type EventReader, followEvents, type ReceivedEvent } from '../../support/events.ts';
import { eventually } from '../../support/eventually.ts';
import { runnerStage } from '../../support/runner.ts';

const stage = await runnerStage();
const { api, people } = stage;
const database = await openDatabase(stage.platform, 2);
const token = people.Instructor.token;

const follow = (sessionId: string, lastEventId?: string, url = api.url) =>
  followEvents(url, sessionId, token, lastEventId);

const nodeIs = (id: number, state: string) => (event: ReceivedEvent) =>
  event.kind === 'node' && event.data.id === id && event.data.state === state;
const isWindow = (event: ReceivedEvent) => event.kind === 'window';

function outputsOf(reader: EventReader): number[] {
  return reader.events.filter(({ kind }) => kind === 'output').map(({ data }) => data.id);
}

async function outputsAre(reader: EventReader, expected: readonly number[]): Promise<void> {
  await eventually('as many outputs', () => outputsOf(reader).length >= expected.length);
  expect(outputsOf(reader)).toEqual(expected);
}

describe('a followed session', () => {
  test('sends all nodes and the window first, as an event stream that is not cached', async () => {
    const graph = await stage.chainOf(2);
    const reader = await follow(graph.sessionId);
    expect(reader.status).toBe(200);
    expect(reader.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    expect(reader.headers.get('cache-control')).toBe('no-store');
    await reader.until(isWindow);
    expect(reader.events.map(({ kind, data }) => [kind, data.name, data.state])).toEqual([
      ['node', 'input', 'NeverBegan'],
      ['node', 'n1', 'NeverBegan'],
      ['node', 'n2', 'NeverBegan'],
      ['window', undefined, undefined],
    ]);
    reader.close();
  });

  test('sends a new caller the nodes before what has just happened to them, and a returning one after it', async () => {
    const graph = await stage.chainOf(1);
    await stage.upload(graph, 'input', 'a');
    const runner = stage.runner();
    const task = await runner.acquire(graph.template);
    await runner.write(task.taskId, 'out');
    await runner.end(task.taskId, 'complete', { outcome: 'completed' });
    const kindsOf = async (lastEventId?: string) => {
      const reader = await follow(graph.sessionId, lastEventId);
      await reader.until(isWindow);
      reader.close();
      return reader.events.map(({ kind }) => kind);
    };
    const first = await kindsOf();
    expect(first).toContain('attempt');
    expect(first.slice(0, 2)).toEqual(['node', 'node']);
    const returning = await kindsOf('0-0');
    expect(returning).toContain('output');
    expect(returning.slice(-3)).toEqual(['node', 'node', 'window']);
  });

  test('sends uploads, claims, progress, outputs, attempts and ends as they happen', async () => {
    const graph = await stage.chainOf(1);
    const node = graph.nodes.n1!;
    const reader = await follow(graph.sessionId);
    await reader.until(isWindow);
    const { body: uploaded } = await stage.upload(graph, 'input', 'a');
    await reader.until(nodeIs(node, 'Pending'));
    const runner = stage.runner();
    const task = await runner.acquire(graph.template);
    await reader.until(nodeIs(node, 'Processing'));
    await runner.call('PUT', `/tasks/${task.taskId}/heartbeat`, { phase: 'reading', message: 'lap 1' });
    await reader.until(({ data }) => data.statusDetails === 'reading: lap 1');
    const { body: written } = await runner.write(task.taskId, 'out');
    await runner.end(task.taskId, 'complete', { outcome: 'completed' });
    await reader.until(nodeIs(node, 'Succeeded'));
    expect(outputsOf(reader)).toEqual([uploaded.id, written.outputId]);
    const attempts = reader.events.filter(({ kind }) => kind === 'attempt').map(({ data }) => data);
    expect(attempts).toMatchObject([
      { nodeInstanceId: node, runId: task.runId, attempt: 1, startedAt: expect.any(String), endedAt: null },
      {
        nodeInstanceId: node,
        runId: task.runId,
        attempt: 1,
        outcome: 'completed',
        endedAt: expect.any(String),
      },
    ]);
    reader.close();
  });

  test('sends the attempts of a retried run, also after a later run over chosen inputs', async () => {
    const graph = await stage.chainOf(1);
    const { body: input } = await stage.upload(graph, 'input', 'a');
    const runner = stage.runner();
    const failed = await runner.acquire(graph.template);
    await runner.end(failed.taskId, 'fail', { category: 'validation', reason: 'broken' });
    const post = (path: string, json: object = {}) =>
      ask(api.url, 'POST', `/api/v2/${path}`, { token: people.Administrator.token, json });
    await post(`node-instance/${graph.nodes.n1}/reprocess`, { inputs: [input.id] });
    const chosen = await runner.acquire(graph.template);
    await runner.end(chosen.taskId, 'complete', { outcome: 'no-output' });
    // Long before what is read since the last event.
    await database.query(
      "update node_run set created_at = created_at - interval '1 hour' where node_instance_id = $1",
      [graph.nodes.n1],
    );
    const reader = await follow(graph.sessionId);
    await reader.until(isWindow);
    expect((await post(`admin/node-runs/${failed.runId}/retry`)).status).toBe(202);
    const retried = await runner.acquire(graph.template);
    expect(retried.runId).toBe(failed.runId);
    await runner.end(retried.taskId, 'fail', { category: 'validation', reason: 'broken again' });
    await reader.until(
      ({ kind, data }) => kind === 'attempt' && data.attempt === 2 && data.outcome === 'failed',
    );
    reader.close();
  });

  test('sends a caller that joins during a read no older state after the newer one', async () => {
    const graph = await stage.chainOf(1);
    const held = Promise.withResolvers<void>();
    let [isHeld, reads] = [false, 0];
    const slow = {
      async query(...statement: Parameters<typeof database.query>) {
        reads += 1;
        const isOfNodes = isHeld && reads > 1;
        const rows = await database.query(...statement);
        if (isOfNodes) await held.promise;
        return rows;
      },
    } as typeof database;
    const feed = new SessionFeed(slow, graph.sessionId);
    await feed.open();
    await stage.upload(graph, 'input', 'a');
    [isHeld, reads] = [true, 0];
    feed.changed();
    await eventually('the feed has read', () => reads >= 3);
    await stage.runner().acquire(graph.template);
    [isHeld, reads] = [false, 0];
    const joined = feed.join(undefined, () => undefined);
    if (reads > 0) await joined;
    held.resolve();
    const { stream } = (await joined)!;
    let text = '';
    stream.setEncoding('utf8').on('data', (piece: string) => {
      text += piece;
    });
    await stage.upload(graph, 'input', 'b');
    await eventually('the newest upload', () => feed.changed() ?? text.includes('event: output'));
    stream.destroy();
    const states = text.matchAll(/"name":"n1".*?"state":"(\w+)"/g);
    expect(new Set([...states].map(([, state]) => state))).toEqual(new Set(['Processing']));
  });

  test('sends a freeze, and ends with the deletion of the session', async () => {
    const graph = await stage.chainOf(1);
    const reader = await follow(graph.sessionId);
    await reader.until(isWindow);
    const call = (method: string, path: string) =>
      ask(api.url, method, `/api/v2/sessions/${graph.sessionId}${path}`, {
        token: people.Administrator.token,
      });
    await call('POST', '/freeze');
    await reader.until(({ kind, data }) => kind === 'window' && data.frozen === true);
    await call('DELETE', '');
    await reader.until(({ kind }) => kind === 'deleted');
    await eventually('the stream ends', () => reader.isOver);
  });

  test('sends a close with as many participants as the close counts, also of a session that is not shared', async () => {
    const graph = await stage.chainOf(1);
    const reader = await follow(graph.sessionId);
    const { body: closed } = await ask(api.url, 'POST', `/api/v2/session/${graph.sessionId}/close`, {
      token: people.Administrator.token,
      json: {},
    });
    expect(closed.participantCount).toBe(1);
    const event = await reader.until(({ kind, data }) => kind === 'window' && data.status === 'closed');
    expect(event.data).toMatchObject({
      closedAt: closed.closedAt,
      participantCount: closed.participantCount,
    });
    reader.close();
  });

  test('continues after the last event id, also at another server: every output once, in order', async () => {
    const graph = await stage.chainOf(1);
    const second = await startTestApi(stage.platform.environment);
    try {
      const reader = await follow(graph.sessionId);
      await reader.until(isWindow);
      const first = (await stage.upload(graph, 'input', 'a')).body.id;
      await outputsAre(reader, [first]);
      reader.close();
      const missed: number[] = [];
      for (const bytes of ['b', 'c', 'd']) missed.push((await stage.upload(graph, 'input', bytes)).body.id);
      const resumed = await follow(graph.sessionId, reader.lastEventId, second.url);
      await outputsAre(resumed, missed);
      const last = (await stage.upload(graph, 'input', 'e')).body.id;
      await outputsAre(resumed, [...missed, last]);
      resumed.close();
    } finally {
      await second.stop();
    }
  });

  test('misses no output while many followers come and go and uploads run', async () => {
    const graph = await stage.chainOf(1);
    const constant = await follow(graph.sessionId);
    await constant.until(isWindow);
    const uploaded: number[] = [];
    let isUploading = true;
    const coming = (async () => {
      while (isUploading) (await follow(graph.sessionId)).close();
    })();
    for (let at = 0; at < 40; at += 1) uploaded.push((await stage.upload(graph, 'input', `${at}`)).body.id);
    isUploading = false;
    await coming;
    await outputsAre(constant, uploaded);
    constant.close();
    await eventually('all have left', () => api.composed.services.sessionEvents.followerCount === 0);
  });

  test('is followed no longer than the token is valid', async () => {
    const graph = await stage.chainOf(1);
    const { body } = await ask(api.url, 'POST', '/api/authorization/token', {
      json: { username: people.Instructor.username, password: people.Instructor.password },
    });
    const reader = await followEvents(api.url, graph.sessionId, body.accessToken);
    await reader.until(isWindow);
    await ask(api.url, 'POST', '/api/authorization/logout', { token: body.accessToken });
    await eventually('the stream ends', () => reader.isOver);
  });

  test('that does not exist is 404 with the common body, and an unknown event id counts as none', async () => {
    for (const id of [randomUUID(), 'abc']) {
      const answer = await ask(api.url, 'GET', `/api/v2/sessions/${id}/events`, { token });
      expect([answer.status, answer.body]).toEqual([404, { status: 'error', message: 'Session not found.' }]);
    }
    const graph = await stage.chainOf(1);
    const reader = await follow(graph.sessionId, 'nothing-of-ours');
    await reader.until(isWindow);
    expect(reader.events.filter(({ kind }) => kind === 'node')).toHaveLength(2);
    reader.close();
  });
});

test('changes of a session without followers send no notification', async () => {
  const graph = await stage.chainOf(1);
  const { rows } = await stage.database.pool.query(
    'select count(*)::int as count from session_watch where session_id = $1',
    [graph.sessionId],
  );
  expect(rows).toEqual([{ count: 0 }]);
});

const get = (path: string, token: string) => ask(api.url, 'GET', path, { token });

test('the activity of a session says who did what, by name, newest first and page by page', async () => {
  const graph = await stage.chainOf(1, { maxAttempts: 1 });
  const path = `/api/v2/session/${graph.sessionId}/activity`;
  await stage.upload(graph, 'input', 'abc');
  for (const action of ['freeze', 'unfreeze']) {
    await ask(api.url, 'POST', `/api/v2/sessions/${graph.sessionId}/${action}`, {
      token: people.Instructor.token,
    });
  }
  const { status, body } = await get(path, people.Developer.token);
  expect(status).toBe(200);
  const actions = body.entries.map(({ action }: { action: string }) => action);
  expect(actions).toEqual(['unfreezeSession', 'freezeSession', 'uploadNodeOutput']);
  expect(body.nextCursor).toBeNull();
  expect(body.entries[0].actor).toMatchObject({ kind: 'user', id: people.Instructor.userId });
  expect(body.entries[0].actor.name).toMatch(/\w/);
  expect(body.entries[2].object).toEqual({ type: 'nodeInstance', id: String(graph.nodes.input) });
  expect(JSON.stringify(body)).not.toContain('network');

  const first = await get(`${path}?limit=2`, people.Developer.token);
  const second = await get(`${path}?limit=2&cursor=${first.body.nextCursor}`, people.Developer.token);
  expect([...first.body.entries, ...second.body.entries]).toEqual(body.entries);
});

test('the activity is not shown to Trainees, and an unknown session is 404', async () => {
  const graph = await stage.chainOf(1);
  const path = (id: string) => `/api/v2/session/${id}/activity`;
  expect((await get(path(graph.sessionId), people.Trainee.token)).status).toBe(403);
  expect((await get(path(randomUUID()), people.Developer.token)).status).toBe(404);
  expect((await get(path('1'), people.Developer.token)).status).toBe(404);
  expect((await get(`${path(graph.sessionId)}?cursor=x`, people.Developer.token)).status).toBe(400);
});
