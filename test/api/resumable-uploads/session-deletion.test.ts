import { expect, test } from 'vitest';
import { sweepResumableUploads } from '../../../store/uploads/sweep-resumable-uploads.ts';
import { tusWorld } from './support.ts';

const { api, database, makeNode, begun, piece, head, send } = await tusWorld();

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
