/** A platform for one fault, with its own database, bucket and queue, so that faults can happen side by side. */
import { paginateListObjectsV2 } from '@aws-sdk/client-s3';
import { afterAll, expect } from 'vitest';
import { Database } from '../../store/connection/database.ts';
import { ensurePlatformDataSource } from '../../store/objects/data-sources.ts';
import { objectSettings } from '../../store/objects/object-store.ts';
import { ObjectStores } from '../../store/objects/object-stores.ts';
import { sweepAbandonedObjects } from '../../store/objects/pending-objects.ts';
import { sweepResumableUploads } from '../../store/uploads/sweep-resumable-uploads.ts';
import { RecordingClient } from '../activities/recording-session.ts';
import { startTestApi, type TestApi } from '../support/api.ts';
import { s3Client } from '../support/bucket.ts';
import { type TestProcesses, testProcesses } from '../support/processes.ts';
import { type TestEnvironment, type TestEnvironmentOptions, testEnvironment } from '../support/stack.ts';
import { ship } from '../support/templates.ts';
import { type TestWorkflows, testWorkflows } from '../support/workflows.ts';

export interface FaultWorld {
  readonly platform: TestEnvironment;
  readonly temporal: TestWorkflows;
  readonly processes: TestProcesses;
  /** A connection of the test's own. */
  readonly database: Database;
  /** An API in the test's process. */
  readonly api: TestApi;
  /** Its administrator. */
  readonly client: RecordingClient;
}

/** Call it at the top of a test file; everything ends after the file's last test. */
export async function faultWorld(options: TestEnvironmentOptions = {}): Promise<FaultWorld> {
  const platform = await testEnvironment(options);
  const temporal = await testWorkflows(platform.environment);
  const processes = testProcesses(platform.environment);
  const database = await Database.open({ databaseUrl: platform.databaseUrl, poolSize: 4 });
  const api = await startTestApi({ ...platform.environment, DATABASE_POOL_SIZE: '8' });
  afterAll(async () => {
    await api.stop();
    await database.close();
  });
  await ship(database);
  await ensurePlatformDataSource(database, api.composed.services.objects.platformAccess);
  const client = await RecordingClient.signIn(api.url, platform.administrator);
  return { platform, temporal, processes, database, api, client };
}

/** After a sweep the bucket holds only objects to which outputs refer. Nothing may be running. */
export async function expectOnlyReferredObjects(
  platform: TestEnvironment,
  database: Database,
): Promise<void> {
  const stores = new ObjectStores(objectSettings.parse(platform.environment));
  const s3 = s3Client(platform.environment);
  try {
    const swept = await sweepAbandonedObjects(database, stores, { olderThanSeconds: 0 });
    expect(swept.failed).toBe(0);
    const stored: Array<string | undefined> = [];
    for await (const page of paginateListObjectsV2({ client: s3 }, { Bucket: platform.s3.bucket }))
      stored.push(...(page.Contents ?? []).map(({ Key }) => Key));
    const referred = await database.query<{ key: string }>(
      'select object_key as key from node_output union select object_key from node_output_superseded',
    );
    expect(stored.sort()).toEqual(referred.map(({ key }) => key).sort());
  } finally {
    stores.close();
    s3.destroy();
  }
}

/** The same after all resumable uploads have expired and are swept. */
export async function expectOnlyReferredAfterSweep(
  platform: TestEnvironment,
  database: Database,
  stores: ObjectStores,
): Promise<void> {
  await database.query(
    'update resumable_upload set expires_at = clock_timestamp(), sweep_at = clock_timestamp()',
  );
  while ((await sweepResumableUploads(database, stores)) > 0);
  await database.query(`update pending_object set heartbeat_at = '-infinity'`);
  await expectOnlyReferredObjects(platform, database);
}
