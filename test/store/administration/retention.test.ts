import { randomUUID } from 'node:crypto';
import { pino } from 'pino';
import { describe, expect, onTestFinished, test } from 'vitest';
import { deleteExpiredSession, listExpiredSessions } from '../../../store/administration/retention.ts';
import { acquireRetentionRun, requestRetentionRun } from '../../../store/administration/retention-runs.ts';
import { newOutputKey } from '../../../store/objects/object-store.ts';
import { sweepAbandonedObjects } from '../../../store/objects/pending-objects.ts';
import { retryRun } from '../../../store/runs/operate-runs.ts';
import { requestReprocess } from '../../../store/runs/reprocess.ts';
import { retainOnce } from '../../../worker/retention.ts';
import { ask } from '../../support/api.ts';
import { connected } from '../../support/databases.ts';
import type { Graph } from '../../support/graph.ts';
import { writePendingRow } from '../../support/pending-row.ts';
import { retentionWorld } from './retention-world.ts';

const {
  platform,
  log,
  retention,
  api,
  people,
  database,
  pair,
  newSession,
  upload,
  age,
  ask200,
  options,
  runNow,
  sweep,
  keysInBucket,
  exists,
} = await retentionWorld();

describe('sessions', () => {
  test('are deleted when they are inactive for the retention time, and the dry run names exactly those', async () => {
    const stays: Record<string, Graph> = {};
    const make = async (name: string, change: (graph: Graph) => Promise<unknown>, nodes = pair) => {
      const graph = await newSession(1, nodes);
      await age(graph);
      await change(graph);
      stays[name] = graph;
    };
    const set = (what: string) => (graph: Graph) =>
      database.query(`update session set ${what} where id = $1`, [graph.sessionId]);
    await make('frozen', set('frozen_at = now()'));
    await make('made lately', set('created_at = now()'));
    await make('closed lately', set('closed_at = now()'));
    await make(
      'whose window ended lately',
      set(
        `machine_group = 1, simulation_name = 'sim', opened_by = 'anon:x', window_seconds = 60,
         window_start_at = now() - interval '60 seconds', window_end_at = now()`,
      ),
    );
    await make('whose failed run was retried lately', async ({ nodes }) => {
      const [run] = await database.query<{ id: string }>(
        `update node_run set state = 'done', outcome = 'failed' where node_instance_id = $1 returning id`,
        [nodes.next],
      );
      expect(await retryRun(database, run!.id, randomUUID())).toMatchObject({ outcome: 'queued' });
    });
    await make('fed lately', (graph) => upload(graph));
    await make('of a project that keeps everything', (graph) =>
      database.query('update project set retention_days = null where id = $1', [graph.projectId]),
    );
    await make('worked on', (graph) =>
      database.query(`update node_run set state = 'held' where node_instance_id = $1`, [graph.nodes.next]),
    );
    await make('whose run ended lately', (graph) =>
      database.query(
        `update node_run set state = 'done', outcome = 'completed', ended_at = now() where node_instance_id = $1`,
        [graph.nodes.next],
      ),
    );
    await make('about to be fed', (graph) =>
      writePendingRow(database, newOutputKey(), graph.dataSourceId, graph.nodes.in),
    );
    await make('fed in pieces, and silent for hours', (graph) =>
      database.query(
        `with pending as (
           insert into pending_object (object_key, data_source_id, node_instance_id, heartbeat_at)
           values ('outputs/in-pieces', $1, $2, clock_timestamp() - interval '5 hours'))
         insert into resumable_upload (id, user_id, node_instance_id, data_source_id, object_key, size_bytes,
                                       expires_at, sweep_at)
         values (gen_random_uuid(), 'device', $2, $1, 'outputs/in-pieces', 9,
                 clock_timestamp() + interval '1 hour', clock_timestamp() + interval '1 hour')`,
        [graph.dataSourceId, graph.nodes.in],
      ),
    );
    await make('fed from a queue', (graph) =>
      database.query(
        `insert into queued_upload (project_id, session_id, node_instance_id, data_source_id, object_key, size_bytes, etag)
         values ($1, $2, $3, $4, 'outputs/queued', 1, 'x')`,
        [graph.projectId, graph.sessionId, graph.nodes.in, graph.dataSourceId],
      ),
    );
    await make('behind a system dashboard', (graph) =>
      database.query(
        `with s as (insert into static_definition (code, title, section_code, section_title, scope_kind)
                    values ('kept', 'Kept', 'x', 'X', 0) returning id)
         insert into static_instance (static_id, session_id) select id, $1 from s`,
        [graph.sessionId],
      ),
    );
    // Its run has been unclaimed for longer than the project's retention.
    const goes = [await newSession(2, pair), await newSession(2)];
    for (const graph of goes) await age(graph);
    const before = await keysInBucket();
    const preview = await ask200(retention);
    const named = preview.sessions.items.map((item: { sessionId: string }) => item.sessionId).sort();
    expect(named).toEqual(goes.map(({ sessionId }) => sessionId).sort());
    expect(preview).toMatchObject({ sessions: { count: 2, outputs: 4, bytes: 32 }, complete: true });
    expect(preview.outputs, 'those of sessions that go count once').toMatchObject({ count: 0 });
    expect(await exists(goes[0]!)).toBe(true);
    const run = await runNow();
    expect(run).toMatchObject({ sessions: 2, outputs: 4, bytes: 32, error: null });
    for (const graph of goes) expect(await exists(graph)).toBe(false);
    for (const [name, graph] of Object.entries(stays)) expect(await exists(graph), name).toBe(true);
    expect((await ask200(retention)).sessions.count).toBe(0);
    // Bytes go after their rows, and no others.
    expect(await keysInBucket()).toEqual(before);
    const { objects } = api.composed.services;
    const kept = await sweepAbandonedObjects(database, objects, { olderThanSeconds: 3_600, keptHours: 1 });
    expect(kept.deleted).toBe(0);
    await sweep();
    expect(before.size - (await keysInBucket()).size).toBe(4);
    const { entries } = await ask200(`/api/v2/admin/audit?sessionId=${goes[0]!.sessionId}`);
    expect(entries[0]).toMatchObject({
      action: 'retentionDeletedSession',
      actor: { kind: 'platform', id: null },
    });
  });

  test('that are fed or reprocessed during their deletion stay whole, or the caller is refused', async () => {
    for (let round = 0; round < 12; round++) {
      const graph = await newSession(1, pair);
      await database.query(
        `update node_run set state = 'done', outcome = 'completed' where node_instance_id = $1`,
        [graph.nodes.next],
      );
      await age(graph);
      const send = fetch(`${api.url}/api/v2/node-instance/${graph.nodes.in}/outputs/data`, {
        method: 'POST',
        headers: { authorization: `Bearer ${people.adminToken}`, 'content-type': 'text/csv' },
        body: 'a\n1\n',
      });
      const { run } = await requestRetentionRun(database, null);
      const [sent, , reprocessed] = await Promise.all([
        send,
        // A little later from round to round, so that they meet in different places.
        new Promise((resolve) => setTimeout(resolve, round * 2)).then(() =>
          deleteExpiredSession(database, run.id, graph.sessionId),
        ),
        requestReprocess(database, graph.nodes.next!).catch((error: unknown) => error),
      ]);
      const isThere = await exists(graph);
      const rows = await database.query<{ key: string }>(
        'select object_key as key from node_output where node_instance_id = $1',
        [graph.nodes.in],
      );
      expect([201, 404], await sent.text()).toContain(sent.status);
      if (sent.status === 201) {
        expect(isThere).toBe(true);
        expect(rows).toHaveLength(2);
      } else {
        expect(isThere).toBe(false);
      }
      expect(reprocessed).not.toBeInstanceOf(Error);
      await sweep();
      const keys = await keysInBucket();
      for (const { key } of rows) expect(keys).toContain(key);
      await database.query('update retention_run set ended_at = now() where id = $1', [run.id]);
    }
  });
});

test('a session that cannot be deleted holds up no other one, and the run and the log say so', async () => {
  const graphs = [await newSession(1), await newSession(1), await newSession(1)];
  for (const graph of graphs) await age(graph);
  const [stuck, ...others] = [...graphs].sort((one, two) => one.sessionId.localeCompare(two.sessionId));
  const owner = await connected(platform.databaseUrl);
  onTestFinished(() => owner.end());
  await owner.query(
    `create function refuse_deletion() returns trigger language plpgsql as $$
     begin raise exception 'this session stays'; end $$`,
  );
  await owner.query(
    `create trigger refused before delete on session for each row when (old.id = '${stuck!.sessionId}')
     execute function refuse_deletion()`,
  );
  const lines: string[] = [];
  const run = await runNow({ log: pino({ level: 'warn' }, { write: (line) => void lines.push(line) }) });
  expect(run).toMatchObject({ sessions: 2, error: expect.stringContaining('was removed: 1.') });
  expect(lines).toMatchObject([expect.stringContaining(stuck!.sessionId)]);
  for (const graph of others) expect(await exists(graph)).toBe(false);
  await owner.query('drop trigger refused on session');
  expect(await runNow()).toMatchObject({ sessions: 1, error: null });
});

test('a run is requested once, scheduled once a day, and resumed after its worker died', async () => {
  const post = () => ask(api.url, 'POST', retention, { token: people.adminToken });
  const [one, other] = await Promise.all([post(), post()]);
  expect([one.status, other.status].sort()).toEqual([200, 202]);
  expect(other.body.id).toBe(one.body.id);
  // A worker claims it and dies.
  const taken = await acquireRetentionRun(database, 0);
  expect(taken?.id).toBe(one.body.id);
  const graph = await newSession(1);
  await age(graph);
  await retainOnce(database, api.composed.services.objects, log, options);
  expect(await exists(graph)).toBe(false);
  expect(await acquireRetentionRun(database, 0)).toBeUndefined();
  expect(await acquireRetentionRun(database, 24)).toBeUndefined();
  await database.query(`update retention_run set requested_at = requested_at - interval '25 hours'`);
  const daily = await acquireRetentionRun(database, 24);
  expect(daily).toMatchObject({ requestedBy: null, sessions: 0 });
  await database.query(`update retention_run set ended_at = now() where ended_at is null`);
  expect(await listExpiredSessions(database, randomUUID(), 10)).toEqual([]);
});
