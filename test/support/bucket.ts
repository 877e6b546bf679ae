import {
  AbortMultipartUploadCommand,
  CreateBucketCommand,
  DeleteBucketCommand,
  DeleteObjectCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  S3Client,
} from '@aws-sdk/client-s3';

/** A client of the object store that the environment names. */
export function s3Client(environment: Record<string, string>): S3Client {
  return new S3Client({
    endpoint: environment.S3_ENDPOINT ?? '',
    region: environment.S3_REGION ?? '',
    forcePathStyle: true,
    credentials: {
      accessKeyId: environment.S3_ACCESS_KEY_ID ?? '',
      secretAccessKey: environment.S3_SECRET_ACCESS_KEY ?? '',
    },
  });
}

/** Makes the bucket. */
export async function makeBucket(environment: Record<string, string>, bucket: string): Promise<void> {
  const client = s3Client(environment);
  await client.send(new CreateBucketCommand({ Bucket: bucket }));
  client.destroy();
}

/** Removes a bucket that tests made, with its objects. */
export async function removeBucket(environment: Record<string, string>, bucket: string): Promise<void> {
  const client = s3Client(environment);
  const uploads = await client.send(new ListMultipartUploadsCommand({ Bucket: bucket }));
  for (const { Key, UploadId } of uploads.Uploads ?? [])
    await client.send(new AbortMultipartUploadCommand({ Bucket: bucket, Key, UploadId }));
  for (;;) {
    const page = await client.send(new ListObjectsV2Command({ Bucket: bucket }));
    if ((page.Contents ?? []).length === 0) break;
    for (const { Key } of page.Contents ?? [])
      await client.send(new DeleteObjectCommand({ Bucket: bucket, Key }));
  }
  await client.send(new DeleteBucketCommand({ Bucket: bucket }));
  client.destroy();
}
