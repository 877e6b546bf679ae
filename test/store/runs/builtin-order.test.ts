import { expect, test } from 'vitest';
import { isBehindOthers } from '../../../store/runs/queue.ts';
import { databaseStage } from '../../support/databases.ts';
import { makeGraph, outsideTemplate, upload } from '../../support/graph.ts';
import { copySession, readBy } from '../../support/rows-read.ts';

const { database } = await databaseStage(2);

test('whether a built-in run is behind others reads few of a backlog that workflows have not handed out', async () => {
  const template = 'built-in';
  await outsideTemplate(database, template);
  const graph = await makeGraph(database, [
    { name: 'input', parents: [] },
    { name: 'node', parents: ['input'], template },
  ]);
  await upload(database, graph, 'input');
  await copySession(database, graph, 2_000);
  const [run] = await database.query<{ id: string }>(
    `update node_run set claim_time = now() + interval '1 hour' where session_id = $1 returning id`,
    [graph.sessionId],
  );
  let isBehind: boolean | undefined;
  const ask = async (own = database) => {
    isBehind = await isBehindOthers(own, run!.id, [template], false);
  };
  const read = await readBy(database, ask);
  expect(isBehind).toBe(false);
  expect(read.node_run! + read.node_attempt!).toBeLessThan(300);
  const [first] = await database.query<{ id: string }>(
    `update node_run set claim_time = now() - interval '1 hour'
      where id = (select id from node_run where session_id <> $1 limit 1) returning id`,
    [graph.sessionId],
  );
  await database.query('update node_attempt set awaited = true where run_id = $1', [first!.id]);
  await ask();
  expect(isBehind).toBe(true);
});
