/** Calls that create, over connections that lose answers, without a platform. */
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { ApiClient } from '../../client/api-client.ts';
import { ApiError, NetworkError } from '../../client/errors.ts';
import { spentKeyMessage } from '../../client/messages.ts';

const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

async function clientOf(listener: RequestListener, deadlineMs?: number): Promise<ApiClient> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  stops.push(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const { port } = server.address() as AddressInfo;
  const limit = deadlineMs === undefined ? {} : { deadlineMs };
  return new ApiClient({ address: `http://127.0.0.1:${port}`, bearer: { token: () => null }, ...limit });
}

type Answer = (response: ServerResponse) => void;
const json =
  (status: number, body: object, headers = {}): Answer =>
  (response) =>
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
const made = json(201, { id: 7 });
const busy = json(
  409,
  { message: 'A request with this Idempotency-Key is under way.' },
  { 'retry-after': '0' },
);
const hangUp: Answer = (response) => response.destroy();
/** The head comes, and the body breaks off. */
const halfAnAnswer: Answer = (response) => {
  response.writeHead(201, { 'content-length': '100' }).write('{');
  setImmediate(() => response.destroy());
};

/** Answers one after the other, the last one again and again; notes the keys. */
function inTurn(...answers: Answer[]) {
  const keys: (string | undefined)[] = [];
  const listener = ({ headers }: IncomingMessage, response: ServerResponse) => {
    keys.push(headers['idempotency-key'] as string | undefined);
    (answers.length > 1 ? answers.shift()! : answers[0]!)(response);
  };
  return { keys, listener };
}

const project = { body: { Title: 'One' } };

test('a creating call is repeated under its key while its answer is lost or the first one is under way', async () => {
  const gateway = json(502, {});
  const away = json(503, {}, { 'retry-after': '0' });
  const { keys, listener } = inTurn(hangUp, halfAnAnswer, gateway, away, busy, made);
  const client = await clientOf(listener);
  expect(await client.call('POST /projects', project)).toEqual({ id: 7 });
  expect(keys).toHaveLength(6);
  expect(new Set(keys).size).toBe(1);
  expect(keys[0]).toMatch(/^"[0-9a-f]{32}"$/);
});

test('every call has a key of its own, two equal ones at the same time too; reading calls have none', async () => {
  const { keys, listener } = inTurn(made);
  const client = await clientOf(listener);
  await Promise.all([client.call('POST /projects', project), client.call('POST /projects', project)]);
  await client.call('POST /projects', project);
  expect(new Set(keys).size).toBe(3);
  await client.call('POST /api/sessions/query', { body: {} });
  expect(keys[3]).toBeUndefined();
});

test('a silent connection counts as a lost answer', async () => {
  const { keys, listener } = inTurn(() => undefined, made);
  const client = await clientOf(listener, 300);
  expect(await client.call('POST /projects', project)).toEqual({ id: 7 });
  expect(keys[0]).toBe(keys[1]);
});

test.for([[400], [403], [409], [422], [429], [500]])(
  'a refusal with %i is no lost answer: it is reported at once',
  async ([status]) => {
    const { keys, listener } = inTurn(json(status!, { message: 'No.' }), made);
    const client = await clientOf(listener);
    await expect(client.call('POST /projects', project)).rejects.toMatchObject({ status });
    expect(keys).toHaveLength(1);
  },
);

test('a platform that is not there is reported at once: nothing was sent', async () => {
  const client = await clientOf(() => undefined);
  await stops.pop()!();
  const error = await client.call('POST /projects', project).catch((caught) => caught);
  expect(error).toBeInstanceOf(NetworkError);
  expect(error.isOutcomeUnknown).toBe(false);
});

test('a call that stays unanswered says so, and the same call again is its repeat; another one is not', async () => {
  const { keys, listener } = inTurn(json(503, { message: 'Away.' }, { 'retry-after': '60' }), hangUp, made);
  const client = await clientOf(listener);
  // The wait that is asked for is longer than a person waits.
  await expect(client.call('POST /projects', project)).rejects.toMatchObject({ status: 503 });
  expect(await client.call('POST /projects', project)).toEqual({ id: 7 });
  expect(keys[1]).toBe(keys[0]);
  expect(keys[2]).toBe(keys[0]);
  await client.call('POST /projects', { body: { Title: 'Two' } });
  await client.call('POST /projects', project);
  expect(new Set(keys.slice(2)).size).toBe(3);
});

test('a call that its caller gave up is repeated under its key, too', async () => {
  const { keys, listener } = inTurn(() => stop.abort(new DOMException('left', 'AbortError')), made);
  const stop = new AbortController();
  const client = await clientOf(listener);
  const left = client.call('POST /projects', { ...project, signal: stop.signal });
  await expect(left).rejects.toMatchObject({ name: 'AbortError' });
  await client.call('POST /projects', project);
  expect(keys[1]).toBe(keys[0]);
});

test('a secret whose answer was lost is said in words, and the next call makes another one', async () => {
  const { keys, listener } = inTurn(hangUp, json(409, { message: spentKeyMessage }), made);
  const client = await clientOf(listener);
  const body = { runnerTypes: ['own'] };
  const error = await client.call('POST /api/v2/admin/runner-tokens', { body }).catch((caught) => caught);
  expect(error).toBeInstanceOf(ApiError);
  expect(error.message).toBe(
    'It was done, but the answer with its secret was lost, and the secret is shown only once. Replace the secret again, or delete what was made and make another one.',
  );
  await client.call('POST /api/v2/admin/runner-tokens', { body });
  expect([keys[1] === keys[0], keys[2] === keys[0]]).toEqual([true, false]);
});

test('a platform that goes away after a lost answer leaves the outcome unknown', async () => {
  const server = createServer((_request, response) => {
    server.close();
    response.destroy();
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  const client = new ApiClient({ address: `http://127.0.0.1:${port}`, bearer: { token: () => null } });
  const error = await client.call('POST /projects', project).catch((caught) => caught);
  expect(error).toBeInstanceOf(NetworkError);
  expect(error.isOutcomeUnknown).toBe(true);
});
