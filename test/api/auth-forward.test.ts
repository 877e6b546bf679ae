import { afterAll, beforeAll, expect, test } from 'vitest';
import { makePerson, startTestApi, type TestApi, tokenOf } from '../support/api.ts';
import { type ApiProcess, spawnAuth } from '../support/processes.ts';
import { testEnvironment } from '../support/stack.ts';
import { closeConnections, rawCall } from './generated/raw-call.ts';

const platform = await testEnvironment();
let auth: ApiProcess;
let inside: TestApi;
let apart: TestApi;
let admin: string;

beforeAll(async () => {
  auth = await spawnAuth(platform.environment);
  inside = await startTestApi({ ...platform.environment });
  apart = await startTestApi({ ...platform.environment, AUTH_URL: auth.url });
  const { username, password } = platform.administrator;
  admin = await tokenOf(inside.url, username, password);
});
afterAll(async () => {
  closeConnections();
  await inside.stop();
  await apart.stop();
  auth.kill('SIGTERM');
  await auth.ended;
});

const prefix = '/api/authorization';
const twice = '{"newPassword":"a longer sentence","newPassword":"a longer sentence"}';
const someone = '00000000-0000-4000-8000-000000000000';

/** Method, path below the prefix, token, body, and what a server answers that is its own authentication service. */
const tooLarge = 'The body is too large: at most 1048576 bytes are accepted.';
const calls: readonly [string, string, 'admin' | 'garbage', string | undefined, number, string][] = [
  ['POST', `/users/${someone}/password`, 'garbage', twice, 401, 'A valid bearer token is required.'],
  ['POST', '/users', 'garbage', '{', 401, 'A valid bearer token is required.'],
  ['POST', '/users', 'garbage', ' '.repeat(1_048_577), 401, 'A valid bearer token is required.'],
  ['PATCH', '/users/abc', 'admin', '{', 404, 'User not found.'],
  ['POST', '/users', 'admin', '{', 400, 'The body is not valid JSON.'],
  ['POST', '/users', 'admin', ' '.repeat(1_048_577), 413, tooLarge],
  ['POST', '/token', 'garbage', '{', 400, 'The body is not valid JSON.'],
  ['DELETE', '/offline_token/.', 'admin', undefined, 404, 'Token not found.'],
  ['DELETE', '/offline_token/%2e%2E', 'admin', undefined, 404, 'Token not found.'],
  ['DELETE', '/offline_token/..', 'garbage', undefined, 401, 'A valid bearer token is required.'],
  ['GET', '/users/../offline_token', 'admin', undefined, 404, 'Not found.'],
  ['GET', '/./users', 'admin', undefined, 404, 'Not found.'],
  ['POST', '/users/..', 'admin', '{}', 405, 'Method not allowed.'],
];

test.each(calls)('%s %s by %s is refused alike by a service inside and apart', async (...row) => {
  const [method, path, who, body, status, message] = row;
  const bearer = who === 'admin' ? admin : 'hat_garbage';
  const sent = {
    method,
    target: prefix + path,
    headers: { authorization: `Bearer ${bearer}` },
    body: body === undefined ? undefined : Buffer.from(body),
  };
  for (const { url } of [inside, apart]) {
    const answer = await rawCall(url, sent);
    expect([url === inside.url, answer.status, JSON.parse(answer.bytes.toString())]).toEqual([
      url === inside.url,
      status,
      { status: 'error', message },
    ]);
  }
});

test('metrics name the route and method of a call that is passed on', async () => {
  const { username, password } = platform.administrator;
  for (const { url } of [inside, apart]) {
    const metricsOf = async () => {
      const headers = { authorization: `Bearer ${admin}` };
      return await (await fetch(`${url}/metrics`, { headers })).text();
    };
    const counted = (text: string) =>
      Number(
        /sdp_http_request_seconds_count\{method="POST",route="\/api\/authorization\/token",status="200"\} (\d+)/.exec(
          text,
        )?.[1] ?? 0,
      );
    const before = counted(await metricsOf());
    await tokenOf(url, username, password);
    await expect.poll(async () => counted(await metricsOf())).toBe(before + 1);
  }
});

test('a body that a route does not accept is ignored, in one process and apart', async () => {
  for (const { url } of [inside, apart]) {
    const { token } = await makePerson(inside.url, admin, 'Trainee');
    const headers = { authorization: `Bearer ${token}` };
    const sent = { method: 'POST', target: `${prefix}/logout`, headers, body: Buffer.from('{') };
    expect([url === inside.url, (await rawCall(url, sent)).status]).toEqual([url === inside.url, 204]);
  }
});
