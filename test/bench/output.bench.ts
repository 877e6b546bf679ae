/**
 * A large output of a runner, by multi-part upload through the kit and the API, against the same bytes in the same parts
 * straight to the object store: throughput, and memory of API and runner. Run: `npm run bench:output`.
 *
 * OUTPUT_MEBIBYTES (default 5,120) and ROUNDS (default 3) by environment. The ways take turns, each in a new process,
 * and what was written is deleted at once, so that twice the size is needed on the disk.
 */
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { DeleteObjectsCommand, paginateListObjectsV2 } from '@aws-sdk/client-s3';
import { s3Client } from '../support/bucket.ts';
import { quantile, report } from './support/figures.ts';
import { forgetPeak, memoryMebibytes } from './support/memory.ts';
import { importTemplate, register, upload } from './support/outside-runner.ts';
import { printMachine, startBenchPlatform } from './support/platform.ts';
import { createSession } from './support/sessions.ts';

const mebibytes = Number(process.env.OUTPUT_MEBIBYTES ?? 5_120);
const rounds = Number(process.env.ROUNDS ?? 3);
const template = 'output-node';

interface Written {
  readonly seconds: number;
  readonly sizeBytes: number;
  readonly peakMebibytes: number;
}

printMachine();
const platform = await startBenchPlatform();
const { client, stack } = platform;
const s3 = s3Client(stack.environment);
try {
  await register(client, template);
  const session = await createSession(client, await importTemplate(client, template, 1, 1), 'input');
  const api = platform.pid('api');
  console.log(`${mebibytes} MiB, ${rounds} rounds; API at rest ${memoryMebibytes(api, 'VmRSS')} MiB`);
  const straight: Written[] = [];
  const kit: Written[] = [];
  const apiPeaks: number[] = [];
  for (let round = 0; round < rounds; round++) {
    straight.push(await write({ WRITER: 'store', ...stack.environment }));
    await deleteObjects();
    await upload(client, session.inputId);
    forgetPeak(api);
    kit.push(await write({ SDP_URL: `http://127.0.0.1:${platform.port}`, SDP_RUNNER_TOKEN: platform.token }));
    apiPeaks.push(memoryMebibytes(api, 'VmHWM'));
    await deleteObjects();
  }
  const rate = (all: readonly Written[]) =>
    mebibytes /
    quantile(
      all.map(({ seconds }) => seconds),
      0.5,
    );
  const worst = (all: readonly Written[]) => Math.max(...all.map(({ peakMebibytes }) => peakMebibytes));
  const rates = (all: readonly Written[]) => all.map(({ seconds }) => mebibytes / seconds);
  report({
    name: `output of ${mebibytes} MiB by kit and API`,
    unit: 'MiB/s',
    values: rates(kit),
    floor: { name: 'straight to the store', values: rates(straight) },
  });
  const peaks = { runner: kit.map(({ peakMebibytes }) => peakMebibytes), API: apiPeaks };
  for (const [process, values] of Object.entries(peaks))
    report({ name: `memory of the ${process} meanwhile`, unit: 'MiB', values });
  console.log(
    `straight to the store: ${rate(straight).toFixed(0)} MiB/s, writer at most ${worst(straight)} MiB`,
  );
  console.log(
    `by kit and API:        ${rate(kit).toFixed(0)} MiB/s (${(rate(kit) / rate(straight)).toFixed(2)} of it), ` +
      `runner at most ${worst(kit)} MiB, API at most ${Math.max(...apiPeaks)} MiB`,
  );
} finally {
  s3.destroy();
  await platform.stop();
}

/** Runs the writer until it has printed its result. */
async function write(environment: Record<string, string>): Promise<Written> {
  const child = spawn(
    process.execPath,
    [fileURLToPath(new URL('./support/output-writer.ts', import.meta.url))],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { SDP_RUNNER_LOG: 'warn', ...environment, OUTPUT_MEBIBYTES: String(mebibytes) },
    },
  );
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  try {
    const written = await new Promise<Written>((resolve, reject) => {
      child.stdout.setEncoding('utf8').once('data', (text: string) => resolve(JSON.parse(text) as Written));
      child.once('exit', () => reject(new Error('The writer ended without a word.')));
    });
    if (written.sizeBytes !== mebibytes * 1024 * 1024)
      throw new Error(`${written.sizeBytes} bytes were written.`);
    return written;
  } finally {
    child.kill('SIGTERM');
    await ended;
  }
}

/** The bench's own store holds nothing that is still needed. */
async function deleteObjects(): Promise<void> {
  const Bucket = stack.environment.S3_BUCKET;
  for await (const { Contents = [] } of paginateListObjectsV2({ client: s3 }, { Bucket })) {
    const Objects = Contents.map(({ Key }) => ({ Key: Key! }));
    if (Objects.length > 0) await s3.send(new DeleteObjectsCommand({ Bucket, Delete: { Objects } }));
  }
}
