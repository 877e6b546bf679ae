/**
 * Resumable uploads: bytes sent over a line that breaks, speed against plain uploads, memory of the API with many.
 *
 *   node test/bench/resumable.bench.ts [--mebibytes 1024] [--broken 2048] [--line 20] [--break-seconds 5] [--rounds 3]
 *     [--uploads 200]
 *
 * `line`: MiB a second of the line that breaks. Prints medians; never fails a build.
 */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { type AddressInfo, connect, createServer } from 'node:net';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { openGate } from '../support/network/gate.ts';
import { type Finding, quantile, report } from './support/figures.ts';
import { forgetPeak, memoryMebibytes } from './support/memory.ts';
import { importTemplate } from './support/outside-runner.ts';
import { startBenchPlatform } from './support/platform.ts';
import { createSession } from './support/sessions.ts';
import { storeUploads } from './support/store-upload.ts';

const option = (initial: string) => ({ type: 'string', default: initial }) as const;
const { values } = parseArgs({
  options: {
    mebibytes: option('1024'),
    broken: option('2048'),
    line: option('20'),
    'break-seconds': option('5'),
    rounds: option('3'),
    uploads: option('200'),
  },
});
type Way = 'plain' | 'resumable' | 'storeWhole' | 'storeParts';
type Aim = Finding['aim'];
const mebibyte = 1024 * 1024;
const piece = randomBytes(mebibyte);

function source(from: number, to: number): Readable {
  let at = from;
  return new Readable({
    read() {
      const end = Math.min(to, at + 64 * 1024, at - (at % mebibyte) + mebibyte);
      this.push(at >= to ? null : piece.subarray(at % mebibyte, (at % mebibyte) + end - at));
      at = end;
    },
  });
}

const platform = await startBenchPlatform();
const base = `http://127.0.0.1:${platform.port}`;
/** Behind the line: what arrives here was sent over it, and not only handed to the sender's own buffers. */
let carriedBytes = 0;
const counter = createServer((inside) => {
  const onward = connect(platform.port, '127.0.0.1');
  inside.on('data', (chunk) => {
    carriedBytes += chunk.length;
  });
  inside.pipe(onward).pipe(inside);
  for (const [one, other] of [
    [inside, onward],
    [onward, inside],
  ] as const)
    one.on('error', () => other.destroy()).on('close', () => other.destroy());
}).listen(0, '127.0.0.1');
await once(counter, 'listening');
const gate = await openGate(`http://127.0.0.1:${(counter.address() as AddressInfo).port}`);
const template = await importTemplate(platform.client, 'resumable', 0, 0);
const { inputId } = await createSession(platform.client, template, 'input');
const authorization = `Bearer ${platform.token}`;
const tus = { authorization, 'tus-resumable': '1.0.0' };
const uploads = `/api/v2/node-instance/${inputId}/uploads`;

function open(method: string, url: string, headers: Record<string, string>): ClientRequest {
  return request(url, { method, headers, agent: false });
}

async function answered(sent: ClientRequest): Promise<IncomingMessage> {
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  response.resume();
  if ((response.statusCode ?? 500) >= 300) throw new Error(`${response.statusCode}`);
  return response;
}

async function begun(sizeBytes: number): Promise<string> {
  const { headers } = await answered(
    open('POST', base + uploads, { ...tus, 'upload-length': String(sizeBytes) }).end(),
  );
  return headers.location!;
}

function pieceTo(url: string, from: number, to: number): ClientRequest {
  const type = { 'content-type': 'application/offset+octet-stream', 'content-length': String(to - from) };
  return open('PATCH', url, { ...tus, ...type, 'upload-offset': String(from) });
}

/** @returns the bytes that went over the line, and in how many tries */
async function overBrokenLine(sizeBytes: number): Promise<{ sentBytes: number; tries: number }> {
  let tries = 0;
  const location = await begun(sizeBytes);
  const line = { kind: 'slow', latencyMs: [0, 1], bytesPerSecond: Number(values.line) * mebibyte } as const;
  carriedBytes = 0;
  for (let offset = 0; offset < sizeBytes; tries++) {
    gate.set(line);
    const breaks = setTimeout(() => gate.set({ kind: 'shut' }), Number(values['break-seconds']) * 1000);
    const sent = pieceTo(gate.url + location, offset, sizeBytes);
    source(offset, sizeBytes).pipe(sent);
    await answered(sent).catch(() => undefined);
    clearTimeout(breaks);
    sent.destroy();
    const state = await answered(open('HEAD', base + location, tus).end()).catch(() => undefined);
    offset = Number(state?.headers['upload-offset'] ?? offset);
  }
  return { sentBytes: carriedBytes, tries };
}

async function rateOf(work: () => Promise<unknown>, sizeBytes: number): Promise<number> {
  const startedAtMs = performance.now();
  await work();
  return sizeBytes / mebibyte / ((performance.now() - startedAtMs) / 1000);
}

/** In turns, so that other load of the machine affects all: plain and resumable, by the platform and by its store alone. */
async function compareSpeed(sizeBytes: number): Promise<void> {
  const store = storeUploads(platform.stack.environment, source);
  const length = { 'content-length': String(sizeBytes) };
  const whole = () =>
    answered(
      source(0, sizeBytes).pipe(
        open('POST', `${base}/api/v2/node-instance/${inputId}/outputs/data`, { authorization, ...length }),
      ),
    );
  const pieces = async () => {
    const location = await begun(sizeBytes);
    await answered(source(0, sizeBytes).pipe(pieceTo(base + location, 0, sizeBytes)));
  };
  const rates = { plain: [], resumable: [], storeWhole: [], storeParts: [] } as Record<Way, number[]>;
  for (let round = 0; round < Number(values.rounds); round++) {
    rates.plain.push(await rateOf(whole, sizeBytes));
    rates.resumable.push(await rateOf(pieces, sizeBytes));
    rates.storeWhole.push(await rateOf(() => store.whole(sizeBytes), sizeBytes));
    rates.storeParts.push(await rateOf(() => store.inParts(sizeBytes), sizeBytes));
    await store.remove();
  }
  store.close();
  const figure = (name: string, values: number[], floor: { name: string; values: number[] }, aim?: Aim) => {
    report({ name: `${name} of ${sizeBytes / mebibyte} MiB`, unit: 'MiB/s', values, floor, aim });
    const [one, other] = [quantile(values, 0.5), quantile(floor.values, 0.5)];
    const ratio = (one / other).toFixed(2);
    console.log(`${name} ${one.toFixed(0)} MiB/s, ${floor.name} ${other.toFixed(0)} MiB/s: ${ratio}`);
  };
  const parts = { name: 'parts straight at the store', values: rates.storeParts };
  const least = { of: 'ratio', least: 0.9 } as const;
  figure('resumable upload', rates.resumable, { name: 'plain', values: rates.plain }, least);
  figure('resumable upload, against the store', rates.resumable, parts);
  figure('parts straight at the store', rates.storeParts, { name: 'whole', values: rates.storeWhole });
}

/** Peak memory of the API while many uploads hold some bytes of a part each. */
async function manyUnderWay(count: number): Promise<number> {
  const pid = platform.pid('api');
  console.log(`API before: ${memoryMebibytes(pid, 'VmRSS')} MiB`);
  forgetPeak(pid);
  const held = await Promise.all(
    Array.from({ length: count }, async () => {
      const sent = pieceTo(base + (await begun(20 * mebibyte)), 0, 20 * mebibyte);
      sent.on('error', () => undefined);
      for (let at = 0; at < 3; at++) if (!sent.write(piece)) await once(sent, 'drain');
      return sent;
    }),
  );
  await sleep(2_000);
  const peak = memoryMebibytes(pid, 'VmHWM');
  for (const sent of held) sent.destroy();
  return peak;
}

try {
  const brokenBytes = Number(values.broken) * mebibyte;
  const { sentBytes, tries } = await overBrokenLine(brokenBytes);
  const share = sentBytes / brokenBytes;
  const line = `a line of ${values.line} MiB/s that breaks every ${values['break-seconds']} s`;
  report({
    name: `bytes sent for each byte of ${values.broken} MiB over ${line}`,
    unit: 'times',
    values: [share],
    aim: { of: 'worst', most: 1.05 },
  });
  console.log(`${line}: ${share.toFixed(3)} bytes sent for each byte, in ${tries} pieces`);
  await compareSpeed(Number(values.mebibytes) * mebibyte);
  const count = Number(values.uploads);
  const peak = await manyUnderWay(count);
  report({
    name: `memory of the API, ${count} resumable uploads under way`,
    unit: 'MiB',
    values: [peak],
    aim: { of: 'worst', most: 300 },
  });
  console.log(`${count} resumable uploads under way: API memory at the most ${peak} MiB`);
} finally {
  await gate.close();
  counter.close();
  await platform.stop();
}
