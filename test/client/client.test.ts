/** What console, command line and kit share, against real connections and without a platform. */
import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { ApiClient, filled } from '../../client/api-client.ts';
import { BackOff, isTransient, pause } from '../../client/back-off.ts';
import { ApiError, NetworkError, refusalOf } from '../../client/errors.ts';
import { readEvents, type ServerEvent } from '../../client/event-stream.ts';
import { sessionEvents } from '../../client/session-events.ts';

const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

/** The address of a server that answers so. */
async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  stops.push(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const json = (response: ServerResponse, status: number, body: unknown, headers = {}) =>
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));

describe('a call', () => {
  test('goes to the route with its parameters, and leaves out what is undefined', () => {
    const params = { id: 'a/b c' };
    expect(filled('/api/v2/sessions/{id}/events', { params })).toBe('/api/v2/sessions/a%2Fb%20c/events');
    const query = { search: undefined, page: 2, orphans: false, states: 'failed,held' };
    expect(filled('/runs', { query })).toBe('/runs?page=2&orphans=false&states=failed%2Cheld');
    expect(filled('/runs', { query: { search: undefined } })).toBe('/runs');
  });

  test('is repeated once with the renewed token after a 401, and after nothing else', async () => {
    const seen: unknown[] = [];
    const address = await serve(({ headers }, response) => {
      seen.push(headers.authorization);
      if (headers.authorization === 'Bearer new') json(response, 200, [{ id: 7 }]);
      else if (headers.authorization === 'Bearer weak')
        json(response, 403, { message: 'Not with this role.' });
      else json(response, 401, { message: 'A valid bearer token is needed.' });
    });
    let token = 'old';
    const renew = async () => {
      token = 'new';
      return true;
    };
    const renewed = new ApiClient({ address, bearer: { token: () => token, renew } });
    expect(await renewed.call('GET /projects')).toEqual([{ id: 7 }]);
    const stuck = new ApiClient({ address, bearer: { token: () => 'old', renew: async () => true } });
    await expect(stuck.call('GET /projects')).rejects.toMatchObject({ status: 401 });
    const weak = new ApiClient({ address, bearer: { token: () => 'weak', renew: async () => true } });
    await expect(weak.call('GET /projects')).rejects.toMatchObject({ status: 403 });
    expect(await renewed.call('GET /projects')).toEqual([{ id: 7 }]);
    expect(seen).toEqual([
      ...['Bearer old', 'Bearer new', 'Bearer old', 'Bearer old'],
      ...['Bearer weak', 'Bearer new'],
    ]);
  });

  test("that is refused has every field of the platform's error", async () => {
    const issues = [{ path: '$.filter', message: 'is no filter' }];
    const address = await serve((_request, response) =>
      json(
        response,
        400,
        { status: 'error', code: 'invalid', message: 'The query is wrong.', errors: [...issues, 'noise'] },
        { 'retry-after': '3', 'x-request-id': 'r-1' },
      ),
    );
    const client = new ApiClient({ address, bearer: { token: () => null } });
    const error: ApiError = await client.call('POST /api/sessions/query', { body: {} }).catch((e) => e);
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({
      status: 400,
      code: 'invalid',
      message: 'The query is wrong.',
      requestId: 'r-1',
      retryAfterMs: 3000,
      issues,
    });
  });

  test('that is answered by something else than the platform fails without a code', async () => {
    const page = '<html>Bad gateway</html>';
    const address = await serve(({ url }, response) =>
      response.writeHead(url === '/projects' ? 502 : 200).end(page),
    );
    const client = new ApiClient({ address, bearer: { token: () => null } });
    const refused = { code: '', body: undefined, issues: [] };
    const ask = (route: 'GET /projects' | 'GET /user_data') => client.call(route);
    await expect(ask('GET /projects')).rejects.toMatchObject({ status: 502, ...refused });
    await expect(ask('GET /user_data')).rejects.toMatchObject({ status: 200, ...refused });
    for (const text of ['null', '7', '[]', '{"code":5,"message":{},"errors":"x"}'])
      expect(refusalOf({ status: 502, header: () => null, text })).toMatchObject({
        code: '',
        message: 'The platform answered 502.',
        issues: [],
      });
  });

  test('fails as a broken connection when nothing answers, the answer breaks off, or the deadline passes', async () => {
    const address = await serve(({ url }, response) => {
      if (url !== '/projects') return;
      response.writeHead(200, { 'content-length': '100' }).write('[');
      setImmediate(() => response.destroy());
    });
    const bearer = { token: () => null };
    const nowhere = new ApiClient({ address: 'http://127.0.0.1:1', bearer });
    await expect(nowhere.call('GET /projects')).rejects.toThrow(NetworkError);
    const client = new ApiClient({ address, bearer, deadlineMs: 300 });
    await expect(client.call('GET /projects')).rejects.toThrow(NetworkError);
    for (const signal of [undefined, new AbortController().signal])
      await expect(client.call('GET /user_data', { signal })).rejects.toThrow(NetworkError);
  });

  test('that the caller aborts ends with the reason of the signal', async () => {
    const address = await serve(() => undefined);
    const client = new ApiClient({ address, bearer: { token: () => null } });
    const signal = AbortSignal.abort(new DOMException('gone', 'AbortError'));
    await expect(client.call('GET /projects', { signal })).rejects.toMatchObject({ name: 'AbortError' });
  });
});

describe('waiting', () => {
  test('a date to wait for is compared with the clock of the answer', () => {
    const headers = new Map([
      ['retry-after', 'Thu, 01 Jan 2026 00:00:05 GMT'],
      ['date', 'Thu, 01 Jan 2026 00:00:00 GMT'],
    ]);
    const refused = refusalOf({ status: 503, header: (name) => headers.get(name), text: '' });
    expect(refused.retryAfterMs).toBe(5_000);
  });

  const refusal = (status: number, retryAfter: string | null = null) =>
    refusalOf({ status, header: (name) => (name === 'retry-after' ? retryAfter : null), text: '' });

  test('doubles up to its limit, honours Retry-After up to another, and restarts after a success', () => {
    const backOff = new BackOff({ firstMs: 100, maxMs: 1_000, maxRetryAfterMs: 60_000 });
    const waits = Array.from({ length: 20 }, () => backOff.nextMs(new NetworkError('broke')));
    for (const [index, wait] of waits.entries()) {
      const fullMs = Math.min(1_000, 100 * 2 ** index);
      expect(wait).toBeGreaterThanOrEqual(fullMs / 2);
      expect(wait).toBeLessThanOrEqual(fullMs);
    }
    expect(backOff.nextMs(refusal(429, '20'))).toBe(20_000);
    expect(backOff.nextMs(refusal(429, '999999999'))).toBe(60_000);
    backOff.reset();
    expect(backOff.nextMs(refusal(503))).toBeLessThanOrEqual(100);
  });

  test('is worth it after outages, too many calls and server errors, and after no other refusal', () => {
    const statuses = [400, 401, 403, 404, 408, 409, 423, 429, 500, 502, 503];
    expect(statuses.filter((status) => isTransient(refusal(status)))).toEqual([408, 423, 429, 500, 502, 503]);
    expect([isTransient(new NetworkError('broke')), isTransient(new Error('other'))]).toEqual([true, false]);
  });

  test('ends with the reason of the signal', async () => {
    const ending = new AbortController();
    const waiting = pause(60_000, ending.signal);
    ending.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
    await expect(pause(60_000, ending.signal)).rejects.toThrow('enough');
  });
});

describe('an event stream', () => {
  const text =
    'retry: 1000\n\n: still there\n\nevent: node\ndata: {"id":"ä"}\n\nevent: output\ndata: a\ndata: b\nid: 17-3\n\ndata:x\r\n\r\nevent: node\ndata: not complete\n';
  const events: ServerEvent[] = [
    { kind: 'node', data: '{"id":"ä"}', id: null },
    { kind: 'output', data: 'a\nb', id: '17-3' },
    { kind: 'message', data: 'x', id: null },
  ];
  const streamOf = (...parts: Uint8Array[]) => new Response(ReadableStream.from(parts) as never);

  test('yields the same events for any split of its bytes, and only complete ones', async () => {
    const bytes = new TextEncoder().encode(text);
    for (let cut = 0; cut <= bytes.length; cut += 1) {
      const parts = streamOf(bytes.subarray(0, cut), bytes.subarray(cut));
      const found: ServerEvent[] = [];
      for await (const event of readEvents(parts, 10_000)) found.push(event);
      expect(found, `cut at ${cut}`).toEqual(events);
    }
  });

  test('that breaks, or has an event without an end, fails as a broken connection', async () => {
    const drain = async (answer: Response) => {
      for await (const _event of readEvents(answer, 10_000));
    };
    const broken = new ReadableStream({ start: (controller) => controller.error(new Error('reset')) });
    await expect(drain(new Response(broken))).rejects.toThrow(NetworkError);
    const megabyte = new Uint8Array(1024 ** 2).fill(0x61);
    const endless = [new TextEncoder().encode('data:'), ...Array.from({ length: 17 }, () => megabyte)];
    await expect(drain(streamOf(...endless))).rejects.toThrow(NetworkError);
  });

  test('of a session continues after the last event, stays alive by comments, and ends when it is silent', async () => {
    const address = await serve(({ headers, url }, response) => {
      expect([url, headers['last-event-id']]).toEqual(['/api/v2/sessions/s-1/events', '17-3']);
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('event: deleted\ndata: {"sessionId":"s-1"}\nid: 17-4\n\n: still there\n\n');
    });
    const client = new ApiClient({ address, bearer: { token: () => null } });
    const settings = { lastEventId: '17-3', silenceMs: 200, signal: new AbortController().signal };
    const found: unknown[] = [];
    let signs = 0;
    const follow = async () => {
      const onBytes = () => {
        signs += 1;
      };
      for await (const event of sessionEvents(client, 's-1', { ...settings, onBytes })) found.push(event);
    };
    await expect(follow()).rejects.toThrow(NetworkError);
    expect(found).toEqual([{ kind: 'deleted', data: { sessionId: 's-1' }, id: '17-4' }]);
    expect(signs).toBeGreaterThan(0);
  });
});
