/** The platform's bucket. Loaded when it may be missing: the client is a fifth of the memory of `npm start` itself. */
import { CreateBucketCommand, HeadBucketCommand, S3Client } from '@aws-sdk/client-s3';
import type { ObjectStoreAccess } from './object-store.ts';
import { PlainError } from './plain-error.ts';

/** The store has answered its health check before; a busy machine may still need long for the first bucket. */
const BUCKET_MILLISECONDS = 60_000;

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
