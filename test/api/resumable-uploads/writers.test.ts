/** Who writes to a resumable upload, and what stays of a piece that broke off. */
import { randomBytes } from 'node:crypto';
import { request } from 'node:http';
import { PassThrough } from 'node:stream';
import { afterAll, describe, expect, test } from 'vitest';
import { startTestApi } from '../../support/api.ts';
import { eventually } from '../../support/eventually.ts';
import type { Sent } from '../node-instances/support.ts';
import { mebibyte, sha256, tusWorld } from './support.ts';

const world = await tusWorld();
const {
  api,
  platform,
  token,
  database,
  makeNode,
  begin,
  begun,
  piece,
  head,
  offsetOf,
  outputsOf,
  bytesOf,
  terminate,
} = world;
const other = await startTestApi(platform.environment);
afterAll(() => other.stop());

async function expectOnce(nodeId: number, bytes: Buffer): Promise<void> {
  const outputs = await outputsOf(nodeId);
  expect(outputs).toMatchObject([{ sizeBytes: bytes.length, sha256: sha256(bytes) }]);
  expect((await bytesOf(outputs[0]!.id)).equals(bytes)).toBe(true);
}

/** A piece that stays open. */
function openPiece(path: string, offset: number, length: number) {
  const source = new PassThrough();
  const answer = piece(path, offset, source, { 'content-length': String(length) }).then(
    (sent): Sent | 'cut' => sent,
    () => 'cut' as const,
  );
  return { source, answer };
}

async function received(path: string): Promise<void> {
  const id = path.split('/').at(-1);
  await eventually('the piece is being written', async () => {
    const rows = await database.query('select 1 from resumable_upload where id = $1 and writer is not null', [
      id,
    ]);
    return rows.length > 0;
  });
}

const idle = (path: string) =>
  eventually('nobody writes', async () => {
    const rows = await database.query('select 1 from resumable_upload where id = $1 and writer is null', [
      path.split('/').at(-1),
    ]);
    return rows.length > 0;
  });

describe('a piece that breaks off is kept up to the break', () => {
  test.each([
    ['before the first part is full', 3 * mebibyte],
    ['where the rest is a short part', 6 * mebibyte],
    ['just behind a part', 8 * mebibyte],
    ['after several parts', 27 * mebibyte + 123],
  ])('%s', async (_place, cutAt) => {
    const { nodeId } = await makeNode();
    const bytes = randomBytes(30 * mebibyte);
    const path = await begun(nodeId, bytes.length);
    const { source, answer } = openPiece(path, 0, bytes.length);
    for (let at = 0; at < cutAt; at += mebibyte)
      if (!source.write(bytes.subarray(at, Math.min(cutAt, at + mebibyte))))
        await new Promise((resolve) => source.once('drain', resolve));
    await received(path);
    source.destroy(new Error('cut'));
    expect(await answer).toBe('cut');
    await idle(path);
    const offset = await offsetOf(path);
    // What was still on its way when the connection broke is lost.
    expect(offset).toBeGreaterThan(cutAt - 3 * mebibyte);
    expect(offset).toBeLessThanOrEqual(cutAt);
    expect((await piece(path, offset, bytes.subarray(offset))).status).toBe(204);
    await expectOnce(nodeId, bytes);
  });

  test('a hundred times: each byte is there once', async () => {
    const { nodeId } = await makeNode();
    const pieceBytes = 120_000;
    // A last byte is held back: a piece that completes the upload ends by itself, perhaps before it is seen.
    const bytes = randomBytes(100 * pieceBytes + 1);
    const path = await begun(nodeId, bytes.length);
    let offset = 0;
    for (let cut = 0; cut < 100; cut++) {
      const { source, answer } = openPiece(path, offset, bytes.length - offset);
      source.write(bytes.subarray(offset, offset + pieceBytes));
      await received(path);
      source.destroy(new Error('cut'));
      await answer;
      const reached = await offsetOf(path);
      expect(reached).toBeGreaterThanOrEqual(offset);
      offset = reached;
    }
    expect((await piece(path, offset, bytes.subarray(offset))).status).toBe(204);
    await expectOnce(nodeId, bytes);
  });
});

describe('a new request ends a half-open one', () => {
  for (const [place, url] of [
    ['at the same process', api.url],
    ['at another process', other.url],
  ] as const) {
    test(`${place}: HEAD tells what the old one has got, and the rest goes there`, async () => {
      const { nodeId } = await makeNode();
      const bytes = randomBytes(20 * mebibyte);
      const path = await begun(nodeId, bytes.length);
      const half = openPiece(path, 0, bytes.length);
      half.source.write(bytes.subarray(0, 2 * mebibyte));
      await received(path);
      const authorization = { authorization: `Bearer ${token}`, 'tus-resumable': '1.0.0' };
      const answered = await fetch(url + path, { method: 'HEAD', headers: authorization });
      expect(answered.status).toBe(200);
      const old = await half.answer;
      expect(old === 'cut' ? 423 : old.status).toBe(423);
      const offset = Number(answered.headers.get('upload-offset'));
      const rest = await fetch(url + path, {
        method: 'PATCH',
        headers: {
          ...authorization,
          'content-type': 'application/offset+octet-stream',
          'upload-offset': String(offset),
        },
        body: bytes.subarray(offset),
      });
      expect(rest.status).toBe(204);
      await expectOnce(nodeId, bytes);
    });
  }

  test('a writer that died is replaced when it was not seen for some seconds', async () => {
    const { nodeId } = await makeNode();
    const path = await begun(nodeId, 10);
    await database.query(
      'update resumable_upload set writer = gen_random_uuid(), writer_seen_at = clock_timestamp() where id = $1',
      [path.split('/').at(-1)],
    );
    expect((await piece(path, 0, Buffer.alloc(10))).status).toBe(204);
    expect(await outputsOf(nodeId)).toHaveLength(1);
  });

  test('eight requests for the last piece make one output', async () => {
    const { nodeId } = await makeNode();
    const bytes = randomBytes(9 * mebibyte);
    const path = await begun(nodeId, bytes.length);
    const answers = await Promise.all(
      Array.from({ length: 8 }, () =>
        piece(path, 0, bytes).then(
          ({ status }) => status,
          () => 0,
        ),
      ),
    );
    for (const status of answers) expect([0, 204, 404, 409, 423]).toContain(status);
    const offset = await offsetOf(path);
    if (offset < bytes.length) expect((await piece(path, offset, bytes.subarray(offset))).status).toBe(204);
    await expectOnce(nodeId, bytes);
  });

  test('termination ends it, too', async () => {
    const { nodeId } = await makeNode();
    const path = await begun(nodeId, 20 * mebibyte);
    const half = openPiece(path, 0, 20 * mebibyte);
    half.source.write(randomBytes(2 * mebibyte));
    await received(path);
    expect((await terminate(path)).status).toBe(204);
    const old = await half.answer;
    expect(old === 'cut' ? 423 : old.status).toBe(423);
    expect((await head(path)).status).toBe(404);
  });
});

test('HEAD repeats Upload-Metadata as it was sent, also once it is an output', async () => {
  const { nodeId } = await makeNode();
  const metadata = 'filename ZsO2LmNzdg==, identifier bGFwLTE=,isConfidential';
  const { headers } = await begin(nodeId, 1, { 'upload-metadata': metadata });
  expect((await head(headers.location!)).headers['upload-metadata']).toBe(metadata);
  expect((await piece(headers.location!, 0, Buffer.alloc(1))).status).toBe(204);
  expect((await head(headers.location!)).headers['upload-metadata']).toBe(metadata);
  expect((await head(await begun(nodeId, 1))).headers).not.toHaveProperty('upload-metadata');
});

test('reading the state of an upload by GET leaves its writer alone', async () => {
  const { nodeId } = await makeNode();
  const path = await begun(nodeId, 4);
  const half = openPiece(path, 0, 4);
  half.source.write(Buffer.from('ab'));
  await received(path);
  const seen = await world.send('GET', path);
  expect([seen.status, seen.json()]).toMatchObject([
    200,
    { sizeBytes: 4, state: 'receiving', outputId: null },
  ]);
  half.source.end(Buffer.from('cd'));
  const answer = await half.answer;
  expect(answer === 'cut' ? 0 : answer.status).toBe(204);
  expect((await world.send('GET', path)).json()).toMatchObject({ offsetBytes: 4, state: 'published' });
});

test('a process that stops keeps what has come, and another one takes the rest', async () => {
  const { nodeId } = await makeNode();
  const bytes = randomBytes(12 * mebibyte);
  const path = await begun(nodeId, bytes.length);
  const leaving = await startTestApi(platform.environment);
  const headers = {
    authorization: `Bearer ${token}`,
    'tus-resumable': '1.0.0',
    'content-type': 'application/offset+octet-stream',
    'upload-offset': '0',
    'content-length': String(bytes.length),
  };
  const sent = request(leaving.url + path, { method: 'PATCH', headers });
  const status = new Promise((resolve) => {
    sent.on('response', ({ statusCode }) => resolve(statusCode)).on('error', () => resolve('cut'));
  });
  sent.write(bytes.subarray(0, 3 * mebibyte));
  await received(path);
  await leaving.stop();
  expect([503, 'cut']).toContain(await status);
  const offset = await offsetOf(path);
  expect((await piece(path, offset, bytes.subarray(offset))).status).toBe(204);
  await expectOnce(nodeId, bytes);
});
