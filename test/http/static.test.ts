import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { get, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startApi } from '../../api/start.ts';
import type { RunningServer } from '../../http/server/server.ts';
import { staticFiles } from '../../http/server/static.ts';
import { ask, startTestApi, type TestApi } from '../support/api.ts';
import { testEnvironment } from '../support/stack.ts';

const platform = await testEnvironment();
const longScript = 'shown();\n'.repeat(1_000);
const folder = mkdtempSync(join(tmpdir(), 'console-'));
let api: TestApi;
let server: RunningServer;
beforeAll(async () => {
  mkdirSync(join(folder, 'dist/assets'), { recursive: true });
  writeFileSync(join(folder, 'dist/index.html'), '<!doctype html><title>console</title>');
  writeFileSync(join(folder, 'dist/assets/app-1a2b.js'), 'export {};');
  writeFileSync(join(folder, 'dist/assets/long-3c4d.js'), longScript);
  writeFileSync(join(folder, 'secret.txt'), 'secret');
  writeFileSync(join(folder, 'dist/.hidden.txt'), 'secret');
  api = await startTestApi(platform.environment);
  server = await startApi({
    ...api.composed,
    fallback: staticFiles(pathToFileURL(`${folder}/dist/`)),
  });
});
afterAll(async () => {
  await server.stop(1);
  await api.stop();
  rmSync(folder, { recursive: true });
});

/** As it comes over the line: `fetch` would unpack it. */
async function request(url: string, options: { path: string; headers: Record<string, string> }) {
  const sent = get(`${url}${options.path}`, { headers: options.headers });
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  return { status: response.statusCode, headers: response.headers, bytes: await buffer(response) };
}

const page = { headers: { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' } };

describe('the console', () => {
  test('is served at / and at every address that only a browser asks for', async () => {
    for (const path of [
      '/',
      '/sessions/0198c0de-0000-7000-8000-000000000000',
      '/dashboards/7',
      '/anything',
    ]) {
      const { status, headers, body } = await ask(server.url, 'GET', path, page);
      expect([path, status, headers.get('content-type')]).toEqual([path, 200, 'text/html; charset=utf-8']);
      expect(body).toContain('console');
      expect(headers.get('cache-control')).toBe('no-cache');
    }
    const head = await ask(server.url, 'HEAD', '/', page);
    expect([head.status, head.body]).toEqual([200, '']);
  });

  test('is served at / to every client: probes and link checks name no type', async () => {
    for (const headers of [{}, { accept: '*/*' }]) {
      const { status, body } = await ask(server.url, 'GET', '/', { headers });
      expect([status, body]).toEqual([200, expect.stringContaining('console')]);
      expect((await ask(server.url, 'HEAD', '/?from=probe', { headers })).status).toBe(200);
    }
  });

  test('never hides a route, and is not served to programs elsewhere', async () => {
    expect((await ask(server.url, 'GET', '/user_data', page)).status).toBe(401);
    expect((await ask(server.url, 'POST', '/user_data', page)).status).toBe(405);
    expect((await ask(server.url, 'GET', '/api/v2/nothing', page)).status).toBe(404);
    expect((await ask(server.url, 'GET', '/anything')).status).toBe(404);
    expect((await ask(server.url, 'POST', '/anything', page)).status).toBe(404);
  });

  test('has assets that may be kept for ever, under a policy that allows nothing from elsewhere', async () => {
    const asset = await ask(server.url, 'GET', '/assets/app-1a2b.js');
    expect([asset.status, asset.body]).toEqual([200, 'export {};']);
    expect(asset.headers.get('content-type')).toBe('text/javascript; charset=utf-8');
    expect(asset.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    expect(asset.headers.get('content-security-policy')).toMatch(/^default-src 'self';/);
    const etag = asset.headers.get('etag') ?? '';
    const again = await ask(server.url, 'GET', '/assets/app-1a2b.js', { headers: { 'if-none-match': etag } });
    expect(again.status).toBe(304);
    for (const known of [`W/${etag}`, `"other", W/${etag}`, '*']) {
      const headers = { 'if-none-match': known };
      const { status } = await ask(server.url, 'GET', '/assets/app-1a2b.js', { headers });
      expect([known, status]).toEqual([known, 304]);
    }
    expect((await ask(server.url, 'GET', '/assets/gone-1a2b.js', page)).body).toContain('console');
  });

  test('is sent as gzip to callers that accept it, else unpacked', async () => {
    const sent = async (accepts: string, more: Record<string, string> = {}) => {
      const headers = { 'accept-encoding': accepts, ...more };
      const answer = await request(server.url, { path: '/assets/long-3c4d.js', headers });
      return { ...answer, encoding: answer.headers['content-encoding'], etag: answer.headers.etag ?? '' };
    };
    for (const accepts of ['gzip, deflate, br', '*', 'GZIP;q=0.5', 'br;q=1, gzip']) {
      const { bytes, encoding, headers } = await sent(accepts);
      expect([accepts, encoding, headers.vary]).toEqual([
        accepts,
        'gzip',
        expect.stringMatching(/accept-encoding/i),
      ]);
      expect(gunzipSync(bytes).toString()).toBe(longScript);
      expect([headers['content-length'], bytes.length < longScript.length / 5]).toEqual([
        `${bytes.length}`,
        true,
      ]);
    }
    for (const accepts of ['', 'identity', 'br', 'gzip;q=0', '*;q=0', 'gzip;q=nonsense']) {
      const { bytes, encoding, headers } = await sent(accepts);
      expect([accepts, encoding, bytes.toString()]).toEqual([accepts, undefined, longScript]);
      expect(headers.vary).toMatch(/accept-encoding/i);
    }
    const [zipped, plain] = [await sent('gzip'), await sent('identity')];
    expect(zipped.etag).not.toBe(plain.etag);
    expect((await sent('gzip', { 'if-none-match': zipped.etag })).status).toBe(304);
    expect((await sent('identity', { 'if-none-match': zipped.etag })).status).toBe(200);
    writeFileSync(join(folder, 'dist/assets/long-3c4d.js'), `${longScript}changed();`);
    expect(gunzipSync((await sent('gzip')).bytes).toString()).toBe(`${longScript}changed();`);
  });

  test('serves no file outside its folder', async () => {
    const rawGet = async (path: string) => {
      const socket = connect(server.port, '127.0.0.1');
      socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
      let answer = '';
      for await (const chunk of socket) answer += String(chunk);
      return answer;
    };
    const paths = [
      '/../secret.txt',
      '/assets/../../secret.txt',
      '/%2e%2e/secret.txt',
      '/..%2fsecret.txt',
      '//etc/passwd',
    ];
    for (const path of [
      ...paths,
      '/.hidden.txt',
      '/assets/..\\..\\secret.txt',
      '/assets',
      `${folder}/secret.txt`,
    ]) {
      const answer = await rawGet(path);
      expect([path, answer.slice(9, 12)]).toEqual([path, '404']);
      expect(answer).not.toContain('secret\n');
    }
  });
});
