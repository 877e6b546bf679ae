import { expect, test } from 'vitest';
import { endWindow, readWindowState } from '../../store/sessions/session-windows.ts';
import { joinOrOpen } from '../../store/sessions/shared-sessions.ts';
import { databaseStage } from '../support/databases.ts';
import { statementsWait } from '../support/eventually.ts';
import { chain, makeGraph } from '../support/graph.ts';

const { database } = await databaseStage(16);

async function openOne(name: string) {
  const graph = await makeGraph(database, chain(1));
  const [template] = await database.query<{ id: number }>(
    'select session_template_id as id from session where id = $1',
    [graph.sessionId],
  );
  const key = {
    projectId: graph.projectId,
    sessionTemplateId: template!.id,
    name,
    simulationName: 'sim',
    machineGroup: 1,
    timeWindowSeconds: 300,
  };
  const opened = await joinOrOpen(database, {
    key,
    startAt: new Date(),
    participant: { identifier: 'anon:1', key: 'anon:1' },
    userId: '018f0000-0000-7000-8000-000000000001',
  });
  if (opened.outcome !== 'created') throw new Error(opened.outcome);
  return opened.sessionId;
}

test('a reconcile that waited for a join counts the participant', async () => {
  const sessionId = await openOne('Waiting reconcile');
  let look: ReturnType<typeof readWindowState> | undefined;
  await database.transaction(async (tx) => {
    await tx.query('select 1 from session where id = $1 for no key update', [sessionId]);
    look = readWindowState(database, sessionId);
    await statementsWait(database);
    await tx.query(
      `insert into session_participant (session_id, identifier, key, start_at, joined_at)
       values ($1, 'anon:2', 'anon:2', now(), now())`,
      [sessionId],
    );
  });
  expect((await look!)?.participants).toBe(2);
});

test('nothing ends before its time, and a deleted session has no window', async () => {
  const sessionId = await openOne('Not due');
  expect(await endWindow(database, sessionId)).toBe('not-due');
  await database.query('delete from session where id = $1', [sessionId]);
  expect(await endWindow(database, sessionId)).toBe('not-due');
  expect(await readWindowState(database, sessionId)).toBeUndefined();
});
