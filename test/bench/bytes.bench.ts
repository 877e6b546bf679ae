/**
 * Speed and memory of bytes through the API, against the same client straight at the object store.
 *
 *   node test/bench/bytes.bench.ts [--mebibytes 1024] [--rounds 5] [--uploads 200]
 *
 * Rounds take turns, so that other load of the machine affects
 * both. Prints medians; never fails a build.
 */
import { createHash, createHmac, randomBytes } from 'node:crypto';
import { type IncomingMessage, request } from 'node:http';
import { cpus } from 'node:os';
import { Readable } from 'node:stream';
import { parseArgs } from 'node:util';
import { report } from './support/figures.ts';
import { forgetPeak, memoryMebibytes } from './support/memory.ts';
import { importTemplate } from './support/outside-runner.ts';
import { startBenchPlatform } from './support/platform.ts';
import { createSession } from './support/sessions.ts';

const { values } = parseArgs({
  options: {
    mebibytes: { type: 'string', default: '1024' },
    rounds: { type: 'string', default: '5' },
    uploads: { type: 'string', default: '200' },
  },
});
const mebibyte = 1024 * 1024;
const sizeBytes = Number(values.mebibytes) * mebibyte;
const rounds = Number(values.rounds);
const piece = randomBytes(mebibyte);
const pieceDigest = createHash('sha256');
for (let at = 0; at < sizeBytes; at += mebibyte) pieceDigest.update(piece);
const expectedSha256 = pieceDigest.digest('hex');

/** The same bytes each time, as fast as they are read. */
function source(bytes: number): Readable {
  let at = 0;
  return new Readable({
    highWaterMark: 256 * 1024,
    read() {
      if (at >= bytes) this.push(null);
      else {
        const start = at % mebibyte;
        const end = Math.min(start + 65_536, start + bytes - at, mebibyte);
        at += end - start;
        this.push(piece.subarray(start, end));
      }
    },
  });
}

/** One request of the client that both sides are measured with. */
function call(
  method: string,
  url: string,
  headers: Record<string, string>,
  body?: Readable,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, headers, agent: false }, resolve);
    sent.on('error', reject);
    if (body === undefined) sent.end();
    else body.pipe(sent);
  });
}

async function drain(response: IncomingMessage): Promise<{ bytes: number; text: string }> {
  let bytes = 0;
  let text = '';
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes < 65_536) text += chunk.toString('latin1');
  }
  if ((response.statusCode ?? 500) >= 300) throw new Error(`${response.statusCode}: ${text.slice(0, 500)}`);
  return { bytes, text };
}

/** A signed address of an object (Signature Version 4 in the query), so that the plain client can reach the store. */
function signedUrl(method: string, environment: Record<string, string>, key: string): string {
  const at = new Date().toISOString().replaceAll(/[-:]|\.\d{3}/g, '');
  const day = at.slice(0, 8);
  const url = new URL(`/${environment.S3_BUCKET}/${key}`, environment.S3_ENDPOINT);
  const scope = `${day}/${environment.S3_REGION}/s3/aws4_request`;
  url.search = new URLSearchParams({
    'X-Amz-Algorithm': 'AWS4-HMAC-SHA256',
    'X-Amz-Credential': `${environment.S3_ACCESS_KEY_ID}/${scope}`,
    'X-Amz-Date': at,
    'X-Amz-Expires': '3600',
    'X-Amz-SignedHeaders': 'host',
  }).toString();
  const canonical = [
    method,
    url.pathname,
    url.search.slice(1),
    `host:${url.host}`,
    '',
    'host',
    'UNSIGNED-PAYLOAD',
  ];
  const digest = createHash('sha256').update(canonical.join('\n')).digest('hex');
  let secret: string | Buffer = `AWS4${environment.S3_SECRET_ACCESS_KEY}`;
  for (const part of [day, environment.S3_REGION ?? '', 's3', 'aws4_request'])
    secret = createHmac('sha256', secret).update(part).digest();
  const toSign = ['AWS4-HMAC-SHA256', at, scope, digest].join('\n');
  url.searchParams.set('X-Amz-Signature', createHmac('sha256', secret).update(toSign).digest('hex'));
  return url.href;
}

const median = (numbers: number[]) => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0;
const seconds = async (work: () => Promise<unknown>) => {
  const startedAt = performance.now();
  await work();
  return (performance.now() - startedAt) / 1000;
};

const platform = await startBenchPlatform();
const { environment } = platform.stack;
try {
  const url = `http://127.0.0.1:${platform.port}`;
  const pid = platform.pid('api');
  const template = await importTemplate(platform.client, 'bytes', 0, 0);
  const { inputId } = await createSession(platform.client, template, 'input');
  const authorization = `Bearer ${platform.token}`;
  const uploadUrl = `${url}/api/v2/node-instance/${inputId}/outputs/data`;
  const upload = async (bytes: number, isChunked = false) => {
    const length: Record<string, string> = isChunked ? {} : { 'content-length': String(bytes) };
    const { text } = await drain(await call('POST', uploadUrl, { authorization, ...length }, source(bytes)));
    return JSON.parse(text) as { id: number; sha256: string };
  };
  await upload(1);
  console.log(
    `${cpus().length} x ${cpus()[0]?.model}, Node ${process.version}, ${values.mebibytes} MiB, ${rounds} rounds`,
  );
  console.log(`API at rest: ${memoryMebibytes(pid, 'VmRSS')} MiB`);

  const times: Record<'upStore' | 'upApi' | 'upApiChunked' | 'downStore' | 'downApi' | 'downSent', number[]> =
    {
      upStore: [],
      upApi: [],
      upApiChunked: [],
      downStore: [],
      downApi: [],
      downSent: [],
    };
  const peaks: Record<keyof typeof times, number> = {
    upStore: 0,
    upApi: 0,
    upApiChunked: 0,
    downStore: 0,
    downApi: 0,
    downSent: 0,
  };
  const measure = async (name: keyof typeof times, work: () => Promise<unknown>) => {
    forgetPeak(pid);
    times[name].push(await seconds(work));
    peaks[name] = Math.max(peaks[name], memoryMebibytes(pid, 'VmHWM'));
  };
  const length = { 'content-length': String(sizeBytes) };
  let last = 0;
  for (let round = 0; round < rounds; round += 1) {
    const putUrl = signedUrl('PUT', environment, 'direct');
    await measure('upStore', async () => drain(await call('PUT', putUrl, length, source(sizeBytes))));
    await measure('upApi', async () => {
      const output = await upload(sizeBytes);
      if (output.sha256 !== expectedSha256) throw new Error('The upload was not stored as sent.');
      last = output.id;
    });
    await measure('upApiChunked', () => upload(sizeBytes, true));
    const getUrl = signedUrl('GET', environment, 'direct');
    await measure('downStore', async () => drain(await call('GET', getUrl, {})));
    const dataUrl = `${url}/api/v2/node-instance/outputs/${last}/data`;
    await measure('downApi', async () => drain(await call('GET', dataUrl, { authorization })));
    await measure('downSent', async () => {
      const { headers } = await call('GET', `${dataUrl}?redirect=true`, { authorization });
      // A commit without it answers with the bytes.
      if (headers.location !== undefined) await drain(await call('GET', headers.location, {}));
    });
    const line = Object.entries(times).map(([name, all]) => `${name} ${all.at(-1)?.toFixed(2)} s`);
    console.log(`round ${round + 1}: ${line.join(', ')}`);
  }
  const middle = Object.fromEntries(
    Object.entries(times).map(([name, all]) => [name, median(all)]),
  ) as Record<keyof typeof times, number>;
  const rate = (name: keyof typeof times) => `${(sizeBytes / mebibyte / middle[name]).toFixed(0)} MiB/s`;
  const rates = (name: keyof typeof times) => times[name].map((took) => sizeBytes / mebibyte / took);
  for (const [what, name, floor] of [
    ['upload', 'upApi', 'upStore'],
    ['upload, chunked', 'upApiChunked', 'upStore'],
    ['download', 'downApi', 'downStore'],
    ['download, sent to the store', 'downSent', 'downStore'],
  ] as const) {
    const straight = { name: 'straight at the store', values: rates(floor) };
    report({
      name: `${what} of ${values.mebibytes} MiB`,
      unit: 'MiB/s',
      values: rates(name),
      floor: straight,
    });
    report({ name: `memory of the API meanwhile, ${what}`, unit: 'MiB', values: [peaks[name]] });
  }
  console.log(
    `upload:   store ${rate('upStore')}, API ${rate('upApi')} (${(middle.upStore / middle.upApi).toFixed(2)} of it), API chunked ${rate('upApiChunked')}`,
  );
  console.log(
    `download: store ${rate('downStore')}, API ${rate('downApi')} (${(middle.downStore / middle.downApi).toFixed(2)} of it)`,
  );
  console.log(
    `API memory at the most: upload ${peaks.upApi} MiB, chunked ${peaks.upApiChunked} MiB, download ${peaks.downApi} MiB`,
  );

  const many = Number(values.uploads);
  for (const [bytes, isChunked] of [
    [1, true],
    [4 * mebibyte, true],
    [4 * mebibyte, false],
  ] as [number, boolean][]) {
    const took = await seconds(() =>
      Promise.all(Array.from({ length: many }, () => upload(bytes, isChunked))),
    );
    const what = `${many} uploads at once of ${bytes} bytes, ${isChunked ? 'chunked' : 'declared'}`;
    report({ name: what, unit: 's', values: [took] });
    report({
      name: `memory of the API meanwhile, ${what}`,
      unit: 'MiB',
      values: [memoryMebibytes(pid, 'VmHWM')],
    });
    console.log(
      `${many} uploads at once of ${bytes} bytes, ${isChunked ? 'chunked' : 'declared'}: ${took.toFixed(1)} s, ` +
        `API memory at the most ${memoryMebibytes(pid, 'VmHWM')} MiB`,
    );
  }
} finally {
  await platform.stop();
}
