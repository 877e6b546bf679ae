import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
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

/** Starts the S3 gateway over a plain folder, under supervision. */
export async function startObjectStore(options: ObjectStoreOptions): Promise<Supervised> {
  const objects = objectsFolder(options.dataDir);
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

const objectsFolder = (dataDir: string) => join(dataDir, 'objects');
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

/** Whether the store of this folder has the bucket: each is a folder. */
export const hasBucketFolder = (dataDir: string, bucket: string) =>
  existsSync(join(objectsFolder(dataDir), bucket));
