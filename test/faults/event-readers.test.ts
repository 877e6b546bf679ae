/** Readers of a session's events of every kind: each gets all that it missed, and none delays or ends the process. */
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { limits } from '../../domain/limits.ts';
import { followEvents, type ReceivedEvent } from '../support/events.ts';
import { eventually } from '../support/eventually.ts';
import { type ApiProcess, testProcesses } from '../support/processes.ts';
import { runnerStage, type StageGraph } from '../support/runner.ts';

const stage = await runnerStage();
const processes = testProcesses(stage.platform.environment);
const token = stage.people.Instructor.token;
let api: ApiProcess;
beforeAll(async () => {
  api = await processes.startApi();
});

const isWindow = ({ kind }: ReceivedEvent) => kind === 'window';
const identifiersOf = (events: readonly ReceivedEvent[]) =>
  events.filter(({ kind }) => kind === 'output').map(({ data }) => data.outputIdentifier);

/** Publishes outputs of the input node, without their bytes. */
async function publishOutputs(graph: StageGraph, count: number): Promise<void> {
  await stage.database.query(
    `insert into node_output (session_id, node_instance_id, position, data_source_id, object_key, output_identifier,
       content_type, size_bytes, etag, configuration)
     select s.id, $2, s.newest_position + at, $3, 'none', 'lap-' || at, 'text/csv', 0, '', '{}'
       from session s, generate_series(1, $4::int) at where s.id = $1`,
    [graph.sessionId, graph.nodes.input, graph.dataSourceId, count],
  );
  await stage.database.query(
    `with s as (
       update session set newest_position = newest_position + $3, desired_version = desired_version + 1 where id = $1
       returning newest_position
     ) update node_instance set newest_position = s.newest_position from s where id = $2`,
    [graph.sessionId, graph.nodes.input, count],
  );
}

const laps = (count: number) => Array.from({ length: count }, (_, at) => `lap-${at + 1}`);

const rawRequest = (path: string, headers = '') =>
  `GET ${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${token}\r\n${headers}\r\n`;
const eventsOf = (graph: StageGraph) => `/api/v2/sessions/${graph.sessionId}/events`;

async function connected(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1').on('error', () => undefined);
  await new Promise((resolve) => socket.once('connect', resolve));
  return socket;
}

describe('a reader that missed 20,000 outputs', () => {
  let graph: StageGraph;
  beforeAll(async () => {
    graph = await stage.chainOf(1);
    await publishOutputs(graph, 20_000);
  });

  test('gets every one in order, then the live events, and does not block the process', async () => {
    const reader = await followEvents(api.url, graph.sessionId, token, '0-0');
    await eventually('all outputs', () => identifiersOf(reader.events).length >= 20_000 || reader.isOver);
    expect(identifiersOf(reader.events)).toEqual(laps(20_000));
    await stage.upload(graph, 'input', 'x', { 'x-platform-output-identifier': 'next' });
    await reader.until(({ data }) => data.outputIdentifier === 'next');
    expect(identifiersOf(reader.events)).toHaveLength(20_001);
    // Its nodes came with the first page, and with those in which they had changed.
    expect(reader.events.filter(({ kind }) => kind === 'node').length).toBeLessThan(20);
    reader.close();
  });

  test('and reads nothing blocks no other reader, buffers at most one piece, and gets all of them when it reads', async () => {
    const idle = await connected(api.port);
    idle.pause();
    idle.write(rawRequest(eventsOf(graph), 'last-event-id: 0-0\r\n'));
    const other = await followEvents(api.url, graph.sessionId, token);
    await other.until(isWindow);
    await stage.upload(graph, 'input', 'x', { 'x-platform-output-identifier': 'meanwhile' });
    await other.until(({ data }) => data.outputIdentifier === 'meanwhile');
    other.close();
    let text = '';
    idle
      .resume()
      .setEncoding('utf8')
      .on('data', (part: string) => {
        text += part;
      });
    await eventually('all outputs', () => text.includes('"outputIdentifier":"meanwhile"'));
    expect(text.match(/"outputIdentifier":"lap-/g)).toHaveLength(20_000);
    idle.destroy();
  });
});

test('a session whose first events exceed the buffer can be followed', async () => {
  const graph = await stage.chainOf(300);
  await stage.database.query(
    `update node_instance set status_details = repeat('x', 5000) where session_id = $1`,
    [graph.sessionId],
  );
  expect(300 * 5_000).toBeGreaterThan(limits.sessionEventBufferBytes);
  const reader = await followEvents(api.url, graph.sessionId, token);
  await reader.until(isWindow);
  expect(reader.events.filter(({ kind }) => kind === 'node')).toHaveLength(301);
  reader.close();
});

test('a reader gets only the newest attempts of a session with tens of thousands', async () => {
  const graph = await stage.chainOf(40);
  await stage.database.query(
    `with runs as (
       insert into node_run (id, session_id, node_instance_id, template_name, runner_type, reason, state, max_attempts,
         queue_time, created_at, ended_at)
       select gen_random_uuid(), session_id, id, 't', 'outside-runner', 'input', 'done', 20, now(),
         now() - make_interval(mins => age), now() from node_instance, generate_series(1, 25) age where session_id = $1
       returning id, created_at
     ) insert into node_attempt (run_id, session_id, number, started_at, ended_at, outcome)
       select id, $1, number, created_at + make_interval(secs => number), created_at + make_interval(secs => number),
         'failed' from runs, generate_series(1, 20) number`,
    [graph.sessionId],
  );
  const reader = await followEvents(api.url, graph.sessionId, token, '0-0');
  await reader.until(isWindow);
  const attempts = reader.events.filter(({ kind }) => kind === 'attempt').map(({ data }) => data.startedAt);
  expect(attempts).toHaveLength(limits.sessionEventAttempts);
  expect(attempts).toEqual(attempts.toSorted());
  const [newest] = await stage.database.query<{ at: Date }>(
    'select max(started_at) as at from node_attempt where session_id = $1',
    [graph.sessionId],
  );
  expect(attempts.at(-1)).toBe(newest!.at.toISOString());
  reader.close();
});

describe('callers who hang up', () => {
  const { sessionEvents } = stage.api.composed.services;
  const sockets: Socket[] = [];
  afterAll(() => {
    for (const socket of sockets) socket.destroy();
  });

  test('while they join, at any moment, leave no listener behind', async () => {
    const graph = await stage.chainOf(1);
    const port = stage.api.server.port;
    let joined = 0;
    for (let round = 0; round < 20; round += 1) {
      const wave = await Promise.all(Array.from({ length: 20 }, () => connected(port)));
      for (const socket of wave) socket.write(rawRequest(eventsOf(graph)));
      for (const [at, socket] of wave.entries()) setTimeout(() => socket.resetAndDestroy(), at / 2);
      await eventually('all are gone', () => {
        joined = Math.max(joined, sessionEvents.followerCount);
        return wave.every(({ destroyed }) => destroyed);
      });
    }
    // Some had joined, so the test has met the intended moments.
    expect(joined).toBeGreaterThan(0);
    await eventually('nothing is left', () => sessionEvents.followerCount === 0);
    const reader = await followEvents(stage.api.url, graph.sessionId, token);
    await reader.until(isWindow);
    reader.close();
  });

  test('of a CONNECT, or at once, do not end the process', async () => {
    for (let at = 0; at < 50; at += 1) {
      const socket = await connected(api.port);
      sockets.push(socket);
      socket.write('CONNECT x:1 HTTP/1.1\r\nhost: x\r\n\r\n'.repeat(2));
      setImmediate(() => socket.resetAndDestroy());
    }
    const health = await fetch(`${api.url}/api/v2/health`);
    expect(health.status).toBe(200);
  });
});

test('the process is the one that was started', async () => {
  expect(await Promise.race([api.ended, Promise.resolve('runs')])).toBe('runs');
});
