/** Every route that creates accepts `Idempotency-Key`: a repeat is done once and gets the same answer. */
import { randomUUID } from 'node:crypto';
import { afterAll, describe, expect, test } from 'vitest';
import type { Database } from '../../../store/connection/database.ts';
import { allRoutes } from '../../support/openapi.ts';
import { testEnvironment } from '../../support/stack.ts';
import { expectNowhereStored } from '../../support/stored-text.ts';
import { ingests, ingestWorld } from '../ingests/ingest-world.ts';
import { type KeyedRequest, keyedRequests, send, sendHead } from './requests.ts';

const platform = await testEnvironment();
const world = await ingestWorld(platform);
const { api, database } = world;
const requests = await keyedRequests(world, platform);
afterAll(() => world.stop());

/** Their callers hold a task: runner/outputs/keyed.test.ts. */
const ofHolders = ['writeTaskOutput', 'startTaskUpload'];
const keyed = allRoutes.filter(({ id, idempotent }) => idempotent !== undefined && !ofHolders.includes(id));
const showsSecret = (id: string) => /^(secret|forwarded)$/.test(byId.get(id)!.idempotent!);
const byId = new Map(keyed.map((route) => [route.id, route]));

/** The routes that need no key, by the reason. */
const withoutKey: Readonly<Record<string, readonly string[]>> = {
  'It makes nothing.': [
    'validateSessionTemplate',
    'validateRunnerManifest',
    'querySessions',
    'askDashboardSeries',
    'askDashboardStatistics',
    'askDashboardExport',
    'previewReport',
    'validateToken',
    'resolveUser',
    'lookUpUsers',
    'activeUsers',
  ],
  'A repeat leaves things as they are.': [
    'publishRunnerManifest',
    'freezeSession',
    'unfreezeSession',
    'closeSession',
    'repairSession',
    'retryNodeRun',
    'retryFailedNodeRuns',
    'cancelNodeRun',
    'runRetention',
    'drainRunner',
    'signOut',
    'revokeTokens',
    'changePassword',
  ],
  'A repeat is known by the handle, the sequence or the text.': [
    'completeTaskUpload',
    'writeTaskLog',
    'stageTaskAnnotations',
  ],
  'A repeat is a new claim, and the task of the lost one is released.': ['claimTask'],
  'It is the way to a caller.': ['signIn', 'refreshToken'],
  'Its host starts the process anew.': [
    'reconcileRunnerHost',
    'startDeployedProcess',
    'endDeployedProcesses',
  ],
};

test('a POST accepts a key, or states why it needs none', () => {
  const lacking = allRoutes.filter(({ method, idempotent }) => method === 'POST' && idempotent === undefined);
  expect(lacking.map(({ id }) => id).sort()).toEqual(Object.values(withoutKey).flat().sort());
  expect(Object.keys(requests).sort()).toEqual(keyed.map(({ id }) => id).sort());
});

describe('a request under a key', () => {
  test.for(Object.keys(requests))('%s is executed once, and its repeats get the same answer', async (id) => {
    const isSecret = showsSecret(id);
    const { one, other } = requests[id]!();
    const key = `"${randomUUID()}"`;
    const before = await rowsOf(database);
    const first = await send(api.url, one, key);
    expect(first).toMatchObject({ status: expect.toBeOneOf([200, 201, 202]) });
    const made = await rowsOf(database);
    // The very answer of the first, with the key in quotes or bare.
    for (const spelling of [key, key.slice(1, -1)]) {
      const repeat = await send(api.url, one, spelling);
      if (isSecret) expect(repeat).toMatchObject({ status: 409, body: { status: 'error' } });
      else expect([repeat.status, repeat.body]).toEqual([first.status, first.body]);
    }
    if (other !== null)
      expect(await send(api.url, other, key)).toMatchObject({
        status: 422,
        body: { status: 'error', message: 'The Idempotency-Key was used for another request.' },
      });
    // As after a process that died between the commit and the answer.
    await forgetReplies(database);
    const anew = await send(api.url, one, key);
    if (isSecret) expect(anew.status).toBe(409);
    else expect([anew.status, anew.body]).toEqual([first.status, first.body]);
    expect(await rowsOf(database)).toEqual(made);
    expect(made).not.toEqual(before);
  });

  test.for(Object.keys(requests))('%s is executed once when ten arrive at once', async (id) => {
    const { one } = requests[id]!();
    const key = randomUUID();
    const before = await rowsOf(database);
    await send(api.url, requests[id]!().one);
    const usual = difference(before, await rowsOf(database));
    const start = await rowsOf(database);
    const answers = await Promise.all(Array.from({ length: 10 }, () => send(api.url, one, key)));
    const done = answers.filter(({ status }) => status < 300);
    const refused = answers.filter(({ status }) => status >= 300);
    expect(done.length).toBeGreaterThan(0);
    expect(new Set(done.map(({ body }) => JSON.stringify(body))).size).toBe(1);
    expect(new Set(refused.map(({ status }) => status))).toEqual(new Set(refused.length > 0 ? [409] : []));
    if (!showsSecret(id)) for (const { headers } of refused) expect(headers.get('retry-after')).toBe('1');
    expect(difference(start, await rowsOf(database))).toEqual(usual);
  });
});

describe('a secret that is replaced under a key', () => {
  test('of a managed ingest stays the one of the first answer when the request is repeated', async () => {
    const { id, urlPath } = await world.newIngest();
    const one = { path: `${ingests}/${id}/rotate-secret`, token: world.people.Developer.token };
    const key = randomUUID();
    const { secret } = (await send(api.url, one, key)).body;
    expect((await send(api.url, one, key)).status).toBe(409);
    expect((await world.send(urlPath, { secret })).status).toBe(201);
    expect((await send(api.url, one, randomUUID())).status).toBe(200);
    expect((await world.send(urlPath, { secret })).status).toBe(401);
  });

  test('of a webhook does too, beside the one before', async () => {
    const { one } = requests.rotateWebhookSecret!();
    const secrets = () => database.query('select secret, previous_secret from webhook order by id');
    const key = randomUUID();
    expect((await send(api.url, one, key)).status).toBe(200);
    const rotated = await secrets();
    expect((await send(api.url, one, key)).status).toBe(409);
    expect(await secrets()).toEqual(rotated);
  });
});

describe('a key', () => {
  test.for(['', '"', '"a', 'two words', '"two words"', 'ä', 'x'.repeat(256), '"x"; a=1'])(
    'of another form is refused: %j',
    async (key) => {
      const answer = await send(api.url, requests.createProject!().one, Buffer.from(key).toString('latin1'));
      expect(answer).toMatchObject({ status: 400, body: { status: 'error' } });
    },
  );

  test('of the longest form is accepted, and an escaped quote is part of it', async () => {
    for (const key of ['x'.repeat(255), '"a\\"b\\\\c"'])
      expect((await send(api.url, requests.createProject!().one, key)).status).toBe(201);
  });

  test('belongs to its caller, and to the kind of their token', async () => {
    const { one } = requests.createSession!();
    const key = randomUUID();
    const tokens = [world.people.Developer.token, world.people.Instructor.token, world.people.adminToken];
    const callers = [...tokens, world.people.offlineToken];
    const answers = await Promise.all(callers.map((token) => send(api.url, { ...one, token }, key)));
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201, 201]);
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(4);
  });

  test('of a refused request is free again', async () => {
    const { one } = requests.createSession!();
    const key = randomUUID();
    const wrong = { ...one, json: { ...one.json, ProjectId: 999_999 } };
    expect((await send(api.url, wrong, key)).status).toBe(404);
    expect((await send(api.url, one, key)).status).toBe(201);
  });

  test('can be used for a new request after its day', async () => {
    const key = randomUUID();
    const first = await send(api.url, requests.createProject!().one, key);
    await database.query("update idempotency_key set created_at = created_at - interval '24 hours'");
    const second = await send(api.url, requests.createProject!().one, key);
    expect([first.status, second.status]).toEqual([201, 201]);
    expect(second.body.id).not.toBe(first.body.id);
  });

  test('keeps no address and no secret in clear, and a reply with a secret not even sealed', async () => {
    const { one } = requests.joinSharedSession!();
    const email = `${randomUUID()}@example.org`;
    const answer = await send(api.url, { ...one, json: { ...one.json, email } }, randomUUID());
    expect(answer.status).toBe(201);
    await expectNowhereStored(database, email);
    const token = await send(api.url, requests.createRunnerToken!().one, randomUUID());
    await expectNowhereStored(database, token.body.token);
    const [kept] = await database.query(
      'select result_ciphertext, reply_ciphertext from idempotency_key order by created_at desc limit 1',
    );
    expect(kept).toEqual({ resultCiphertext: null, replyCiphertext: null });
  });
});

describe('an upload under a key of a completed upload', () => {
  const path = () => requests.uploadNodeOutput!().one;

  test('is answered before its body if a header has the checksum', async () => {
    const one = path();
    const key = randomUUID();
    const first = await send(api.url, one, key);
    const sha256 = Buffer.from(first.body.sha256, 'hex').toString('base64');
    const headers = { 'x-amz-checksum-sha256': sha256 };
    const repeat = await statusOf(one, key, { ...headers, 'content-length': String(one.bytes!.length) });
    expect(repeat).toBe(201);
    const others = { 'x-amz-checksum-sha256': Buffer.alloc(32).toString('base64') };
    expect(await statusOf(one, key, { ...others, 'content-length': String(one.bytes!.length) })).toBe(422);
    expect(await statusOf(one, key, { 'content-length': '1000000' })).toBe(422);
  });

  test('is another request with another type or identifier', async () => {
    const one = path();
    const key = randomUUID();
    expect((await send(api.url, one, key)).status).toBe(201);
    for (const headers of [{ 'content-type': 'text/plain' }, { 'x-platform-output-identifier': 'other' }])
      expect((await send(api.url, { ...one, headers }, key)).status).toBe(422);
  });
});

type Rows = Readonly<Record<string, number>>;

const statusOf = async (one: KeyedRequest, key: string, headers: Record<string, string>) =>
  (await sendHead(api.url, one, { ...headers, 'idempotency-key': key })).status;

/** The number of rows of each table, except those of keys, of temporary work and of sums. */
async function rowsOf(from: Database): Promise<Rows> {
  const tables = await from.query<{ name: string; rows: number }>(
    `select table_schema || '.' || table_name as name,
            (xpath('/row/n/text()', query_to_xml(
              format('select count(*) as n from %I.%I', table_schema, table_name), false, true, '')))[1]::text::int as rows
       from information_schema.tables
      where table_schema in ('public', 'auth') and table_type = 'BASE TABLE'
        and table_name not in ('idempotency_key', 'pending_object', 'object_deletion', 'session_count')`,
  );
  return Object.fromEntries(tables.map(({ name, rows }) => [name, rows]));
}

function difference(before: Rows, after: Rows): Rows {
  const changed = Object.entries(after).map(([name, rows]) => [name, rows - (before[name] ?? 0)] as const);
  return Object.fromEntries(changed.filter(([, rows]) => rows !== 0));
}

async function forgetReplies(from: Database): Promise<void> {
  for (const table of ['public.idempotency_key', 'auth.idempotency_key'])
    await from.query(`update ${table} set reply_ciphertext = null, lease_until = '-infinity'`);
}
