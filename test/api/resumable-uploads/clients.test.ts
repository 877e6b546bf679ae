/** Clients of tus that nobody here wrote, over lines that break: each upload is there once, and whole. */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Upload, type UploadOptions } from 'tus-js-client';
import { afterAll, describe, expect, test } from 'vitest';
import { pythonEnvironment } from '../../python/environment.ts';
import { eventually } from '../../support/eventually.ts';
import { type GateMode, openGate } from '../../support/network/gate.ts';
import { mebibyte, metadataOf, sha256, tusWorld } from './support.ts';

const world = await tusWorld();
const { api, token, makeNode, outputsOf, bytesOf } = world;
const gate = await openGate(api.url);
const folder = mkdtempSync(join(tmpdir(), 'sdp-tus-'));
afterAll(async () => {
  await gate.close();
  rmSync(folder, { recursive: true, force: true });
});
const call = promisify(execFile);
const metadata = { identifier: 'lap-1', contentType: 'text/csv', metadata: '{"driver":"A"}' };

function uploaded(nodeId: number, bytes: Buffer, options: Partial<UploadOptions> = {}): Promise<Upload> {
  return new Promise((resolve, reject) => {
    const upload = new Upload(bytes, {
      endpoint: `${gate.url}/api/v2/node-instance/${nodeId}/uploads`,
      headers: { authorization: `Bearer ${token}` },
      metadata,
      retryDelays: Array(200).fill(20),
      onSuccess: () => resolve(upload),
      onError: reject,
      ...options,
    });
    upload.start();
  });
}

async function expectOnce(nodeId: number, bytes: Buffer): Promise<void> {
  const outputs = await outputsOf(nodeId);
  expect(outputs).toMatchObject([
    {
      outputIdentifier: 'lap-1',
      contentType: 'text/csv',
      metadata: { driver: 'A' },
      sizeBytes: bytes.length,
      sha256: sha256(bytes),
    },
  ]);
  expect((await bytesOf(outputs[0]!.id)).equals(bytes)).toBe(true);
}

describe('tus-js-client', () => {
  const ways: [string, Partial<UploadOptions>][] = [
    ['one piece', {}],
    ['pieces', { chunkSize: 3 * mebibyte }],
    ['a body at the creation', { uploadDataDuringCreation: true }],
    ['pieces by POST in place of PATCH', { chunkSize: 3 * mebibyte, overridePatchMethod: true }],
  ];
  test.each(ways)('%s, on a good line', async (_way, options) => {
    const { nodeId } = await makeNode();
    const bytes = randomBytes(10 * mebibyte + 11);
    gate.set({ kind: 'pass' });
    await uploaded(nodeId, bytes, options);
    await expectOnce(nodeId, bytes);
  });

  const faults: [string, GateMode][] = [
    ['whose connections end after 2 MB', { kind: 'cut', direction: 'requests', afterBytes: 2 * mebibyte }],
    ['whose connections end within a part', { kind: 'cut', direction: 'requests', afterBytes: 7 * mebibyte }],
    ['that cuts answers within their head', { kind: 'cut', direction: 'answers', afterBytes: 40 }],
    ['that resets in place of an answer', { kind: 'reset', afterBytes: 0 }],
    ['that drops answers', { kind: 'drop-answers' }],
    ['that stops carrying anything', { kind: 'hold' }],
    ['that is away', { kind: 'shut' }],
  ];
  for (const [way, options] of ways) {
    test.each(faults)(`${way}, on a line %s`, async (_line, fault) => {
      const { nodeId } = await makeNode();
      const bytes = randomBytes(12 * mebibyte + 11);
      gate.set(fault);
      const before = gate.treated;
      const done = uploaded(nodeId, bytes, options);
      await eventually('the fault has met the upload', async () => gate.treated > before);
      // A line that cuts requests lets the upload come through, unless its address is still unknown to the client.
      const comesThrough = fault.kind === 'cut' && fault.direction === 'requests';
      if (!comesThrough || options.uploadDataDuringCreation === true) gate.set({ kind: 'pass' });
      await done;
      gate.set({ kind: 'pass' });
      await expectOnce(nodeId, bytes);
    });
  }

  test('parallel parts of one file are refused: none becomes an output of its own', async () => {
    const { nodeId } = await makeNode();
    gate.set({ kind: 'pass' });
    await expect(uploaded(nodeId, randomBytes(1000), { parallelUploads: 2 })).rejects.toThrow(
      'Parts cannot be joined: send the upload as one, without Upload-Concat.',
    );
    expect(await outputsOf(nodeId)).toEqual([]);
  });

  test('an upload whose program ended goes on from its address', async () => {
    const { nodeId } = await makeNode();
    const bytes = randomBytes(20 * mebibyte);
    gate.set({ kind: 'cut', direction: 'requests', afterBytes: 9 * mebibyte });
    const ended = Promise.withResolvers<void>();
    const first = new Upload(bytes, {
      endpoint: `${gate.url}/api/v2/node-instance/${nodeId}/uploads`,
      headers: { authorization: `Bearer ${token}` },
      metadata,
      retryDelays: null,
      onError: () => ended.resolve(),
    });
    first.start();
    await ended.promise;
    gate.set({ kind: 'pass' });
    const sent: number[] = [];
    await uploaded(nodeId, bytes, { uploadUrl: first.url, onProgress: (at) => sent.push(at) });
    expect(sent[0]).toBeGreaterThan(5 * mebibyte);
    await expectOnce(nodeId, bytes);
  });
});

const { python = 'python3', missing } = pythonEnvironment();
describe.skipIf(missing !== '')(`tuspy${missing === '' ? '' : ` (${missing})`}`, () => {
  const program = `
import sys
from tusclient import client
url, token, path, size = sys.argv[1:]
tus = client.TusClient(url, headers={"Authorization": f"Bearer {token}"})
uploader = tus.uploader(path, chunk_size=int(size), retries=60, retry_delay=0.05, upload_checksum=True,
    metadata={"identifier": "lap-1", "contentType": "text/csv", "metadata": '{"driver":"A"}'})
uploader.upload()
`;
  test.each([
    ['on a good line', { kind: 'pass' }],
    [
      'on a line whose connections end after 7 MB',
      { kind: 'cut', direction: 'requests', afterBytes: 7 * mebibyte },
    ],
  ] as [string, GateMode][])('with checksums, %s', async (_line, fault) => {
    const { nodeId } = await makeNode();
    const bytes = randomBytes(18 * mebibyte + 5);
    const path = join(folder, 'recording.csv');
    writeFileSync(path, bytes);
    const endpoint = `${gate.url}/api/v2/node-instance/${nodeId}/uploads`;
    gate.set(fault);
    await call(python, ['-c', program, endpoint, token, path, String(3 * mebibyte)]);
    gate.set({ kind: 'pass' });
    await expectOnce(nodeId, bytes);
  });
});

test.skipIf(missing !== '')(
  'the Python package goes on where the line broke, and sends no file twice',
  async () => {
    const { nodeId, sessionId } = await makeNode();
    const bytes = randomBytes(40 * mebibyte);
    const path = join(folder, 'python.csv');
    writeFileSync(path, bytes);
    const program = `
import sys
from pathlib import Path
from sdp.client import Platform
url, token, session, path = sys.argv[1:]
print(Platform(url, token=token).session(session).upload(Path(path)).output_id)
`;
    const outputs = [];
    for (const fault of [
      { kind: 'cut', direction: 'requests', afterBytes: 17 * mebibyte },
      { kind: 'pass' },
    ] as const) {
      gate.set(fault);
      outputs.push(Number((await call(python, ['-c', program, gate.url, token, sessionId, path])).stdout));
    }
    gate.set({ kind: 'pass' });
    expect(outputs[0]).toBe(outputs[1]);
    expect(await outputsOf(nodeId)).toMatchObject([{ id: outputs[0], sha256: sha256(bytes) }]);
  },
  120_000,
);

test('curl, without any library', async () => {
  const { nodeId } = await makeNode();
  const bytes = randomBytes(12 * mebibyte);
  const path = join(folder, 'curl.csv');
  writeFileSync(path, bytes);
  const common = ['-sS', '-H', `Authorization: Bearer ${token}`, '-H', 'Tus-Resumable: 1.0.0'];
  const said = metadataOf(metadata);
  const headersOf = async (...args: string[]) => {
    const file = join(folder, 'headers');
    await call('curl', [...common, '-D', file, '-o', '/dev/null', ...args]).catch(() => undefined);
    return new Map(
      readFileSync(file, 'utf8')
        .split('\r\n')
        .map((line) => line.split(': ', 2) as [string, string])
        .map(([name, value]) => [name.toLowerCase(), value]),
    );
  };
  const endpoint = `${api.url}/api/v2/node-instance/${nodeId}/uploads`;
  const length = ['-H', `Upload-Length: ${bytes.length}`, '-H', `Upload-Metadata: ${said}`];
  const location = (await headersOf('-X', 'POST', ...length, endpoint)).get('location');
  const url = api.url + location;
  const type = ['-H', 'Content-Type: application/offset+octet-stream'];
  // Broken off by curl's own clock.
  const slow = ['--limit-rate', '4M', '--max-time', '1', '-T', path];
  await call('curl', [...common, '-X', 'PATCH', ...type, '-H', 'Upload-Offset: 0', ...slow, url]).catch(
    () => undefined,
  );
  const offset = Number((await headersOf('-I', url)).get('upload-offset'));
  expect(offset).toBeGreaterThan(0);
  writeFileSync(path, bytes.subarray(offset));
  const last = await headersOf('-X', 'PATCH', ...type, '-H', `Upload-Offset: ${offset}`, '-T', path, url);
  expect(last.get('upload-offset')).toBe(String(bytes.length));
  await expectOnce(nodeId, bytes);
});
