/** Inputs, outputs and logs over lines that break, fail or change bytes, and leases whose thread ends. Without a platform. */
import { Readable } from 'node:stream';
import type { Worker } from 'node:worker_threads';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { ApiError, NetworkError } from '../../sdk/index.ts';
import { BackOff } from '../../sdk/src/calls/back-off.ts';
import type { InputOpening, TaskCalls } from '../../sdk/src/calls/task-calls.ts';
import { readResumed } from '../../sdk/src/inputs/resumed-read.ts';
import { LogSender } from '../../sdk/src/logs/log-sender.ts';
import { LogShare } from '../../sdk/src/logs/log-share.ts';
import { PartMemory, uploadInParts } from '../../sdk/src/outputs/multi-part.ts';
import { PartReader, type Source } from '../../sdk/src/outputs/part-reader.ts';
import { eventually } from '../support/eventually.ts';
import { contractStage } from './support/contract-stage.ts';

const { signal } = new AbortController();

/** An answer with these bytes, and then its end or, where fewer than all came, the end of its connection. */
const answer = (text: string, statusCode = 200, headers: Record<string, string> = {}) =>
  Object.assign(Readable.from(text === '' ? [] : [Buffer.from(text)]), {
    statusCode,
    headers,
    complete: true,
  }) as never;

/** Reads an input of ten bytes from these answers. */
async function read(...answers: readonly unknown[]) {
  const wait = vi.spyOn(BackOff.prototype, 'wait').mockResolvedValue();
  onTestFinished(() => wait.mockRestore());
  const asked: InputOpening[] = [];
  const left = [...answers];
  const calls = {
    signal,
    avoidStore: () => undefined,
    async openInput(_: number, opening: InputOpening) {
      asked.push(opening);
      const next = left.shift();
      if (next instanceof Error) throw next;
      return next;
    },
  };
  const stored = { outputId: 7, sizeBytes: 10, contentEncoding: null };
  const chunks = await readResumed(calls as unknown as TaskCalls, stored)
    .toArray()
    .catch((error: Error) => error.message);
  return {
    text: typeof chunks === 'string' ? chunks : Buffer.concat(chunks).toString(),
    firsts: asked.map(({ isFirst }) => isFirst),
    ranges: asked.map(({ headers }) => [headers.range, headers['if-range']]),
  };
}

const broken = new NetworkError('the connection broke');
/** The first four bytes, and then a break. */
const beginning = (etag: string) =>
  Object.assign(
    Readable.from(
      (async function* () {
        yield Buffer.from('0123');
        throw broken;
      })(),
    ),
    { statusCode: 200, headers: { etag }, complete: false },
  );

describe('a read', () => {
  test.each([
    ['"one"', '"one"', 'the rest'],
    ['W/"one"', undefined, 'the rest'],
    ['"one"', '"one"', 'all bytes again'],
  ])('goes on where it broke: of %s, with If-Range %s and %s', async (etag, ifRange, kind) => {
    const rest = answer('456789', 206, { etag, 'content-range': 'bytes 4-9/10' });
    const whole = answer('0123456789', 200, { etag });
    const got = await read(beginning(etag), broken, kind === 'the rest' ? rest : whole);
    expect(got.text).toBe('0123456789');
    expect(got.ranges).toEqual([
      [undefined, undefined],
      ['bytes=4-', ifRange],
      ['bytes=4-', ifRange],
    ]);
    expect(got.firsts).toEqual([true, false, false]);
  });

  test.each([
    [answer('456789', 206, { etag: '"two"', 'content-range': 'bytes 4-9/10' }), 'changed while it was read'],
    [answer('0123456789', 200, { etag: '"two"' }), 'changed while it was read'],
    [answer('3456789', 206, { etag: '"one"', 'content-range': 'bytes 3-9/10' }), 'one from 3 came'],
    [answer('456789', 206, { etag: '"one"' }), 'one from undefined came'],
    [answer('456789', 206, { etag: '"one"', 'content-encoding': 'gzip' }), 'came as gzip'],
    [answer('45', 206, { etag: '"one"', 'content-range': 'bytes 4-9/10' }), 'came with 6 of 10 bytes'],
  ])('is never put together of bytes that do not belong together: %#', async (rest, said) => {
    expect((await read(beginning('"one"'), rest)).text).toContain(said);
  });
});

/** Sends an output in parts of ten bytes; the first answers of some parts are those of other bytes. */
async function send(
  source: Source,
  upload: object = {},
  wrong = new Map<number, number>(),
  bufferBytes = 40,
) {
  const seen = { parts: new Map<number, number>(), tries: 0, mostBytes: 0, isAborted: false, error: '' };
  let underWayBytes = 0;
  const calls = {
    signal,
    startUpload: async () => ({
      status: 201,
      body: { handle: 'h', minPartBytes: 1, maxPartBytes: 1_000, maxParts: 10_000, ...upload },
    }),
    async writePart(_: string, number: number, bytes: Uint8Array) {
      underWayBytes += bytes.length;
      seen.mostBytes = Math.max(seen.mostBytes, underWayBytes);
      await new Promise(setImmediate);
      underWayBytes -= bytes.length;
      seen.tries += 1;
      seen.parts.set(number, bytes.length);
      const left = wrong.get(number) ?? 0;
      wrong.set(number, left - 1);
      return { part: number, sizeBytes: bytes.length, ...(left > 0 ? { sha256: 'of other bytes' } : {}) };
    },
    completeUpload: async () => ({ status: 201, body: {} }),
    async abortUpload() {
      seen.isAborted = true;
    },
  } as unknown as TaskCalls;
  const memory = new PartMemory(bufferBytes, 10);
  const reader = new PartReader(source, memory.make);
  const limits = { singleBytes: 10, partBytes: 10, bufferBytes };
  const output = { first: [], reader, memory, headers: {}, mayCount: async () => undefined };
  await uploadInParts(calls, limits, output).catch(({ message }: Error) => {
    seen.error = message;
  });
  return seen;
}

describe('an output in parts', () => {
  test('goes out several parts at once, within the memory for them', async () => {
    const { parts, mostBytes } = await send(new Uint8Array(95));
    expect([...parts.values()].sort((a, b) => b - a)).toEqual([...Array(9).fill(10), 5]);
    expect(mostBytes).toBe(40);
    // Room for less than a part: one at a time.
    expect((await send(new Uint8Array(95), {}, new Map(), 5)).mostBytes).toBe(10);
  });

  test('has a part sent again that arrived changed', async () => {
    const { tries, error, isAborted } = await send(new Uint8Array(30), {}, new Map([[2, 2]]));
    expect([tries, error, isAborted]).toEqual([5, '', false]);
  });

  test('leaves no upload open when it cannot be sent', async () => {
    const changed = await send(new Uint8Array(30), {}, new Map([[2, 3]]));
    expect([changed.error, changed.isAborted]).toEqual(['part 2 arrived changed', true]);
    const long = await send(new Uint8Array(30), { maxParts: 2 });
    expect([long.error, long.isAborted]).toEqual(['The output needs more than 2 parts.', true]);
    expect((await send(new Uint8Array(20), { maxParts: 2 })).error).toBe('');
  });

  test('has parts that double every thousand, up to the largest, so that ten thousand hold any output', async () => {
    const { parts } = await send(new Uint8Array(10_000 + 20_000 + 300), { maxPartBytes: 30 });
    const sizes = [...parts].sort(([a], [b]) => a - b).map(([, bytes]) => bytes);
    expect(sizes).toEqual([...Array(1_000).fill(10), ...Array(1_000).fill(20), ...Array(10).fill(30)]);
  });
});

/** Sends each line in a call of its own; the platform answers so. @returns the messages and sequences of the calls */
async function sendOneByOne(messages: readonly string[], answer: (call: number) => object | undefined) {
  const calls: { readonly sequence: number; readonly entries: readonly { readonly message: string }[] }[] =
    [];
  const notified: string[] = [];
  const share = new LogShare();
  const sender = new LogSender({
    share: share.buffer,
    async send(body) {
      const answered = answer(calls.push(JSON.parse(body)));
      if (answered instanceof Error) throw answered;
      return answered;
    },
    onEnd: () => void notified.push('end'),
    onUnknown: () => void notified.push('unknown'),
  });
  const flushed: boolean[] = [];
  for (const message of messages) {
    const line = JSON.stringify({ level: 'info', message });
    share.enter(Buffer.byteLength(line));
    sender.add(line);
    flushed.push(await sender.flush(60_000));
  }
  const sent = calls.map(({ sequence, entries }) => [sequence, ...entries.map(({ message }) => message)]);
  return { sent, notified, flushed, isWaiting: share.isWaiting };
}

const refusal = (status: number, code = 'some_code') => new ApiError({ status, code, message: 'refused' });

test.each([400, 413])(
  'lines that the platform refuses by %i cost no later ones, and are counted',
  async (status) => {
    const { sent, notified, flushed, isWaiting } = await sendOneByOne(['one', 'two'], (call) =>
      call === 1 ? refusal(status) : undefined,
    );
    expect([sent, notified, flushed, isWaiting]).toEqual([
      [
        [1, 'one'],
        [2, '1 lines were dropped before this one.'],
        [3, 'two'],
      ],
      [],
      [true, true],
      false,
    ]);
  },
);

test.each([
  ['the log is full', () => ({ truncated: true }), []],
  ['the task is lost', () => refusal(404, 'task_not_found'), ['end']],
  ['the token is no longer valid', () => refusal(401), ['end']],
  ['the platform has no logs', () => refusal(404, 'not_found'), ['unknown']],
])('no further line is sent when %s', async (_, answer, said) => {
  const { sent, notified, flushed, isWaiting } = await sendOneByOne(['one', 'two'], answer);
  expect([sent, notified, flushed, isWaiting]).toEqual([[[1, 'one']], said, [false, false], false]);
});

/** A runner at its one task, whose thread that renews leases has just ended. */
async function withoutThread(untilEnd = Promise.resolve()) {
  const threads: Worker[] = [];
  const note = (thread: Worker) => void threads.push(thread);
  process.on('worker', note);
  onTestFinished(() => void process.off('worker', note));
  const stage = await contractStage();
  const node = stage.offer('x');
  const goOn = Promise.withResolvers<void>();
  await stage.start({
    async run(task) {
      task.progress({ phase: 'reading' });
      await goOn.promise;
      task.log.info('the last line');
      await untilEnd;
      return 'no-output' as const;
    },
  });
  await eventually('the task is held', () => node.runs[0]?.claims[0] !== undefined);
  await threads[0]?.terminate();
  const ended = async () => {
    goOn.resolve();
    const claim = await stage.ended(node);
    expect(node.runs[0]?.claims).toHaveLength(1);
    return claim.log.flatMap((call) => call.entries.map(({ message }) => message));
  };
  return { threads, stage, ended };
}

test('a task keeps its lease and its log when the thread that renews leases ends', async () => {
  const { threads, stage, ended } = await withoutThread();
  const before = stage.server.journal.of('heartbeat').length;
  await eventually('another thread goes on', () => threads.length === 2);
  await eventually('it renews the lease', () => stage.server.journal.of('heartbeat').length > before);
  expect(await ended()).toEqual(['the last line']);
});

test('a line that is written while another thread that renews leases starts is kept', async () => {
  const { ended } = await withoutThread();
  const starting = Promise.withResolvers<void>();
  process.once('worker', () => starting.resolve());
  await starting.promise;
  expect(await ended()).toEqual(['the last line']);
});

test('lines that no thread can send are counted, and said at the end of the task', async () => {
  const another = Promise.withResolvers<void>();
  const { ended } = await withoutThread(another.promise);
  process.once('worker', () => another.resolve());
  expect(await ended()).toEqual(['1 lines were dropped before this one.']);
});
