import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ask, startedApi } from '../support/api.ts';
import { count } from './count-route.ts';
import { echo, faulty, refuse } from './machinery-routes.ts';

const { api } = await startedApi({ routes: [echo, count, refuse, faulty] });

const post = async (
  path: string,
  body: string | Uint8Array<ArrayBuffer>,
  headers: Record<string, string> = {},
) => {
  const response = await fetch(api.url + path, {
    method: 'POST',
    body,
    headers: { 'content-type': 'application/json', ...headers },
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: JSON.parse(text) };
};

/** Sends raw bytes and resolves with all that comes back until the server closes. */
async function raw(text: string, options: { readonly end?: boolean } = {}): Promise<string> {
  const socket = connect(api.server.port, '127.0.0.1');
  socket.write(text, 'latin1');
  if (options.end) socket.end();
  let answer = '';
  for await (const chunk of socket) answer += (chunk as Buffer).toString('latin1');
  return answer;
}
const rawBody = (answer: string) => JSON.parse(answer.slice(answer.indexOf('\r\n\r\n') + 4));

describe('a path', () => {
  test('is answered as listed, under /api/v2 and under /api/v2.0', async () => {
    for (const prefix of ['', '/api/v2', '/api/v2.0']) {
      expect((await post(`${prefix}/echo/7`, '{"Title":"a"}')).status).toBe(201);
    }
  });

  test('with an id of a wrong form is a missing resource, with the message of the route', async () => {
    for (const id of [
      'abc',
      '0',
      '-1',
      '01',
      '9007199254740992',
      '%00',
      '%',
      '%ff',
      '1.5',
      '1e3',
      '+1',
      '%20',
    ]) {
      const { status, body } = await post(`/echo/${id}`, '{"Title":"a"}');
      expect([id, status, body]).toEqual([id, 404, { status: 'error', message: 'Project not found.' }]);
    }
  });

  test('unknown to all is 404; known for other methods it is 405 with Allow', async () => {
    const unknown = await ask(api.url, 'GET', '/nothing/here');
    expect([unknown.status, unknown.body]).toEqual([404, { status: 'error', message: 'Not found.' }]);
    for (const method of ['GET', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
      const wrong = await ask(api.url, method, '/echo/1');
      expect([wrong.status, wrong.headers.get('allow'), wrong.body]).toEqual([
        405,
        'POST',
        { status: 'error', message: 'Method not allowed.' },
      ]);
    }
    expect((await ask(api.url, 'POST', '/faulty/x')).headers.get('allow')).toBe('GET, HEAD');
  });

  test('below the runner routes carries a code in its errors', async () => {
    const { status, body } = await ask(api.url, 'GET', '/api/v2/runner/nothing');
    expect([status, body]).toEqual([404, { status: 'error', code: 'not_found', message: 'Not found.' }]);
  });
});

describe('a response', () => {
  test('carries the request id of the caller when it has the right form, else a new one', async () => {
    const id = async (sent: string) => {
      const { headers } = await ask(api.url, 'GET', '/nothing', { headers: { 'x-request-id': sent } });
      return headers.get('x-request-id');
    };
    expect(await id('abc-1.2_Z')).toBe('abc-1.2_Z');
    for (const wrong of ['a b', 'a'.repeat(129), 'é', '']) expect(await id(wrong)).toMatch(/^[0-9a-f-]{36}$/);
  });

  test('carries headers that keep browsers careful', async () => {
    const { headers } = await ask(api.url, 'GET', '/nothing');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    const policy = headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'self'");
    // Nothing inline, nothing from elsewhere; of the page's own memory only pictures and video.
    expect(policy).not.toMatch(/unsafe|data:|https?:|\*/);
    const ofBlobs = policy.split(';').filter((directive) => directive.includes('blob:'));
    expect(ofBlobs).toEqual(["img-src 'self' blob:", "media-src 'self' blob:"]);
  });

  test('that its route does not declare is a 500 under strict checks', async () => {
    const { status, body } = await ask(api.url, 'GET', '/faulty/extra');
    expect([status, body]).toEqual([500, { status: 'error', message: 'Internal server error.' }]);
  });

  test('to an unexpected failure reveals no internals', async () => {
    const { status, body } = await ask(api.url, 'GET', '/faulty/throws');
    expect([status, body]).toEqual([500, { status: 'error', message: 'Internal server error.' }]);
  });
});

describe('a JSON body', () => {
  const invalid = { status: 'error', message: 'Invalid project data.' };

  test('is read by names in PascalCase and camelCase; unknown fields are ignored', async () => {
    for (const text of ['{"Title":"a","x":1}', '{"title":" a "}', '{"Title":"a","title":"b"}']) {
      expect((await post('/echo/7', text)).body).toEqual({ id: 7, title: 'a', at: null, metadata: 'null' });
    }
  });

  test('that the schema refuses gets the message of the route', async () => {
    for (const text of ['{}', '[]', '1', '"x"', 'null', '{"Title":" "}', '{"Title":"a\\u0007"}', '']) {
      const { status, body } = await post('/echo/7', text);
      expect([text, status, body]).toEqual([text, 400, invalid]);
    }
    expect((await post('/echo/7', JSON.stringify({ Title: 'é'.repeat(255) }))).status).toBe(201);
    expect((await post('/echo/7', JSON.stringify({ Title: 'é'.repeat(256) }))).status).toBe(400);
  });

  test('that is malformed, too deep, doubled, or not to be stored is 400', async () => {
    const deep = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;
    const texts = [
      '{',
      '{"Title":"a",}',
      "{'Title':'a'}",
      '{"Title":"a","Title":"b"}',
      '{"Title":"a","M":{"x":1,"\\u0078":2}}',
      `{"Title":"a","x":${deep(64)}}`,
      deep(300_000),
      '{"Title":"a","x":"\\u0000"}',
      '{"Title":"a","x":"\\ud800"}',
      '{"Title":"a","\\udc00":1}',
      '{"Title":"a","x":1e999}',
      `{"Title":"a","x":${'9'.repeat(400)}}`,
    ];
    for (const text of texts) {
      const { status, body } = await post('/echo/7', text);
      expect([text.slice(0, 60), status, body.status]).toEqual([text.slice(0, 60), 400, 'error']);
    }
    expect((await post('/echo/7', `{"Title":"a","x":${deep(63)}}`)).status).toBe(201);
    expect((await post('/echo/7', Uint8Array.from([0x22, 0xff, 0x22]))).status).toBe(400);
  });

  test('keeps __proto__, constructor and prototype as data', async () => {
    const metadata = '{"__proto__":{"a":1},"constructor":{"prototype":2}}';
    const { status, body } = await post(
      '/echo/7',
      `{"Title":"a","Metadata":${metadata},"__proto__":{"Title":"b"}}`,
    );
    expect([status, body.title, body.metadata]).toEqual([201, 'a', metadata]);
    expect(({} as { a?: number }).a).toBeUndefined();
  });

  test('of free form is bounded in size and depth', async () => {
    const nested = (levels: number) => `${'{"a":'.repeat(levels - 1)}{}${'}'.repeat(levels - 1)}`;
    expect((await post('/echo/7', `{"Title":"a","Metadata":${nested(20)}}`)).status).toBe(201);
    expect((await post('/echo/7', `{"Title":"a","Metadata":${nested(21)}}`)).status).toBe(400);
    const large = JSON.stringify({ Title: 'a', Metadata: { a: 'é'.repeat(40_000) } });
    expect((await post('/echo/7', large)).status).toBe(400);
    for (const wrong of ['[]', '1', '"a"']) {
      expect((await post('/echo/7', `{"Title":"a","Metadata":${wrong}}`)).status).toBe(400);
    }
  });

  test('above 1 MB is 413, declared or chunked', async () => {
    const exact = `{"Title":"a","x":"${'x'.repeat(1_048_576 - 20)}"}`;
    expect(exact.length).toBe(1_048_576);
    expect((await post('/echo/7', exact)).status).toBe(201);
    expect((await post('/echo/7', `${exact} `)).status).toBe(413);
    const chunked = await fetch(`${api.url}/echo/7`, {
      method: 'POST',
      body: new Blob([exact, ' ']).stream(),
      duplex: 'half',
    } as RequestInit);
    expect(chunked.status).toBe(413);
  });

  test('sent compressed, or in another charset, is 415', async () => {
    const packed = new Uint8Array(gzipSync('{"Title":"a"}'));
    expect((await post('/echo/7', packed, { 'content-encoding': 'gzip' })).status).toBe(415);
    const latin = await post('/echo/7', '{"Title":"a"}', {
      'content-type': 'application/json; charset=latin1',
    });
    expect(latin.status).toBe(415);
  });

  test('with timestamps reads them strictly', async () => {
    const at = async (text: string) =>
      (await post('/echo/7', JSON.stringify({ Title: 'a', At: text }))).body.at;
    expect(await at('2026-02-28T12:00:00+02:00')).toBe('2026-02-28T10:00:00.000Z');
    expect(await at('2024-02-29')).toBe('2024-02-29T00:00:00.000Z');
    for (const wrong of [
      '2026-02-30',
      '2026-02-29T00:00:00Z',
      '1',
      '1969-12-31T23:59:59Z',
      '10000-01-01',
      '',
    ]) {
      expect([wrong, await at(wrong)]).toEqual([wrong, undefined]);
    }
  });

  test('with any content is never answered with a 5xx', async () => {
    const anyText = fc.oneof(
      fc.json({ noUnicodeString: false }),
      fc.string({ unit: 'binary' }),
      fc.record({ Title: fc.anything(), At: fc.anything(), Metadata: fc.anything() }).map((value) => {
        try {
          return JSON.stringify(value) ?? '';
        } catch {
          return '';
        }
      }),
    );
    await fc.assert(
      fc.asyncProperty(anyText, async (text) => {
        const { status, body } = await post('/echo/7', text);
        expect(status).toBeLessThan(500);
        if (status !== 201) expect(body).toMatchObject({ status: 'error', message: expect.any(String) });
      }),
      { numRuns: 200 },
    );
  });
});

describe('an upload', () => {
  test('arrives byte for byte, for any Content-Type', async () => {
    for (const type of ['text/csv', 'application/json', 'application/x-www-form-urlencoded']) {
      for (const bytes of [0, 1, 10_240]) {
        const { status, body } = await post('/count', 'x'.repeat(bytes), { 'content-type': type });
        expect([status, body]).toEqual([201, { bytes }]);
      }
    }
  });

  test('that waits for 100 Continue is refused before it is sent', async () => {
    const head = 'POST /refuse HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\nExpect: 100-continue\r\n';
    const answer = await raw(`${head}Connection: close\r\n\r\n`);
    expect(answer).toMatch(/^HTTP\/1.1 401 /);
    expect(answer).not.toContain('100 Continue');
  });

  test('that waits for 100 Continue and is wanted gets it', async () => {
    const head = 'POST /count HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nExpect: 100-continue\r\n';
    const answer = await raw(`${head}Connection: close\r\n\r\nabc`);
    expect(answer).toMatch(/^HTTP\/1.1 100 Continue\r\n\r\nHTTP\/1.1 201 /);
  });
});

describe('an invalid request', () => {
  test('gets the common error body and a request id', async () => {
    const cases: [string, number][] = [
      ['nonsense\r\n\r\n', 400],
      ['GET /echo/1 HTTP/1.1\r\n\r\n', 400],
      ['GET /echo/1 HTTP/1.1\r\nHost: x\r\nhost: y\r\n\r\n', 400],
      [`GET / HTTP/1.1\r\nHost: x\r\nX: ${'y'.repeat(40_000)}\r\n\r\n`, 431],
      ['CONNECT example.org:443 HTTP/1.1\r\nHost: x\r\n\r\n', 405],
      ['POST /echo/1 HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n', 400],
    ];
    for (const [text, status] of cases) {
      const answer = await raw(text.replace('Host: x\r\n', 'Host: x\r\nConnection: close\r\n'), {
        end: true,
      });
      expect([text.slice(0, 30), answer.slice(9, 12)]).toEqual([text.slice(0, 30), String(status)]);
      expect(rawBody(answer)).toMatchObject({ status: 'error', message: expect.any(String) });
      expect(answer.toLowerCase()).toContain('x-request-id: ');
      if (status === 405) expect(answer.toLowerCase()).toContain('\r\nallow: ');
    }
  });

  test('that has no readable path has a code, since a runner may have sent it', async () => {
    const start = 'POST /api/v2/runner/claims HTTP/1.1\r\nHost: x\r\n';
    const long = await raw(`${start}X: ${'y'.repeat(40_000)}\r\n\r\n`, { end: true });
    expect(rawBody(long)).toMatchObject({ status: 'error', code: 'headers_too_large' });
    const twice = await raw(`${start}Content-Length: 5\r\nContent-Length: 6\r\n\r\n`, { end: true });
    expect(rawBody(twice)).toMatchObject({ status: 'error', code: 'invalid_request' });
  });
});
