/** Resumable uploads to managed ingests: over lines that break each file performs its ingest once. */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Upload, type UploadOptions } from 'tus-js-client';
import { afterAll, describe, expect, test } from 'vitest';
import { pythonEnvironment } from '../../python/environment.ts';
import { eventually } from '../../support/eventually.ts';
import { type GateMode, openGate } from '../../support/network/gate.ts';
import { testEnvironment } from '../../support/stack.ts';
import { ingestWorld } from '../ingests/ingest-world.ts';
import { mebibyte, metadataOf, sha256 } from './support.ts';

const platform = await testEnvironment();
const world = await ingestWorld(platform);
const { api, database, newIngest, newProject } = world;
const gate = await openGate(api.url);
const folder = mkdtempSync(join(tmpdir(), 'sdp-tus-ingest-'));
afterAll(async () => {
  await gate.close();
  rmSync(folder, { recursive: true, force: true });
  await world.stop();
});
const call = promisify(execFile);
const metadata = { identifier: 'lap-1', contentType: 'text/csv', metadata: '{"driver":"A"}' };
const tus = { 'tus-resumable': '1.0.0' };
const pieceType = { 'content-type': 'application/offset+octet-stream' };

/** An ingest with a project of its own. */
async function ownIngest(fields: object = {}, project: object = {}) {
  const projectId = await newProject(project);
  const { urlPath, secret, id } = await newIngest({ projectId, ...fields });
  return { projectId, id: id as number, secret: secret as string, path: `/api/v2/ingest-uploads/${urlPath}` };
}
type OwnIngest = Awaited<ReturnType<typeof ownIngest>>;

const outputsIn = (projectId: number) =>
  database.query<{ id: number; sessionId: string }>(
    `select o.id, o.session_id, o.sha256, o.content_type, o.metadata, o.output_identifier
       from node_output o join session s on s.id = o.session_id where s.project_id = $1 order by o.id`,
    [projectId],
  );
const sessionsOf = async (projectId: number) =>
  (await database.query('select 1 from session where project_id = $1', [projectId])).length;

async function expectOnce({ projectId }: OwnIngest, bytes: Buffer): Promise<void> {
  expect(await outputsIn(projectId)).toMatchObject([
    {
      sha256: sha256(bytes),
      contentType: 'text/csv',
      metadata: { driver: 'A' },
      outputIdentifier: 'lap-1',
    },
  ]);
  expect(await sessionsOf(projectId)).toBe(1);
}

async function ask(method: string, path: string, headers: Record<string, string>, body?: string | Buffer) {
  const response = await fetch(api.url + path, {
    method,
    headers: { ...tus, ...headers },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : new Uint8Array(body) }),
  });
  const text = await response.text();
  const { status } = response;
  return { status, header: (name: string) => response.headers.get(name), body: text && JSON.parse(text) };
}

const begin = (ingest: OwnIngest, sizeBytes: number, headers: Record<string, string> = {}, said = {}) =>
  ask('POST', ingest.path, {
    'x-ingest-secret': ingest.secret,
    'upload-length': String(sizeBytes),
    'upload-metadata': metadataOf({ ...metadata, ...said }),
    ...headers,
  });
const piece = (ingest: OwnIngest, path: string, offset: number, bytes: string | Buffer) =>
  ask(
    'PATCH',
    path,
    { ...pieceType, 'x-ingest-secret': ingest.secret, 'upload-offset': String(offset) },
    bytes,
  );

function uploaded(ingest: OwnIngest, bytes: Buffer, options: Partial<UploadOptions> = {}): Promise<void> {
  return new Promise((resolve, reject) => {
    new Upload(bytes, {
      endpoint: gate.url + ingest.path,
      headers: { 'x-ingest-secret': ingest.secret },
      metadata,
      retryDelays: Array(200).fill(20),
      onSuccess: () => resolve(),
      onError: reject,
      ...options,
    }).start();
  });
}

describe('tus-js-client', () => {
  test.each([
    ['on a good line', { kind: 'pass' }],
    ['whose connections end after 7 MB', { kind: 'cut', direction: 'requests', afterBytes: 7 * mebibyte }],
    ['on a line that drops answers', { kind: 'drop-answers' }],
    ['on a line that resets in place of an answer', { kind: 'reset', afterBytes: 0 }],
    ['on a line that is away', { kind: 'shut' }],
  ] as [string, GateMode][])('makes one session of a file, %s', async (_line, fault) => {
    const ingest = await ownIngest();
    const bytes = randomBytes(12 * mebibyte + 11);
    gate.set(fault);
    const before = gate.treated;
    const done = uploaded(ingest, bytes);
    if (fault.kind !== 'pass') await eventually('the fault is met', async () => gate.treated > before);
    if (fault.kind !== 'cut') gate.set({ kind: 'pass' });
    await done;
    gate.set({ kind: 'pass' });
    await expectOnce(ingest, bytes);
  });
});

const { python = 'python3', missing } = pythonEnvironment();
test.skipIf(missing !== '')('tuspy, over a line whose connections end after 7 MB', async () => {
  const program = `
import sys
from tusclient import client
url, secret, path = sys.argv[1:]
tus = client.TusClient(url, headers={"X-Ingest-Secret": secret})
tus.uploader(path, chunk_size=3 * 1024 * 1024, retries=60, retry_delay=0.05, upload_checksum=True,
    metadata={"identifier": "lap-1", "contentType": "text/csv", "metadata": '{"driver":"A"}'}).upload()
`;
  const ingest = await ownIngest();
  const bytes = randomBytes(18 * mebibyte + 5);
  const path = join(folder, 'recording.csv');
  writeFileSync(path, bytes);
  gate.set({ kind: 'cut', direction: 'requests', afterBytes: 7 * mebibyte });
  await call(python, ['-c', program, gate.url + ingest.path, ingest.secret, path]);
  gate.set({ kind: 'pass' });
  await expectOnce(ingest, bytes);
});

describe('at its last byte an upload', () => {
  test('performs the ingest as a plain upload does, and tells what it made', async () => {
    const ingest = await ownIngest();
    const begun = await begin(ingest, 8);
    const path = begun.header('location')!;
    expect(begun.status).toBe(201);
    expect((await piece(ingest, path, 0, 'a,b\n')).header('x-platform-upload-state')).toBe('receiving');
    expect(await sessionsOf(ingest.projectId)).toBe(0);
    const last = await piece(ingest, path, 4, '1,2\n');
    const [output] = await outputsIn(ingest.projectId);
    const made = { id: String(output!.id), session: output!.sessionId };
    const saidBy = ({ header }: typeof last) => ({
      id: header('x-platform-output-id'),
      session: header('x-platform-session-id'),
    });
    expect([last.status, saidBy(last)]).toEqual([204, made]);
    const secret = { 'x-ingest-secret': ingest.secret };
    const asked = await ask('HEAD', path, secret);
    expect(saidBy(asked)).toEqual(made);
    expect(asked.header('upload-metadata')).toBe(metadataOf(metadata));
    const seen = await ask('GET', path, secret);
    expect(seen.body).toMatchObject({ state: 'published', sessionId: made.session, outputId: output!.id });
    const [audited] = await database.query(
      `select action, actor_kind, actor_id, session_id from audit_entry where object_id = $1 and action = 'ingestFile'`,
      [String(ingest.id)],
    );
    expect(audited).toMatchObject({
      actorKind: 'ingest',
      actorId: String(ingest.id),
      sessionId: made.session,
    });
  });

  test('is known when the same file came before, whole or in pieces', async () => {
    const ingest = await ownIngest();
    const plain = await fetch(`${api.url}${ingest.path.replace('/api/v2/ingest-uploads', '/ingest')}`, {
      method: 'POST',
      headers: {
        'content-type': 'text/csv',
        'x-ingest-secret': ingest.secret,
        'x-platform-output-identifier': 'lap-1',
        'x-platform-output-metadata': metadata.metadata,
      },
      body: 'a\n1\n',
    });
    const { nodeOutputId } = (await plain.json()) as { nodeOutputId: number };
    for (const _ of ['once', 'again']) {
      const path = (await begin(ingest, 4)).header('location')!;
      const last = await piece(ingest, path, 0, 'a\n1\n');
      expect(last.header('x-platform-output-id')).toBe(String(nodeOutputId));
    }
    expect(await sessionsOf(ingest.projectId)).toBe(1);
  });

  test('feeds the latest session, or is queued where the project queues', async () => {
    const feeding = await ownIngest({ creationBehaviour: 'LatestSession' });
    for (const identifier of ['one', 'two']) {
      const path = (await begin(feeding, 4, {}, { identifier })).header('location')!;
      expect((await piece(feeding, path, 0, 'a\n1\n')).status).toBe(204);
    }
    expect(await sessionsOf(feeding.projectId)).toBe(1);
    expect(await outputsIn(feeding.projectId)).toHaveLength(2);
    for (const creationBehaviour of ['NewSession', 'LatestSession']) {
      const queueing = await ownIngest({ creationBehaviour }, { QueuedIngestion: true });
      for (const _ of ['once', 'again']) {
        const path = (await begin(queueing, 4)).header('location')!;
        const last = await piece(queueing, path, 0, 'a\n1\n');
        expect(last.header('x-platform-upload-state')).toBe('queued');
        expect(last.header('x-platform-session-id')).toMatch(/^[0-9a-f-]{36}$/);
      }
      const queued = 'select 1 from queued_upload where project_id = $1';
      expect(await database.query(queued, [queueing.projectId])).toHaveLength(1);
      expect(await sessionsOf(queueing.projectId)).toBe(1);
    }
  });

  test('that is empty performs the ingest when it begins', async () => {
    const ingest = await ownIngest();
    const begun = await begin(ingest, 0);
    expect(begun.header('x-platform-upload-state')).toBe('published');
    await expectOnce(ingest, Buffer.alloc(0));
  });
});

describe('before the body', () => {
  test('the path, the secret, the type and the size are refused as for a plain upload', async () => {
    const ingest = await ownIngest({ ingestDataType: 'Csv' });
    const refused = async (answer: ReturnType<typeof ask>) => [
      (await answer).status,
      (await answer).body.message,
    ];
    expect(await refused(begin({ ...ingest, path: '/api/v2/ingest-uploads/no/such' }, 1))).toEqual([
      404,
      'Ingest not found.',
    ]);
    for (const secret of ['', 'wrong'])
      expect((await begin(ingest, 1, { 'x-ingest-secret': secret })).status).toBe(401);
    expect((await begin(ingest, 1, {}, { contentType: 'application/json' })).status).toBe(415);
    expect((await begin(ingest, 9e15)).status).toBe(413);
    expect((await begin(ingest, 1, {}, { metadata: 'no json' })).status).toBe(400);
    expect((await begin(ingest, 1, { 'tus-resumable': '0.9' })).status).toBe(412);
    expect((await begin(ingest, 1)).status).toBe(201);
  });

  test('only the caller who began an upload goes on with it: by the secret, a new one too, or without any', async () => {
    const ingest = await ownIngest({ allowAnonymous: true });
    const path = (await begin(ingest, 4)).header('location')!;
    const anonymous = { ...pieceType, 'upload-offset': '0' };
    expect((await ask('PATCH', path, anonymous, 'a\n1\n')).status).toBe(403);
    expect((await ask('DELETE', path, {})).status).toBe(403);
    const rotated = await world.admin('POST', `/api/v2/admin/ingests/${ingest.id}/rotate-secret`);
    expect((await piece(ingest, path, 0, 'a\n1\n')).status).toBe(401);
    expect((await piece({ ...ingest, secret: rotated.body.secret }, path, 0, 'a\n1\n')).status).toBe(204);
    const open = await ask('POST', ingest.path, { 'upload-length': '4' });
    expect((await ask('PATCH', open.header('location')!, anonymous, 'b\n1\n')).status).toBe(204);
    expect(await sessionsOf(ingest.projectId)).toBe(2);
  });

  test('an upload of an ingest is none of a node, and the other way round; a deleted ingest ends it', async () => {
    const ingest = await ownIngest();
    const path = (await begin(ingest, 4)).header('location')!;
    const id = path.split('/').at(-1);
    const headers = { authorization: `Bearer ${world.people.Developer.token}` };
    expect((await ask('HEAD', `/api/v2/node-instance/1/uploads/${id}`, headers)).status).toBe(404);
    expect((await ask('HEAD', `/api/v2/ingest-uploads/no-upload`, headers)).status).toBe(404);
    await world.admin('DELETE', `/api/v2/admin/ingests/${ingest.id}`);
    expect((await piece(ingest, path, 0, 'a\n1\n')).status).toBe(404);
    expect(await sessionsOf(ingest.projectId)).toBe(0);
  });

  test('it is given up by DELETE, and what the server supports is asked by OPTIONS', async () => {
    const ingest = await ownIngest();
    const path = (await begin(ingest, 4)).header('location')!;
    const secret = { 'x-ingest-secret': ingest.secret };
    expect((await ask('DELETE', path, secret)).status).toBe(204);
    expect((await ask('HEAD', path, secret)).status).toBe(404);
    const options = await ask('OPTIONS', ingest.path, {});
    expect([options.status, options.header('tus-version')]).toEqual([204, '1.0.0']);
  });
});
