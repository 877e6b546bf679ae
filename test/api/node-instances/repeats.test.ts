import { execFile } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { Agent, request as httpRequest } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { DeleteObjectCommand } from '@aws-sdk/client-s3';
import { describe, expect, test } from 'vitest';
import { type Sent, standingOf, uploadWorld } from './support.ts';

const world = await uploadWorld();
const { api, client, database, makeNode, send, upload, leftovers, token } = world;
const mebibyte = 1024 * 1024;
const one = Buffer.from('time,speed\n0,1\n');
const two = Buffer.from('time,speed\n0,2\n');
const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');
const base64 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('base64');
const named = { 'x-platform-output-identifier': 'run-1', 'content-type': 'text/csv' };
const bySha = (bytes: Buffer) => ({ ...named, 'x-amz-checksum-sha256': base64(bytes) });
const rfc9530 = ['content-digest', 'repr-digest'] as const;
type DigestHeader = (typeof rfc9530)[number];
const byDigest = (name: DigestHeader, bytes: Buffer) => ({
  ...named,
  [name]: `sha-512=:AA==:, sha-256=:${base64(bytes)}:`,
});

const resumable = {
  'tus-resumable': '1.0.0',
  'content-type': 'application/offset+octet-stream',
  'upload-metadata': `identifier ${btoa('run-1')},contentType ${btoa('text/csv')}`,
};

const standing = (sessionId: string) => standingOf(database, sessionId);

describe('the same upload again', () => {
  test.each([
    ['without a digest', named],
    ['with x-amz-checksum-sha256', bySha(one)],
    ['with Content-Digest', byDigest('content-digest', one)],
    ['with Repr-Digest', byDigest('repr-digest', one)],
  ])('is answered 200 with the existing output, and no child runs (%s)', async (_name, headers) => {
    const { nodeId, sessionId } = await makeNode();
    const first = await upload(nodeId, one, headers);
    expect(first.status).toBe(201);
    const before = [await standing(sessionId), await leftovers()];
    const again = await upload(nodeId, one, headers);
    expect([again.status, again.json()]).toEqual([200, first.json()]);
    expect([await standing(sessionId), await leftovers()]).toEqual(before);
  });

  const changes: [string, Buffer, Record<string, string>][] = [
    ['bytes', two, bySha(two)],
    ['type', one, { ...bySha(one), 'content-type': 'text/plain' }],
    ['encoding', one, { ...bySha(one), 'content-encoding': 'gzip' }],
    ['metadata', one, { ...bySha(one), 'x-platform-output-metadata': '{"driver":"B"}' }],
  ];
  test.each(changes)('with other %s is a change', async (_name, bytes, headers) => {
    const { nodeId, sessionId } = await makeNode();
    const metadata = { 'x-platform-output-metadata': '{"laps":[1,2],"driver":"A"}' };
    const first = await upload(nodeId, one, { ...bySha(one), ...metadata });
    const same = await upload(nodeId, one, {
      ...bySha(one),
      'x-platform-output-metadata': '{"driver":"A", "laps":[1,2]}',
    });
    expect(same.json()).toEqual(first.json());
    const before = (await standing(sessionId))!;
    const changed = await upload(nodeId, bytes, { ...metadata, ...headers });
    expect([changed.status, changed.json()]).toMatchObject([
      200,
      { id: (first.json() as { id: number }).id },
    ]);
    expect((await standing(sessionId))!.newestPosition).toBe(Number(before.newestPosition) + 1);
  });

  test('of an empty body marked gzip is a repeat too', async () => {
    const { nodeId } = await makeNode();
    const headers = { ...bySha(Buffer.alloc(0)), 'content-encoding': 'gzip' };
    const first = await upload(nodeId, Buffer.alloc(0), headers);
    const again = await upload(nodeId, Buffer.alloc(0), headers);
    expect([again.status, again.json()]).toEqual([200, first.json()]);
  });

  test('is a change after another version came between', async () => {
    const { nodeId, sessionId } = await makeNode();
    for (const bytes of [one, two, one]) await upload(nodeId, bytes, bySha(bytes));
    expect((await standing(sessionId))!.newestPosition).toBe(3);
    const list = (await send('GET', `/api/v2/node-instance/${nodeId}/outputs`)).json() as {
      sha256: string;
    }[];
    expect(list).toMatchObject([{ sha256: sha256(one) }]);
  });

  test('by several callers at once creates one output at one position', async () => {
    const { nodeId, sessionId } = await makeNode();
    const before = await leftovers();
    const answers = await Promise.all(Array.from({ length: 8 }, () => upload(nodeId, one, named)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([...Array(7).fill(200), 201]);
    expect(new Set(answers.map((answer) => String(answer.bytes))).size).toBe(1);
    expect((await standing(sessionId))!.newestPosition).toBe(1);
    const after = await leftovers();
    expect(after).toEqual({ ...before, objects: before.objects + 1, outputs: before.outputs! + 1 });
  });

  const inOnePiece = (nodeId: number) =>
    send(
      'POST',
      `/api/v2/node-instance/${nodeId}/uploads`,
      { ...resumable, 'upload-length': `${one.length}` },
      one,
    );
  test.each([
    ['without a digest', (nodeId: number) => upload(nodeId, one, named)],
    ['with x-amz-checksum-sha256', (nodeId: number) => upload(nodeId, one, bySha(one))],
    ['resumable', inOnePiece],
  ])('brings back bytes that the store has lost, and the child runs again (%s)', async (_name, again) => {
    const { nodeId, sessionId } = await makeNode();
    const first = await upload(nodeId, one, bySha(one));
    const { id, dataPath } = first.json() as { id: number; dataPath: string };
    await client.send(new DeleteObjectCommand({ Bucket: world.platform.s3.bucket, Key: dataPath }));
    expect((await again(nodeId)).status).toBeLessThan(300);
    const data = await send('GET', `/api/v2/node-instance/outputs/${id}/data`);
    expect([data.status, String(data.bytes)]).toEqual([200, String(one)]);
    expect(await standing(sessionId)).toMatchObject({ newestPosition: 2, desiredVersion: 2 });
  });

  test('is refused where the session is frozen', async () => {
    const { nodeId, sessionId } = await makeNode();
    await upload(nodeId, one, bySha(one));
    await database.query('update session set frozen_at = now() where id = $1', [sessionId]);
    expect((await upload(nodeId, one, bySha(one))).status).toBe(400);
  });
});

test.each(
  rfc9530.flatMap((name): [DigestHeader, string][] => [
    [name, `sha-256=:${base64(two)}:`],
    [name, 'sha-256=:nonsense:'],
    [name, `sha-256="${base64(one)}"`],
    [name, `sha-256=:${base64(one)}:, sha-256=:${base64(two)}:`],
  ]),
)('a digest that is not of the bytes is refused (%s: %s)', async (name, value) => {
  const { nodeId } = await makeNode();
  const before = await leftovers();
  const refused = await upload(nodeId, one, { ...named, [name]: value });
  expect([refused.status, refused.json()]).toMatchObject([
    400,
    { message: 'The body does not match the checksum sent with it.' },
  ]);
  expect(await leftovers()).toEqual(before);
  const bothDiffer = await upload(nodeId, one, { ...bySha(one), ...byDigest(name, two) });
  expect(bothDiffer.status).toBe(400);
});

describe('a digest in a header is answered before the body', () => {
  const bytes = randomBytes(12 * mebibyte);

  async function uploaded() {
    const node = await makeNode();
    const first = await upload(node.nodeId, bytes, {
      ...bySha(bytes),
      'content-length': String(bytes.length),
    });
    expect(first.status).toBe(201);
    return { ...node, first, path: `/api/v2/node-instance/${node.nodeId}/outputs/data` };
  }

  /** The head alone; the body is written only after `100 Continue`. */
  function sendHead(
    path: string,
    headers: Record<string, string>,
  ): Promise<{ status: number; continued: boolean }> {
    return new Promise((resolve, reject) => {
      let continued = false;
      const request = httpRequest(api.url + path, {
        method: 'POST',
        agent: false,
        headers: { authorization: `Bearer ${token}`, 'content-length': String(bytes.length), ...headers },
      });
      request.on('continue', () => {
        continued = true;
        request.end(bytes);
      });
      request.on('error', reject);
      request.on('response', (response) => {
        response.resume().on('end', () => {
          request.destroy();
          resolve({ status: response.statusCode ?? 0, continued });
        });
      });
      request.flushHeaders();
    });
  }

  test('with and without Expect: 100-continue', async () => {
    const { path } = await uploaded();
    for (const headers of [bySha(bytes), byDigest('content-digest', bytes)] as Record<string, string>[]) {
      expect(await sendHead(path, headers)).toEqual({ status: 200, continued: false });
      const waiting = await sendHead(path, { ...headers, expect: '100-continue' });
      expect(waiting).toEqual({ status: 200, continued: false });
    }
  });

  test('and a caller that sends the whole body keeps the connection', async () => {
    const { nodeId, first } = await uploaded();
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const sockets = new Set<unknown>();
    const post = (body: Buffer) =>
      new Promise<Pick<Sent, 'status' | 'json'>>((resolve, reject) => {
        const request = httpRequest(
          `${api.url}/api/v2/node-instance/${nodeId}/outputs/data`,
          { method: 'POST', agent, headers: { authorization: `Bearer ${token}`, ...bySha(body) } },
          (response) => {
            response.setEncoding('utf8');
            let text = '';
            response.on('data', (piece: string) => {
              text += piece;
            });
            response.on('end', () =>
              resolve({ status: response.statusCode ?? 0, json: () => JSON.parse(text) }),
            );
          },
        );
        request.on('socket', (socket) => sockets.add(socket));
        request.on('error', reject);
        request.end(body);
      });
    for (let count = 0; count < 3; count += 1) {
      const again = await post(bytes);
      expect([again.status, again.json()]).toEqual([200, first.json()]);
    }
    expect((await post(one)).status).toBe(200);
    expect(sockets.size).toBe(1);
    agent.destroy();
  });

  test('curl succeeds with and without sending the body', async () => {
    const { path, first } = await uploaded();
    const folder = await mkdtemp(join(tmpdir(), 'sdp-repeats-'));
    const file = join(folder, 'run.bin');
    await writeFile(file, bytes);
    const curl = async (...extra: string[]) => {
      const headers = { ...bySha(bytes), authorization: `Bearer ${token}` };
      const lines = Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`]);
      const format = '\n%{http_code} %{size_upload}';
      const { stdout } = await promisify(execFile)('curl', [
        ...['-sS', '--fail-with-body', '-X', 'POST', '-T', file, '-w', format],
        ...lines,
        ...extra,
        api.url + path,
      ]);
      const [body = '', end = ''] = stdout.split('\n');
      expect(JSON.parse(body)).toEqual(first.json());
      return end.split(' ').map(Number);
    };
    const [asked, sent] = await curl();
    expect([asked, sent]).toEqual([200, 0]);
    const [unasked] = await curl('-H', 'Expect:');
    expect(unasked).toBe(200);
    await rm(folder, { recursive: true });
  });
});
