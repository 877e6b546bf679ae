/** An object straight at the store, without the platform: whole, and in parts as a resumable upload has them. */
import type { Readable } from 'node:stream';
import {
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  PutObjectCommand,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { s3Client } from '../../support/bucket.ts';

const partBytes = 8 * 1024 * 1024;
const partsInFlight = 3;

/** @param source the bytes from an offset to another one */
export function storeUploads(
  environment: Record<string, string>,
  source: (from: number, to: number) => Readable,
) {
  const client = s3Client(environment);
  const target = { Bucket: environment.S3_BUCKET ?? '', Key: 'benchmark' };
  const remove = () => client.send(new DeleteObjectCommand(target));

  async function whole(sizeBytes: number): Promise<void> {
    const body = { Body: source(0, sizeBytes), ContentLength: sizeBytes };
    await client.send(new PutObjectCommand({ ...target, ...body }));
  }

  async function inParts(sizeBytes: number): Promise<void> {
    const { UploadId } = await client.send(new CreateMultipartUploadCommand(target));
    const parts: { PartNumber: number; ETag: string | undefined }[] = [];
    let sentBytes = 0;
    const sendNext = async (): Promise<void> => {
      if (sentBytes >= sizeBytes) return;
      const from = sentBytes;
      sentBytes = Math.min(sizeBytes, from + partBytes);
      const PartNumber = from / partBytes + 1;
      const body = { Body: source(from, sentBytes), ContentLength: sentBytes - from };
      const { ETag } = await client.send(new UploadPartCommand({ ...target, UploadId, PartNumber, ...body }));
      parts[PartNumber - 1] = { PartNumber, ETag };
      await sendNext();
    };
    await Promise.all(Array.from({ length: partsInFlight }, sendNext));
    await client.send(
      new CompleteMultipartUploadCommand({ ...target, UploadId, MultipartUpload: { Parts: parts } }),
    );
  }

  return { whole, inParts, remove, close: () => client.destroy() };
}
