/** Unfinished uploads: of a session that is deleted or gets another template, that outlive their key, and that are refused at their beginning. */
import { describe, expect, test } from 'vitest';
import { sweepResumableUploads } from '../../../store/uploads/sweep-resumable-uploads.ts';
import { chain, makeGraph } from '../../support/graph.ts';
import { chunked } from '../node-instances/support.ts';
import { metadataOf, tusWorld } from './support.ts';

const { api, database, makeNode, begin, begun, piece, head, terminate, expire, outputsOf, send } =
  await tusWorld();

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

const forget = () =>
  database.query(`update idempotency_key set created_at = created_at - interval '25 hours'`);

test('an upload that takes longer than its Idempotency-Key is remembered goes on under the key', async () => {
  const { nodeId } = await makeNode();
  const headers = {
    'idempotency-key': `long-${nodeId}`,
    'upload-metadata': metadataOf({ identifier: 'long.csv' }),
  };
  const { location } = (await begin(nodeId, 4, headers)).headers;
  await piece(location!, 0, Buffer.from('ab'));
  await forget();
  const again = await begin(nodeId, 4, headers);
  expect([again.status, again.headers.location, again.headers['upload-offset']]).toEqual([
    201,
    location,
    '2',
  ]);
  expect((await piece(location!, 2, Buffer.from('cd'))).headers['x-platform-upload-state']).toBe('published');
  expect(await outputsOf(nodeId)).toHaveLength(1);
});

test('a key that is no longer remembered begins another upload, and one anew where the first is over', async () => {
  const { nodeId } = await makeNode();
  const headers = { 'idempotency-key': `again-${nodeId}` };
  const first = await begin(nodeId, 4, headers);
  await forget();
  const longer = await begin(nodeId, 5, headers);
  expect([longer.status, longer.headers['upload-offset']]).toEqual([201, '0']);
  expect(longer.headers.location).not.toBe(first.headers.location);
  await piece(first.headers.location!, 0, Buffer.from('abcd'));
  await forget();
  const anew = await begin(nodeId, 4, headers);
  expect([anew.status, anew.headers['upload-offset']]).toEqual([201, '0']);
  expect(anew.headers.location).not.toBe(first.headers.location);
});

const pieceType = { 'content-type': 'application/offset+octet-stream' };
const error = (message: string) => ({ status: 'error', message });

/** Uploads of a node that still take bytes. */
const unfinished = (nodeId: number) =>
  database.query<{ id: string }>(
    `select id from resumable_upload where node_instance_id = $1 and state in ('open', 'whole', 'stored')`,
    [nodeId],
  );

describe('a refused creation leaves no unfinished upload', () => {
  const wrongDigest = `sha256 ${Buffer.alloc(32).toString('base64')}`;
  const cases: [string, number, Record<string, string>, () => Parameters<typeof begin>[3], string][] = [
    [
      'too long, of no declared length',
      413,
      {},
      () => chunked(Buffer.alloc(60), 10),
      'The upload was announced with 5 bytes.',
    ],
    [
      'of another digest',
      460,
      { 'upload-checksum': wrongDigest },
      () => Buffer.alloc(5),
      'The bytes do not match Upload-Checksum.',
    ],
    [
      'of another digest, in part',
      460,
      { 'upload-checksum': wrongDigest },
      () => Buffer.alloc(3),
      'The bytes do not match Upload-Checksum.',
    ],
  ];
  test.each(cases)('whose body is %s', async (_name, status, headers, body, message) => {
    const { nodeId } = await makeNode();
    const refused = await begin(nodeId, 5, { ...pieceType, ...headers }, body());
    expect([refused.status, refused.json()]).toEqual([status, error(message)]);
    expect(await unfinished(nodeId)).toEqual([]);
    expect(await outputsOf(nodeId)).toEqual([]);
  });

  test('except under an Idempotency-Key, whose repeat gets the address', async () => {
    const { nodeId } = await makeNode();
    const headers = { ...pieceType, 'upload-checksum': wrongDigest, 'idempotency-key': `key-${nodeId}` };
    expect((await begin(nodeId, 5, headers, Buffer.from('12345'))).status).toBe(460);
    const repeat = await begin(nodeId, 5, headers, Buffer.from('12345'));
    expect([repeat.status, repeat.headers['upload-offset']]).toEqual([201, '0']);
    const { status, headers: end } = await piece(repeat.headers.location!, 0, Buffer.from('12345'));
    expect([status, end['x-platform-upload-state']]).toEqual([204, 'published']);
  });
});

test('an upload that came with its creation is repeated under its Idempotency-Key with its own bytes alone', async () => {
  const { nodeId } = await makeNode();
  const headers = { ...pieceType, 'idempotency-key': `whole-${nodeId}` };
  const first = await begin(nodeId, 5, headers, Buffer.from('12345'));
  const repeat = await begin(nodeId, 5, headers, Buffer.from('12345'));
  expect([repeat.status, repeat.headers.location]).toEqual([201, first.headers.location]);
  const other = await begin(nodeId, 5, headers, Buffer.from('54321'));
  expect([other.status, other.json()]).toEqual([
    422,
    error('The Idempotency-Key was used for another request.'),
  ]);
  expect(await outputsOf(nodeId)).toHaveLength(1);
});

test('bytes after the end of a finished upload are refused, and the last piece may be asked for again', async () => {
  const { nodeId } = await makeNode();
  const headers = { 'upload-length': '5', ...pieceType };
  const { headers: made } = await begin(nodeId, 5, headers, Buffer.from('12345'));
  const more = await piece(made.location!, 5, Buffer.from('6'));
  expect([more.status, more.json()]).toEqual([413, error('The upload was announced with 5 bytes.')]);
  expect((await piece(made.location!, 5, Buffer.alloc(0))).status).toBe(204);
});

test('an unsupported method is refused as tus says, with its version', async () => {
  const { nodeId } = await makeNode();
  const path = `/api/v2/node-instance/${nodeId}/uploads`;
  for (const [method, at] of [
    ['PUT', path],
    ['GET', path],
    ['PUT', `${path}/1`],
    ['OPTIONS', `${path}/1`],
  ] as const) {
    const { status, headers } = await send(method, at);
    expect([status, headers['tus-resumable']], `${method} ${at}`).toEqual([405, '1.0.0']);
    expect(headers.allow, at).toMatch(/[A-Z]/);
  }
  expect((await send('PUT', '/session')).headers['tus-resumable']).toBeUndefined();
});
