import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CreateBucketCommand, HeadBucketCommand, S3Client } from '@aws-sdk/client-s3';
import { PlainError } from './plain-error.ts';
import { Supervised } from './supervised.ts';

/** Address and credentials of an object store; the bucket is the platform's own. */
export interface ObjectStoreAccess {
  endpoint: string;
  region: string;
  bucket: string;
  /** Empty, like the secret: the process uses the rights that it has without keys. */
  accessKeyId: string;
  secretAccessKey: string;
  /** Default: true. */
  forcePathStyle?: boolean;
}

/** What the object store of a stack is started with. */
export interface ObjectStoreOptions {
  dataDir: string;
  program: string;
  port: number;
  accessKeyId: string;
  secretAccessKey: string;
  log: (line: string) => void;
}

export const DEFAULT_REGION = 'us-east-1';
export const DEFAULT_BUCKET = 'platform';

const READY_MILLISECONDS = 2_000;
const BUCKET_MILLISECONDS = 10_000;

/** Starts the S3 gateway over a plain folder, under supervision. */
export async function startObjectStore(options: ObjectStoreOptions): Promise<Supervised> {
  const objects = join(options.dataDir, 'objects');
  const metadata = metadataFolder(options.dataDir);
  for (const folder of [objects, metadata]) mkdirSync(folder, { recursive: true, mode: 0o700 });
  keepMetadataFolders(options.dataDir, DEFAULT_BUCKET);
  const address = `127.0.0.1:${options.port}`;
  const server = new Supervised({
    name: 'Object store',
    command: options.program,
    args: [
      ...['--port', address, '--region', DEFAULT_REGION, '--health', '/health', '--keep-alive', '--quiet'],
      // Metadata in separate files: some file systems have no extended attributes.
      ...['posix', '--sidecar', metadata, objects],
    ],
    // The keys are passed by environment, since every user of the machine may read a command line.
    env: {
      PATH: process.env.PATH ?? '',
      HOME: join(options.dataDir, 'run'),
      ROOT_ACCESS_KEY: options.accessKeyId,
      ROOT_SECRET_KEY: options.secretAccessKey,
    },
    programName: 'versitygw',
    mark: objects,
    logFile: join(options.dataDir, 'logs', 'object-store.log'),
    pidFile: join(options.dataDir, 'run', 'object-store.pid'),
    stopSignal: 'SIGTERM',
    stopSeconds: 10,
    readySeconds: 30,
    isReady: async () =>
      (await fetch(`http://${address}/health`, { signal: AbortSignal.timeout(READY_MILLISECONDS) })).ok,
    log: options.log,
  });
  await server.start();
  return server;
}

const metadataFolder = (dataDir: string) => join(dataDir, 'object-metadata');

/**
 * Puts a file into the folders in which the gateway keeps metadata of a bucket's objects. The gateway removes such a
 * folder with its last object; a request that is about to write into it then fails with an internal error.
 */
export function keepMetadataFolders(dataDir: string, bucket: string): void {
  for (const inBucket of ['outputs', '.sgwtmp/multipart']) {
    const folder = join(metadataFolder(dataDir), bucket, inBucket);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    writeFileSync(join(folder, 'keep'), '');
  }
}

/** Makes the platform's bucket when it is not there. Throws PlainError when the store refuses or does not answer. */
export async function ensureBucket(access: ObjectStoreAccess): Promise<void> {
  const client = new S3Client({
    endpoint: access.endpoint,
    region: access.region,
    forcePathStyle: access.forcePathStyle ?? true,
    ...(access.accessKeyId === ''
      ? {}
      : { credentials: { accessKeyId: access.accessKeyId, secretAccessKey: access.secretAccessKey } }),
  });
  const options = { abortSignal: AbortSignal.timeout(BUCKET_MILLISECONDS) };
  try {
    if (await hasBucket(client, access.bucket, options)) return;
    await client.send(new CreateBucketCommand({ Bucket: access.bucket }), options);
  } catch (error) {
    const { name, message } = error as Error;
    if (name === 'BucketAlreadyOwnedByYou') return;
    throw new PlainError(
      `The bucket "${access.bucket}" at ${access.endpoint} can be neither reached nor created: ${name}: ${message}`,
    );
  } finally {
    client.destroy();
  }
}

async function hasBucket(
  client: S3Client,
  bucket: string,
  options: { abortSignal: AbortSignal },
): Promise<boolean> {
  try {
    await client.send(new HeadBucketCommand({ Bucket: bucket }), options);
    return true;
  } catch (error) {
    if ((error as { $metadata?: { httpStatusCode?: number } }).$metadata?.httpStatusCode === 404)
      return false;
    throw error;
  }
}
