import { describe, expect, test } from 'vitest';
import { chunked } from '../node-instances/support.ts';
import { tusWorld } from './support.ts';

const { makeNode, begin, piece, send, database, outputsOf } = await tusWorld();
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

  test('except under an Idempotency-Key, whose repeat is told the address', async () => {
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
