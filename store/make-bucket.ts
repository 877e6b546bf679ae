/** Makes the platform's own bucket when it is not there; for installations whose store is theirs alone. */
import { CreateBucketCommand } from '@aws-sdk/client-s3';
import { readCall } from '../settings/program-call.ts';
import { readSettings, SettingsError } from '../settings/read.ts';
import { openClient } from './objects/client.ts';
import { httpStatusOf, ObjectStoreError } from './objects/errors.ts';
import { type ObjectVariables, objectSettings, openObjectStore } from './objects/object-store.ts';
import { platformAccess } from './objects/settings.ts';

/** @throws SettingsError, with the sentence for the operator, when the store refuses or does not answer */
export async function makeBucket(settings: ObjectVariables): Promise<void> {
  const access = platformAccess(settings);
  const store = openObjectStore(access);
  try {
    await store.probe().catch((error: unknown) => {
      if (!(error instanceof ObjectStoreError) || error.httpStatus !== 404) throw error;
      const client = openClient(access, { inside: true });
      const made = client.send(new CreateBucketCommand({ Bucket: access.bucket }));
      return made.finally(() => client.destroy());
    });
  } catch (error) {
    const { bucket } = access;
    throw new SettingsError([
      `S3_ENDPOINT: the bucket "${bucket}" at ${settings.S3_ENDPOINT} can be neither reached nor made: ${reasonOf(error)}.`,
    ]);
  } finally {
    store.close();
  }
}

function reasonOf(error: unknown): string {
  const cause = error instanceof ObjectStoreError ? error.cause : error;
  const status = httpStatusOf(cause);
  if (status !== null) return `the store answers with status ${status} (${(cause as Error).name})`;
  return cause instanceof Error ? cause.message : String(cause);
}

const usage = `Usage: node store/make-bucket.ts
Makes the bucket of S3_BUCKET where it is missing.`;

if (import.meta.main) {
  readCall(usage, {});
  try {
    await makeBucket(readSettings({ objects: objectSettings }, process.env).objects);
  } catch (error) {
    console.error(error instanceof SettingsError ? error.message : error);
    process.exitCode = 1;
  }
}
