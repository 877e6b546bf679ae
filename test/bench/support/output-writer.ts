/**
 * Writes one large output and prints its duration: by the kit as the runner of a task, or (WRITER=store) the same bytes
 * in the same parts straight to the object store.
 */
import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { Upload } from '@aws-sdk/lib-storage';
import { defineRunner, runMain } from '../../../sdk/index.ts';
import { s3Client } from '../../support/bucket.ts';

const mebibyte = 1024 * 1024;
const sizeBytes = Number(process.env.OUTPUT_MEBIBYTES) * mebibyte;
const piece = randomBytes(mebibyte);

function* bytes(): Generator<Buffer> {
  for (let at = 0; at < sizeBytes; at += mebibyte) yield piece;
}

function report(startedAt: number, sent: number): void {
  const seconds = (performance.now() - startedAt) / 1_000;
  const peakMebibytes = Math.round(process.resourceUsage().maxRSS / 1024);
  console.log(JSON.stringify({ seconds, sizeBytes: sent, peakMebibytes }));
}

if (process.env.WRITER === 'store') {
  const environment = process.env as Record<string, string>;
  const client = s3Client(environment);
  const startedAt = performance.now();
  await new Upload({
    client,
    // As the kit does it: 64 MiB of parts on their way.
    partSize: 8 * mebibyte,
    queueSize: 8,
    params: {
      Bucket: environment.S3_BUCKET,
      Key: 'direct',
      Body: Readable.from(bytes(), { objectMode: false }),
    },
  }).done();
  report(startedAt, sizeBytes);
  client.destroy();
} else {
  const runner = defineRunner({
    templates: ['output-node'],
    async run(task) {
      const startedAt = performance.now();
      const output = await task.write(bytes());
      report(startedAt, output.sizeBytes);
    },
  });
  await runMain(runner);
}
