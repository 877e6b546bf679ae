import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ChildStartError, Supervised } from './supervised.ts';

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

/**
 * Starts the S3 gateway over a plain folder, under supervision. It keeps the metadata of objects in extended attributes.
 * Separate files cost two folders and three files for each object, several times the processor time of its bytes; they
 * remain for data folders that began with them, and where the file system has no attributes.
 */
export async function startObjectStore(options: ObjectStoreOptions): Promise<Supervised> {
  mkdirSync(objectsFolder(options.dataDir), { recursive: true, mode: 0o700 });
  try {
    return await startGateway(options);
  } catch (error) {
    const hasNoAttributes = error instanceof ChildStartError && /xattr check failed/.test(error.logTail);
    if (!hasNoAttributes || hasMetadataFolder(options.dataDir)) throw error;
  }
  mkdirSync(metadataFolder(options.dataDir), { mode: 0o700 });
  return await startGateway(options);
}

async function startGateway({
  dataDir,
  port,
  program,
  log,
  ...keys
}: ObjectStoreOptions): Promise<Supervised> {
  const objects = objectsFolder(dataDir);
  keepMetadataFolders(dataDir, DEFAULT_BUCKET);
  const address = `127.0.0.1:${port}`;
  const server = new Supervised({
    name: 'Object store',
    command: program,
    args: [
      ...['--port', address, '--region', DEFAULT_REGION, '--health', '/health', '--keep-alive', '--quiet'],
      'posix',
      ...(hasMetadataFolder(dataDir) ? ['--sidecar', metadataFolder(dataDir)] : []),
      objects,
    ],
    // The keys are passed by environment, since every user of the machine may read a command line.
    env: {
      PATH: process.env.PATH ?? '',
      HOME: join(dataDir, 'run'),
      ROOT_ACCESS_KEY: keys.accessKeyId,
      ROOT_SECRET_KEY: keys.secretAccessKey,
    },
    programName: 'versitygw',
    mark: objects,
    logFile: join(dataDir, 'logs', 'object-store.log'),
    pidFile: join(dataDir, 'run', 'object-store.pid'),
    stopSignal: 'SIGTERM',
    stopSeconds: 10,
    readySeconds: 30,
    isReady: async () =>
      (await fetch(`http://${address}/health`, { signal: AbortSignal.timeout(READY_MILLISECONDS) })).ok,
    log,
  });
  await server.start();
  return server;
}

const objectsFolder = (dataDir: string) => join(dataDir, 'objects');
const metadataFolder = (dataDir: string) => join(dataDir, 'object-metadata');
const hasMetadataFolder = (dataDir: string) => existsSync(metadataFolder(dataDir));

/**
 * Where metadata are separate files: puts a file into the folders in which the gateway keeps those of a bucket's objects.
 * The gateway removes such a folder with its last object; a request that is about to write into it then fails with an
 * internal error.
 */
export function keepMetadataFolders(dataDir: string, bucket: string): void {
  if (!hasMetadataFolder(dataDir)) return;
  for (const inBucket of ['outputs', '.sgwtmp/multipart']) {
    const folder = join(metadataFolder(dataDir), bucket, inBucket);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    writeFileSync(join(folder, 'keep'), '');
  }
}

/** Whether the store of this folder has the bucket: each is a folder. */
export const hasBucketFolder = (dataDir: string, bucket: string) =>
  existsSync(join(objectsFolder(dataDir), bucket));
