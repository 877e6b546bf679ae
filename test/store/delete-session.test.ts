/** A session that has worked for weeks can be deleted: no statement of it outlasts its time limit. */
import { expect, test } from 'vitest';
import { deleteSession } from '../../store/sessions/delete-session.ts';
import { databaseStage } from '../support/databases.ts';
import { chain, claim, finish, makeGraph, outsideTemplate, upload } from '../support/graph.ts';

const { database } = await databaseStage(4);

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
