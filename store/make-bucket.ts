/** Makes the platform's own bucket when it is not there; for installations whose store is theirs alone. */
import { CreateBucketCommand } from '@aws-sdk/client-s3';
import { readSettings, SettingsError } from '../settings/read.ts';
import { openClient } from './objects/client.ts';
import { ObjectStoreError } from './objects/errors.ts';
import { type ObjectVariables, objectSettings, openObjectStore } from './objects/object-store.ts';
import { platformAccess } from './objects/settings.ts';

/** @throws ObjectStoreError when the store refuses or does not answer */
export async function makeBucket(settings: ObjectVariables): Promise<void> {
  const access = platformAccess(settings);
  const store = openObjectStore(access);
  try {
    await store.probe();
  } catch (error) {
    if (!(error instanceof ObjectStoreError) || error.httpStatus !== 404) throw error;
    const client = openClient(access, { inside: true });
    await client.send(new CreateBucketCommand({ Bucket: access.bucket })).finally(() => client.destroy());
  } finally {
    store.close();
  }
}

if (import.meta.main) {
  try {
    await makeBucket(readSettings({ objects: objectSettings }, process.env).objects);
  } catch (error) {
    console.error(error instanceof SettingsError ? error.message : String(error));
    process.exitCode = 1;
  }
}
