/** A session can be deleted after weeks of work, and while bytes arrive. */
import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { deleteLockedSession, deleteSession } from '../../store/sessions/delete-session.ts';
import { queueUpload } from '../../store/uploads/queued-uploads.ts';
import { databaseStage } from '../support/databases.ts';
import { statementsWait } from '../support/eventually.ts';
import { chain, claim, finish, makeGraph, outsideTemplate, storedObject, upload } from '../support/graph.ts';

const { database } = await databaseStage(4);

test('an upload that is queued meanwhile waits for the node before it locks anything, and finds no node', async () => {
  await outsideTemplate(database, 'outside');
  const graph = await makeGraph(database, chain(1));
  const nodeInstanceId = graph.nodes.input!;
  const object = { ...(await storedObject(database, graph)), outputIdentifier: null, nodeInstanceId };
  const { queueing, isFree } = await database.transaction(async (tx) => {
    await tx.query('select 1 from session where id = $1 for no key update', [graph.sessionId]);
    await tx.query('select 1 from node_instance where session_id = $1 for update', [graph.sessionId]);
    const queueing = queueUpload(database, object);
    await statementsWait(database);
    const free = await tx.query('select 1 from pending_object where object_key = $1 for update skip locked', [
      object.objectKey,
    ]);
    if (free.length === 1) await deleteLockedSession(tx, graph.sessionId);
    return { queueing, isFree: free.length === 1 };
  });
  expect(isFree).toBe(true);
  expect(await queueing).toEqual({ outcome: 'node-missing' });
});

test('an output that is written meanwhile is waited for, and leaves no object behind', async () => {
  await outsideTemplate(database, 'outside');
  const graph = await makeGraph(database, chain(1));
  const objectKey = `outputs/${randomUUID()}`;
  const { deleting } = await database.transaction(async (tx) => {
    await tx.query(
      `insert into node_output (session_id, node_instance_id, output_identifier, configuration, data_source_id,
                                object_key, size_bytes, etag)
       values ($1, $2, 'lap', '{}', $3, $4, 1, 'x')`,
      [graph.sessionId, graph.nodes.n1, graph.dataSourceId, objectKey],
    );
    const deleting = deleteSession(database, graph.sessionId);
    await statementsWait(database);
    return { deleting };
  });
  expect(await deleting).toBe(true);
  const queued = await database.query('select 1 from object_deletion where object_key = $1', [objectKey]);
  expect(queued).toHaveLength(1);
});

const maxAtOnce = 20_000;
const runs = maxAtOnce + 1_000;

test('it is deleted some thousand runs and outputs at a time', async () => {
  await outsideTemplate(database, 'outside');
  const graph = await makeGraph(database, chain(1));
  await upload(database, graph, 'input');
  const runner = { holder: 'token', instanceId: 'a' };
  const task = (await claim(database, runner))!;
  await finish(database, runner, graph, task);
  await database.query(
    `with run as (
       insert into node_run
       select r.* from node_run o cross join generate_series(1, ${runs}) i
        cross join jsonb_populate_record(o, jsonb_build_object('id', md5(i::text)::uuid)) r
        where o.id = $1 returning id
     )
     insert into node_output overriding system value
     select r.* from run cross join node_output o
      cross join jsonb_populate_record(o, jsonb_build_object(
        'id', nextval(pg_get_serial_sequence('node_output', 'id')), 'run_id', run.id, 'output_identifier', run.id)) r
      where o.run_id = $1`,
    [task.runId],
  );
  await database.query('create table deleted_at_once (rows integer)');
  await database.query(
    `create function count_deleted() returns trigger language plpgsql security definer as $$
     begin
       insert into deleted_at_once select count(*) from gone;
       return null;
     end $$`,
  );
  for (const table of ['node_run', 'node_output'])
    await database.query(
      `create trigger count_deleted after delete on ${table} referencing old table as gone
         for each statement execute function count_deleted()`,
    );
  expect(await deleteSession(database, graph.sessionId)).toBe(true);
  const [deleted] = await database.query('select sum(rows) as sum, max(rows) as most from deleted_at_once');
  expect(deleted).toEqual({ sum: 2 * (runs + 1) + 1, most: maxAtOnce });
});
