/** Rules of the kit that need no platform. */
import fc from 'fast-check';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { readRetryAfter } from '../../client/errors.ts';
import { ApiError, defineRunner, SettingsError, TaskCancelled, TaskFailure } from '../../sdk/index.ts';
import { BackOff, isOutage, isTransient } from '../../sdk/src/calls/back-off.ts';
import { PlatformTaskCalls } from '../../sdk/src/calls/task-calls.ts';
import { outputHeaders } from '../../sdk/src/outputs/output-headers.ts';
import { PartReader } from '../../sdk/src/outputs/part-reader.ts';
import { readSettings } from '../../sdk/src/runner/options.ts';
import { reportOfError, reportOfResult } from '../../sdk/src/task/outcome.ts';
import { clip } from '../../sdk/src/text.ts';

const refusal = (status: number, code = 'some_code', retryAfterMs: number | null = null) =>
  new ApiError({ status, code, message: 'refused', retryAfterMs });

test.each([null, undefined, 5, { a: 1 }])('an output that is %j is refused with what it may be', (source) => {
  const read = () => new PartReader(source as never, (size) => new Uint8Array(size));
  expect(read).toThrow('An output is a string, bytes, or a stream of them.');
});

test('parts hold exactly the bytes of their source, all of one size but the last', async () => {
  const chunks = fc.array(
    fc.oneof(fc.uint8Array({ maxLength: 50 }), fc.string({ maxLength: 20, unit: 'binary' })),
  );
  await fc.assert(
    fc.asyncProperty(chunks, fc.integer({ min: 1, max: 40 }), async (source, partBytes) => {
      const reader = new PartReader(source, (size) => new Uint8Array(size));
      const parts: Uint8Array[] = [];
      for (let isLast = false; !isLast; ) {
        const part = await reader.read(partBytes);
        parts.push(part.bytes);
        isLast = part.isLast;
      }
      expect(parts.slice(0, -1).every(({ length }) => length === partBytes)).toBe(true);
      const whole = Buffer.concat(source.map((chunk) => Buffer.from(chunk as string)));
      expect(Buffer.concat(parts).equals(whole)).toBe(true);
      if (whole.length > 0) expect(parts.at(-1)!.length).toBeGreaterThan(0);
    }),
  );
});

test('text is cut to what the platform stores, and is whole Unicode whatever it was', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.integer({ min: 1, max: 30 }), (text, most) => {
      const clipped = clip(`${text}\u0000\ud800`, most);
      expect(clipped.length).toBeLessThanOrEqual(most);
      expect(clipped.isWellFormed()).toBe(true);
      expect(clipped).not.toContain('\u0000');
    }),
  );
});

describe('waiting', () => {
  test('grows up to its bound, never beyond it, and never below what the server asked for', () => {
    const backOff = new BackOff(5_000);
    const waits = Array.from({ length: 30 }, () => backOff.nextMs(refusal(503)));
    expect(waits[0]).toBeLessThanOrEqual(200);
    expect(Math.max(...waits)).toBeLessThanOrEqual(5_000);
    expect(waits.at(-1)).toBeGreaterThanOrEqual(2_500);
    expect(backOff.nextMs(refusal(503, '', 20_000))).toBe(20_000);
    expect(backOff.nextMs(refusal(503, '', 3_600_000))).toBe(60_000);
  });

  test('ends after some server errors in a row, and after no number of outages', () => {
    const backOff = new BackOff(1);
    const tries = (status: number, count: number) =>
      Array.from({ length: count }, () => backOff.isWorthIt(refusal(status)));
    expect(tries(503, 100)).not.toContain(false);
    expect(tries(500, 10)).toEqual([...Array(9).fill(true), false]);
    expect(tries(409, 1)).toEqual([false]);
  });

  test('reads Retry-After in both forms', () => {
    const now = Date.parse('2026-01-01T00:00:00Z');
    expect(readRetryAfter('2', now)).toBe(2_000);
    expect(readRetryAfter('Thu, 01 Jan 2026 00:00:05 GMT', now)).toBe(5_000);
    expect(readRetryAfter('Wed, 31 Dec 2025 00:00:05 GMT', now)).toBe(0);
    expect([readRetryAfter('soon', now), readRetryAfter(undefined, now)]).toEqual([null, null]);
  });

  test.each([
    [503, 'unavailable', true, true],
    [429, 'too_many_requests', true, true],
    [404, '', true, true],
    [500, 'internal', true, false],
    [404, 'task_not_found', false, false],
    [409, 'watermark_regression', false, false],
  ])('%i %s: repeated %s, without end %s', (status, code, transient, outage) => {
    expect([isTransient(refusal(status, code)), isOutage(refusal(status, code))]).toEqual([
      transient,
      outage,
    ]);
  });
});

describe('what is reported', () => {
  test.each([
    [new TaskFailure('validation', 'no'), undefined, { kind: 'fail', category: 'validation', reason: 'no' }],
    [new TaskFailure('memory', 'no'), 'shutdown', { kind: 'fail', category: 'memory', reason: 'no' }],
    // As another copy of the kit throws it.
    [
      Object.assign(new Error('no'), { name: 'TaskFailure', category: 'timeout' }),
      undefined,
      { category: 'timeout' },
    ],
    [new Error('no'), undefined, { kind: 'fail', category: 'error', reason: 'no' }],
    ['a string', undefined, { kind: 'fail', category: 'error', reason: 'a string' }],
    [new RangeError('Array buffer allocation failed'), undefined, { kind: 'fail', category: 'memory' }],
    [new DOMException('too late', 'TimeoutError'), undefined, { kind: 'fail', category: 'timeout' }],
    [new Error('socket closed'), 'shutdown', { kind: 'release' }],
    [new TaskCancelled('shutdown'), undefined, { kind: 'release' }],
    [new Error('socket closed'), 'cancelled', { kind: 'fail', reason: 'cancelled' }],
    [new Error('socket closed'), 'lease-lost', { kind: 'none' }],
    [new Error('socket closed'), 'unauthorized', { kind: 'none' }],
  ] as const)('of %s when %s', (thrown, why, report) => {
    const cancelled = why === undefined ? undefined : new TaskCancelled(why);
    expect(reportOfError(thrown, cancelled)).toMatchObject(report);
  });

  test('of a result is what the code said, else what the task knows', () => {
    const left = { hasMore: true, state: { a: 1 } };
    expect(reportOfResult(undefined, left)).toMatchObject({ kind: 'complete', outcome: undefined, ...left });
    expect(reportOfResult('suspended', left)).toMatchObject({ outcome: 'suspended', hasMore: true });
    const said = { hasMore: false, state: { a: 2 } };
    expect(reportOfResult({ ...said, statusDetails: 'x' }, left)).toMatchObject({
      ...said,
      statusDetails: 'x',
    });
  });
});

test('outputs that the platform would refuse are refused before a byte is sent', () => {
  expect(() => outputHeaders({}, 'a/b', 'text/plain')).toThrow(RangeError);
  expect(() => outputHeaders({}, 'x'.repeat(101), 'text/plain')).toThrow(RangeError);
  expect(() => outputHeaders({ metadata: { a: 'ä'.repeat(2_048) } }, 'a', 'text/plain')).toThrow(
    /4096 bytes/,
  );
  expect(() => outputHeaders({ metadata: { $a: 1 } }, 'a', 'text/plain')).toThrow(/reserved/);
  for (const sourceKey of ['', ' ', 'a\nb', 'x'.repeat(256)])
    expect(() => outputHeaders({ sourceKey }, 'a', 'text/plain')).toThrow(/source key/);
});

test('a definition that cannot work is refused where it is made', () => {
  const run = () => undefined;
  expect(() => defineRunner({ templates: ['Not A Name'], run })).toThrow(TypeError);
  expect(() => defineRunner({ templates: 'some' as never, run })).toThrow(TypeError);
  expect(() => defineRunner({ templates: ['some'], run: undefined as never })).toThrow(TypeError);
  expect(defineRunner({ templates: ['some'], run, version: '1 β' })).toMatchObject({
    name: 'some',
    version: '1-',
  });
});

describe('settings', () => {
  const runner = defineRunner({ templates: ['some'], run: () => undefined });
  const environment = { SDP_URL: 'http://platform:8080/base/', SDP_RUNNER_TOKEN: ' hrt_x\n' };

  test('come from the environment, and options go first', () => {
    const settings = readSettings(runner, { graceSeconds: 1, concurrency: 2, instanceId: 'me' }, environment);
    expect(settings).toMatchObject({ token: 'hrt_x', graceSeconds: 1, instanceIds: ['me.1', 'me.2'] });
    expect(settings.url.href).toBe('http://platform:8080/base/');
  });

  test('make instance ids that no other start has', () => {
    const ids = [1, 2].map(() => readSettings(runner, {}, environment).instanceIds[0]!);
    expect(new Set(ids).size).toBe(2);
    for (const id of ids) expect(id).toMatch(/^[A-Za-z0-9._:-]{1,128}$/);
  });

  test('that are empty, as a file of a service may have them, count as missing', () => {
    const empty = { SDP_RUNNER_INSTANCE: '', SDP_RUNNER_CONCURRENCY: '', SDP_RUNNER_TEMPLATE_SUFFIX: '' };
    expect(readSettings(runner, {}, { ...environment, ...empty }).instanceIds).toEqual([
      expect.stringMatching(/^some:/),
    ]);
  });

  test.each([
    ['warn', 'warn'],
    ['WARNING', 'warn'],
    ['Debug', 'debug'],
    ['', 'info'],
  ])('take SDP_RUNNER_LOG=%s as the level %s', (text, level) => {
    const printed = vi.spyOn(console, 'error').mockImplementation(() => undefined);
    onTestFinished(() => printed.mockRestore());
    const { log } = readSettings(runner, {}, { ...environment, SDP_RUNNER_LOG: text });
    for (const each of ['debug', 'info', 'warn', 'error'] as const) log(each, 'a line');
    expect(JSON.parse(String(printed.mock.calls[0]))).toMatchObject({ level });
  });

  test.each([
    [{ SDP_URL: 'ftp://platform' }, /SDP_URL/],
    [{ SDP_RUNNER_TOKEN: 'a b' }, /SDP_RUNNER_TOKEN/],
    [{ SDP_RUNNER_CONCURRENCY: '1.5' }, /concurrency/],
    [{ SDP_RUNNER_GRACE_SECONDS: 'long' }, /SDP_RUNNER_GRACE_SECONDS/],
    [{ SDP_RUNNER_WAIT_SECONDS: '61' }, /SDP_RUNNER_WAIT_SECONDS/],
    [{ SDP_RUNNER_INSTANCE: 'a b' }, /SDP_RUNNER_INSTANCE/],
    [{ SDP_RUNNER_TEMPLATE_SUFFIX: 'Petra' }, /SDP_RUNNER_TEMPLATE_SUFFIX/],
  ])('%o are refused by name', (wrong, sentence) => {
    const read = () => readSettings(runner, {}, { ...environment, ...wrong });
    expect(read).toThrow(SettingsError);
    expect(read).toThrow(sentence);
  });
});

test('all calls of a task carry the trace of its claim', () => {
  const { signal: cancel } = new AbortController();
  const ignored = () => undefined;
  const parts = {
    connection: undefined as never,
    instanceId: 'me',
    cancel,
    onEnd: ignored,
    onUnheard: ignored,
  };
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
  const headers = (claim: object) => new PlatformTaskCalls({ ...parts, claim: claim as never }).headers;
  expect(headers({ traceparent })).toEqual({ 'x-platform-runner-instance': 'me', traceparent });
  expect(headers({ traceparent: null })).toEqual({ 'x-platform-runner-instance': 'me' });
});
