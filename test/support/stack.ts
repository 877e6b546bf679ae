import { randomBytes } from 'node:crypto';
import { afterAll, inject } from 'vitest';
import { roleAddresses } from '../../local/database-roles.ts';
import { keepMetadataFolders } from '../../local/object-store.ts';
import { type Stack, startStack } from '../../local/stack.ts';
import { makeBucket, removeBucket } from './bucket.ts';
import { workflowCache } from './caches.ts';
import { removeServersFolder, temporaryServersFolder } from './global-setup.ts';
import { ADMINISTRATOR, cloneTemplate, dropClone } from './template.ts';

/** What one test file has for itself on the real servers. */
export interface TestEnvironment {
  /** A database of this file, migrated and empty; the administrator below is in it. As the server's superuser. */
  databaseUrl: string;
  temporalAddress: string;
  /** The task queue of this file's workflows (TEMPORAL_TASK_QUEUE), so that no other file's worker gets its tasks. */
  taskQueue: string;
  s3: { endpoint: string; region: string; bucket: string; accessKeyId: string; secretAccessKey: string };
  administrator: { username: string; password: string };
  /**
   * All of it by the names of the platform's variables for its processes and for `readSettings`. As after `npm start` they
   * work on the database as the application's role and read reports as the report role, so that a missing right shows.
   */
  environment: Record<string, string>;
  /** Handles on the servers, only with `ownStack`. */
  stack: Stack | undefined;
  /** Removes all of it; called by itself after the file's last test. */
  cleanup: () => Promise<void>;
}

/** How much of the servers a file needs for itself. */
export interface TestEnvironmentOptions {
  /**
   * True for tests that kill, stop or wipe servers: they get their own servers (about three seconds), because
   * other files run at the same time on the shared ones.
   */
  ownStack?: boolean;
}

/**
 * Makes a database, a bucket and a task queue name for this test file. Call it once at the top of the file:
 * `const platform = await testEnvironment();`. After the last test everything is removed, and the file fails when
 * it left database connections open.
 */
export async function testEnvironment(options: TestEnvironmentOptions = {}): Promise<TestEnvironment> {
  const own = options.ownStack === true ? await ownStack() : undefined;
  const servers = own?.environment ?? inject('stackEnvironment');
  const isShared = own === undefined && inject('isStackShared');
  const name = `test-${randomBytes(6).toString('hex')}`;
  const [databaseUrl] = await Promise.all([cloneTemplate(servers), makeBucket(servers, name)]);
  keepMetadataFolders(own?.dataDir ?? inject('stackFolder'), name);
  const roles = roleAddresses(databaseUrl);
  const environment: Record<string, string> = {
    ...servers,
    DATABASE_URL: roles.application,
    REPORT_DATABASE_URL: roles.report,
    S3_BUCKET: name,
    TEMPORAL_TASK_QUEUE: name,
    WORKFLOW_CACHE_DIR: workflowCache,
    // Tests start their own stores on this machine.
    DATA_SOURCE_ENDPOINT_ALLOWLIST: '127.0.0.1',
  };
  const cleanup = once(async () => {
    if (own !== undefined) {
      await own.stop();
      await removeServersFolder(own.dataDir);
      return;
    }
    // Servers of this run alone are deleted as a whole at its end.
    if (isShared) await removeBucket(servers, name);
    await dropClone(servers, databaseUrl);
  });
  afterAll(cleanup);
  return {
    databaseUrl,
    temporalAddress: environment.TEMPORAL_ADDRESS ?? '',
    taskQueue: name,
    s3: {
      endpoint: environment.S3_ENDPOINT ?? '',
      region: environment.S3_REGION ?? '',
      bucket: name,
      accessKeyId: environment.S3_ACCESS_KEY_ID ?? '',
      secretAccessKey: environment.S3_SECRET_ACCESS_KEY ?? '',
    },
    administrator: { ...ADMINISTRATOR },
    environment,
    stack: own,
    cleanup,
  };
}

async function ownStack(): Promise<Stack> {
  return await startStack({ dataDir: temporaryServersFolder(), log: () => undefined, temporary: true });
}

function once(work: () => Promise<void>): () => Promise<void> {
  let result: Promise<void> | undefined;
  return () => {
    result ??= work();
    return result;
  };
}
