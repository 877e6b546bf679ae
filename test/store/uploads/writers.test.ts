/** The fences of a resumable upload's writer, at each write. */
import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { Database } from '../../../store/connection/database.ts';
import type { ObjectStores } from '../../../store/objects/object-stores.ts';
import { createResumableUpload } from '../../../store/uploads/begin-resumable-upload.ts';
import { assembleUpload, UploadLost } from '../../../store/uploads/finish-resumable-upload.ts';
import { acquireForgottenUpload } from '../../../store/uploads/forgotten-uploads.ts';
import {
  acquireWriter,
  discardResumableUpload,
  endResumableUpload,
  findResumableUpload,
  type HeldUpload,
  releaseWriter,
  renewWriters,
  reservePart,
  saveProgress,
  WriterLost,
} from '../../../store/uploads/resumable-uploads.ts';
import { databaseStage } from '../../support/databases.ts';
import { chain, makeGraph } from '../../support/graph.ts';

const { database } = await databaseStage(4);
const graph = await makeGraph(database, chain(1));
const nodeInstanceId = Object.values(graph.nodes)[0]!;
const [dataSource] = await database.query<{ id: number }>(
  `select id from data_source where name = 'platform'`,
);

/** An upload, and its writer. */
async function held(sizeBytes = 2): Promise<HeldUpload> {
  const [id, writer] = [randomUUID(), randomUUID()];
  await database.transaction((tx) =>
    createResumableUpload(
      tx,
      {
        id,
        userId: randomUUID(),
        nodeInstanceId,
        ingestId: null,
        dataSourceId: dataSource!.id,
        objectKey: `outputs/${id}`,
        outputIdentifier: null,
        contentType: null,
        contentEncoding: null,
        metadata: null,
        sizeBytes,
        uploadMetadata: null,
      },
      { countedFor: '', atMost: 1, seconds: 3_600 },
    ),
  );
  expect(await acquireWriter(database, id, writer, 5)).toMatchObject({ state: 'open' });
  return { id, writer };
}

const upTo = (offsetBytes: number) => ({ offsetBytes, tail: null, hashState: null, sha256: null });
const end = { nodeInstanceId, outputId: null, isUsed: true };
const rowOf = ({ id }: HeldUpload) => database.query('select * from resumable_upload where id = $1', [id]);

const writes: [string, 'open' | 'whole', (database: Database, held: HeldUpload) => Promise<unknown>][] = [
  ['takes no number for a part', 'open', reservePart],
  ['saves no progress', 'open', (database, held) => saveProgress(database, held, [], upTo(2))],
  ['does not end it', 'whole', (database, held) => endResumableUpload(database, held, end)],
];

describe('a request that is no longer the writer of an upload', () => {
  test.each(writes)('%s', async (_name, state, write) => {
    const upload = await held();
    if (state === 'whole') await saveProgress(database, upload, [], upTo(2));
    const before = await rowOf(upload);
    await expect(write(database, { ...upload, writer: randomUUID() })).rejects.toThrow(WriterLost);
    expect(await rowOf(upload)).toEqual(before);
  });

  test('leaves it to its writer, and learns from its renewal that it must stop', async () => {
    const upload = await held();
    const before = await rowOf(upload);
    const lost = randomUUID();
    await releaseWriter(database, upload.id, lost);
    expect(await renewWriters(database, new Map([[lost, upload.id]]))).toEqual([lost]);
    expect(await rowOf(upload)).toEqual(before);
    expect(await renewWriters(database, new Map([[upload.writer, upload.id]]))).toEqual([]);
  });
});

test('the writer that follows one which was asked to stop is not asked itself', async () => {
  const upload = await held();
  const next = randomUUID();
  expect(await acquireWriter(database, upload.id, next, 5)).toBeUndefined();
  expect(await renewWriters(database, new Map([[upload.writer, upload.id]]))).toEqual([upload.writer]);
  await releaseWriter(database, upload.id, upload.writer);
  expect(await acquireWriter(database, upload.id, next, 5)).toBeDefined();
  expect(await renewWriters(database, new Map([[next, upload.id]]))).toEqual([]);
});

test('an upload takes nothing after its last byte, ends once, and is not given up then', async () => {
  const upload = await held();
  await expect(endResumableUpload(database, upload, end)).rejects.toThrow(WriterLost);
  await saveProgress(database, upload, [], upTo(2));
  await expect(reservePart(database, upload)).rejects.toThrow(WriterLost);
  await expect(saveProgress(database, upload, [], upTo(1))).rejects.toThrow(WriterLost);
  await endResumableUpload(database, upload, end);
  await expect(endResumableUpload(database, upload, end)).rejects.toThrow(WriterLost);
  await expect(saveProgress(database, upload, [], upTo(1))).rejects.toThrow(WriterLost);
  await discardResumableUpload(database, upload.id);
  expect(await findResumableUpload(database, upload.id)).toMatchObject({ state: 'done' });
});

test('an upload whose last bytes are apart from its parts still takes a piece, which completes it', async () => {
  const upload = await held();
  const key = `outputs/${randomUUID()}`;
  await saveProgress(database, upload, [], { ...upTo(2), tail: { key, sizeBytes: 1 } });
  expect(await findResumableUpload(database, upload.id)).toMatchObject({ state: 'open', tailKey: key });
  await saveProgress(database, upload, [], upTo(2));
  expect(await findResumableUpload(database, upload.id)).toMatchObject({ state: 'whole', tailKey: null });
});

test('an upload whose parts the store has lost is given up, so that its caller begins anew', async () => {
  const upload = await held();
  await saveProgress(database, upload, [], upTo(2));
  const gone = Object.assign(new Error('gone'), { name: 'NoSuchUpload', $metadata: { httpStatusCode: 404 } });
  const client = { send: () => Promise.reject(gone) };
  const objects = { of: () => ({ multipart: (key: string) => ({ client, bucket: 'b', key }) }) };
  const stores = { database, objects: objects as unknown as ObjectStores };
  const whole = (await findResumableUpload(database, upload.id))!;
  await expect(assembleUpload(stores, whole)).rejects.toThrow(UploadLost);
  expect(await findResumableUpload(database, upload.id)).toBeUndefined();
});

test('an upload that goes on expires a day after its newest byte', async () => {
  const upload = await held();
  await saveProgress(database, upload, [], upTo(1));
  const [left] = await database.query<{ expires: number; swept: number }>(
    `select extract(epoch from expires_at - clock_timestamp())::float8 as expires,
            extract(epoch from sweep_at - clock_timestamp())::float8 as swept from resumable_upload where id = $1`,
    [upload.id],
  );
  expect(Math.min(left!.expires, left!.swept)).toBeGreaterThan(86_000);
});

describe('an upload whose caller does not return', () => {
  const seen = `update resumable_upload set writer_seen_at = clock_timestamp()`;
  test.each([
    ['is finished by a worker when all its bytes are stored', { bytes: 2, meanwhile: [] }, true],
    ['is left to its caller while bytes are to come', { bytes: 1, meanwhile: [] }, false],
    ['is left to its writer while that lives', { bytes: 2, meanwhile: [seen] }, false],
    [
      'waits while its session is frozen',
      { bytes: 2, meanwhile: ['update session set frozen_at = clock_timestamp()'] },
      false,
    ],
    [
      'is left to the sweeper when it has expired',
      { bytes: 2, meanwhile: ['update resumable_upload set expires_at = clock_timestamp()'] },
      false,
    ],
    ['is finished by a worker when it has no bytes', { bytes: 0, meanwhile: [] }, true],
  ])('%s', async (_name, { bytes, meanwhile }, isFinished) => {
    await database.query('delete from resumable_upload');
    const upload = await held(bytes === 0 ? 0 : 2);
    if (bytes > 0) await saveProgress(database, upload, [], upTo(bytes));
    await database.query(`${seen} - interval '11 seconds'`);
    for (const statement of meanwhile) await database.query(statement);
    const [next, another] = [randomUUID(), randomUUID()];
    const found = await acquireForgottenUpload(database, next, 10);
    await database.query('update session set frozen_at = null');
    expect(found?.id).toBe(isFinished ? upload.id : undefined);
    const mustStop = await renewWriters(database, new Map([[upload.writer, upload.id]]));
    expect(mustStop).toEqual(isFinished ? [upload.writer] : []);
    expect(await acquireForgottenUpload(database, another, 10)).toBeUndefined();
  });
});
