/** Unfinished uploads to a session that is deleted, or gets another template. */
import { expect, test } from 'vitest';
import { sweepResumableUploads } from '../../../store/uploads/sweep-resumable-uploads.ts';
import { chain, makeGraph } from '../../support/graph.ts';
import { tusWorld } from './support.ts';

const { api, database, makeNode, begun, piece, head, terminate, expire, send } = await tusWorld();

test('with a session go the unfinished uploads to its nodes, and what the store holds of them', async () => {
  const { sessionId, nodeId } = await makeNode();
  const other = await makeNode();
  const path = await begun(nodeId, 4);
  const kept = await begun(other.nodeId, 4);
  for (const upload of [path, kept]) await piece(upload, 0, Buffer.from('ab'));
  expect((await send('DELETE', `/api/v2/sessions/${sessionId}`)).status).toBe(204);
  expect([(await head(path)).status, (await piece(path, 2, Buffer.from('cd'))).status]).toEqual([404, 404]);
  await sweepResumableUploads(database, api.composed.services.objects);
  const rows = await database.query('select node_instance_id from resumable_upload');
  expect(rows).toEqual([{ nodeInstanceId: other.nodeId }]);
  const last = await piece(kept, 2, Buffer.from('cd'));
  expect([last.status, last.headers['x-platform-upload-state']]).toEqual([204, 'published']);
});

const otherTemplate = await otherTemplateId();

async function otherTemplateId(): Promise<number> {
  const { sessionId } = await makeGraph(database, chain(1));
  const [row] = await database.query<{ sessionTemplateId: number }>(
    'select session_template_id from session where id = $1',
    [sessionId],
  );
  return row!.sessionTemplateId;
}

/** The status of a change of the session's template. */
async function changeTemplate(sessionId: string): Promise<number> {
  const body = Buffer.from(JSON.stringify({ session_template_id: otherTemplate }));
  const headers = { 'content-type': 'application/json' };
  return (await send('PATCH', `/api/v2/sessions/${sessionId}`, headers, body)).status;
}

test('a session keeps its nodes while a resumable upload to one is unfinished, however long it is silent', async () => {
  const { sessionId, nodeId } = await makeNode();
  const path = await begun(nodeId, 4);
  await piece(path, 0, Buffer.from('ab'));
  await database.query(
    `update pending_object set heartbeat_at = clock_timestamp() - interval '1 hour' where node_instance_id = $1`,
    [nodeId],
  );
  expect(await changeTemplate(sessionId)).toBe(400);
  const last = await piece(path, 2, Buffer.from('cd'));
  expect([last.status, last.headers['x-platform-upload-state']]).toEqual([204, 'published']);
});

const ends: [string, (path: string) => Promise<unknown>][] = [
  ['was terminated', (path) => terminate(path)],
  ['has expired', () => expire()],
  [
    'was terminated and swept',
    async (path) => {
      await terminate(path);
      await sweepResumableUploads(database, api.composed.services.objects);
    },
  ],
];
test.each(ends)('an upload that %s holds up no change of the template', async (_name, end) => {
  const { sessionId, nodeId } = await makeNode();
  const path = await begun(nodeId, 4);
  await piece(path, 0, Buffer.from('ab'));
  expect(await changeTemplate(sessionId)).toBe(400);
  await end(path);
  expect(await changeTemplate(sessionId)).toBe(200);
});
