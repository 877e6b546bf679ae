/** A piece for a managed ingest whose ingest changes while the piece comes. */
import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { afterAll, expect, test } from 'vitest';
import { testEnvironment } from '../../support/stack.ts';
import { ingestWorld } from '../ingests/ingest-world.ts';

const world = await ingestWorld(await testEnvironment());
const { admin, api, database, newIngest, newProject } = world;
afterAll(() => world.stop());

test.each([
  ['is deleted', 404, (path: string) => admin('DELETE', path)],
  ['gets another secret', 401, (path: string) => admin('POST', `${path}/rotate-secret`)],
])('is refused when the ingest %s, and makes no session', async (_, status, change) => {
  const projectId = await newProject();
  const { id, urlPath, secret } = await newIngest({ projectId });
  const own = { 'tus-resumable': '1.0.0', 'x-ingest-secret': secret as string };
  const begun = await fetch(`${api.url}/api/v2/ingest-uploads/${urlPath}`, {
    method: 'POST',
    headers: { ...own, 'upload-length': '8' },
  });
  const path = begun.headers.get('location')!;
  const request = httpRequest(api.url + path, {
    method: 'PATCH',
    agent: false,
    headers: {
      ...own,
      'content-type': 'application/offset+octet-stream',
      'upload-offset': 0,
      expect: '100-continue',
    },
  });
  const answer = once(request, 'response') as Promise<[IncomingMessage]>;
  request.flushHeaders();
  await once(request, 'continue');
  request.write('a,b\n');
  expect((await change(`/api/v2/admin/ingests/${id}`)).status).toBeLessThan(300);
  request.end('1,2\n');
  const [response] = await answer;
  expect(response.statusCode).toBe(status);
  response.resume();
  // A worker finishes without their callers only those that are whole.
  const isWhole = "select 1 from resumable_upload where id = $1 and state = 'stored'";
  expect(await database.query(isWhole, [path.split('/').at(-1)])).toEqual([]);
  expect(await database.query('select 1 from session where project_id = $1', [projectId])).toEqual([]);
});
