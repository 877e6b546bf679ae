/** Where the embedded object store keeps the metadata of objects. */
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  PutObjectCommand,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { expect, onTestFinished, test } from 'vitest';
import { ensureBucket } from '../../local/bucket.ts';
import {
  DEFAULT_BUCKET as Bucket,
  DEFAULT_REGION,
  keepMetadataFolders,
  startObjectStore,
} from '../../local/object-store.ts';
import { freePort } from '../../local/ports.ts';
import { findPrograms } from '../../local/programs.ts';
import { s3Client } from '../support/bucket.ts';

const isRoot = process.getuid?.() === 0;
const { versitygw } = await findPrograms({ postgres: true, temporal: true, objectStore: false });
const keys = { accessKeyId: 'key-of-the-store', secretAccessKey: 'secret-of-the-store' };

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'sdp-store-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A store over the folder, with its bucket, until the end of the test. */
async function start(dataDir: string) {
  for (const folder of ['logs', 'run']) mkdirSync(join(dataDir, folder), { recursive: true });
  const port = await freePort();
  const options = { dataDir, program: versitygw!, port, log: () => undefined, ...keys };
  const server = await startObjectStore(options);
  onTestFinished(() => server.stop());
  const access = { endpoint: `http://127.0.0.1:${port}`, region: DEFAULT_REGION, bucket: Bucket, ...keys };
  await ensureBucket(access);
  const s3 = s3Client({
    S3_ENDPOINT: access.endpoint,
    S3_REGION: access.region,
    S3_ACCESS_KEY_ID: keys.accessKeyId,
    S3_SECRET_ACCESS_KEY: keys.secretAccessKey,
  });
  onTestFinished(() => s3.destroy());
  return {
    stop: () => server.stop(),
    put: (Key: string, Body: string) => s3.send(new PutObjectCommand({ Bucket, Key, Body })),
    async putInParts(Key: string, body: string) {
      const { UploadId } = await s3.send(new CreateMultipartUploadCommand({ Bucket, Key }));
      const part = { Bucket, Key, UploadId, PartNumber: 1 };
      const { ETag } = await s3.send(new UploadPartCommand({ ...part, Body: body }));
      const MultipartUpload = { Parts: [{ PartNumber: 1, ETag }] };
      await s3.send(new CompleteMultipartUploadCommand({ Bucket, Key, UploadId, MultipartUpload }));
    },
    async read(Key: string, Range?: string) {
      const { Body } = await s3.send(new GetObjectCommand({ Bucket, Key, Range }));
      return await Body?.transformToString();
    },
    delete: (Key: string) => s3.send(new DeleteObjectCommand({ Bucket, Key })),
  };
}

const metadataOf = (dataDir: string) => join(dataDir, 'object-metadata');

test('every object is read from a copy of the data folder that has lost the extended attributes', async () => {
  const dataDir = newFolder();
  const store = await start(dataDir);
  expect(existsSync(metadataOf(dataDir))).toBe(false);
  await store.put('outputs/whole', 'bytes sent whole');
  await store.putInParts('outputs/parts', 'bytes sent in parts');
  await store.stop();

  const copied = newFolder();
  // As `cp -r`, and most archives.
  cpSync(join(dataDir, 'objects'), join(copied, 'objects'), { recursive: true });
  const copy = await start(copied);
  expect(await copy.read('outputs/whole')).toBe('bytes sent whole');
  expect(await copy.read('outputs/parts')).toBe('bytes sent in parts');
  expect(await copy.read('outputs/parts', 'bytes=6-9')).toBe('sent');
  await copy.put('outputs/whole', 'others');
  expect(await copy.read('outputs/whole')).toBe('others');
  await copy.delete('outputs/parts');
  await expect(copy.read('outputs/parts')).rejects.toThrow('The specified key does not exist.');
});

test('a data folder that began with metadata in separate files keeps them, and their folder beyond its last object', async () => {
  const dataDir = newFolder();
  mkdirSync(metadataOf(dataDir));
  keepMetadataFolders(dataDir, Bucket);
  const store = await start(dataDir);
  await store.put('outputs/kept', 'bytes');
  expect(existsSync(join(metadataOf(dataDir), Bucket, 'outputs/kept/meta/etag'))).toBe(true);
  await store.delete('outputs/kept');
  // Without the folder a request that is about to write into it would fail.
  expect(existsSync(join(metadataOf(dataDir), Bucket, 'outputs'))).toBe(true);
});

test.runIf(isRoot && process.platform === 'linux')(
  'a file system without extended attributes gets metadata in separate files',
  async () => {
    const dataDir = newFolder();
    execFileSync('mount', ['-t', 'ramfs', 'none', dataDir]);
    onTestFinished(() => void execFileSync('umount', ['--lazy', dataDir]));
    const store = await start(dataDir);
    await store.put('outputs/kept', 'bytes');
    expect(await store.read('outputs/kept')).toBe('bytes');
    expect(existsSync(join(metadataOf(dataDir), Bucket, 'outputs/kept/meta/etag'))).toBe(true);
  },
);
