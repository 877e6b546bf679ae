/** `Idempotency-Key` over two API processes and under kill -9: one creation for one key, whichever process dies. */
import { createHash, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { limits } from '../../../domain/limits.ts';
import { IdempotencyKeys, sweepIdempotencyKeys } from '../../../store/connection/idempotency.ts';
import { type KeyedRequest, keyedRequests, send, sendHead } from '../../api/idempotency/requests.ts';
import { ingestWorld } from '../../api/ingests/ingest-world.ts';
import type { Answer } from '../../support/api.ts';
import { eventually } from '../../support/eventually.ts';
import { type ApiProcess, testProcesses } from '../../support/processes.ts';
import { testEnvironment } from '../../support/stack.ts';
import { stretched } from '../../support/stretched.ts';
import { expectOnlyReferredObjects } from '../fault-world.ts';

const platform = await testEnvironment();
const world = await ingestWorld(platform);
const { database, api, newIngest } = world;
const processes = testProcesses(platform.environment);
const requests = await keyedRequests(world, platform);
afterAll(() => world.stop());
let two: readonly ApiProcess[];
let dying: Readonly<Record<'key-made' | 'key-made-upload' | 'upload-stored' | 'ingest-fed', ApiProcess>>;
beforeAll(async () => {
  const [one, other, ...deaths] = await Promise.all([
    processes.startApi(),
    processes.startApi(),
    processes.startApi({ failpoint: 'key-made' }),
    processes.startApi({ failpoint: 'key-made' }),
    processes.startApi({ failpoint: 'upload-stored' }),
    processes.startApi({ failpoint: 'ingest-fed' }),
  ]);
  two = [one!, other!];
  const [first, second, third, fourth] = deaths;
  dying = {
    'key-made': first!,
    'key-made-upload': second!,
    'upload-stored': third!,
    'ingest-fed': fourth!,
  };
});

/** How many objects a request has made: each request uses its own name. */
const counted = {
  createSession: 'select count(*)::int as n from session where name = $1',
  createProject: 'select count(*)::int as n from project where title = $1',
  uploadNodeOutput: 'select count(*)::int as n from node_output where sha256 = $1',
  ingestFile: 'select count(distinct session_id)::int as n from node_output where sha256 = $1',
  joinSharedSession: 'select count(*)::int as n from session where name = $1',
  createUser: 'select count(*)::int as n from auth.users where username = $1',
} as const;
type Counted = keyof typeof counted;

async function countOf(id: Counted, { bytes, json = {} }: KeyedRequest): Promise<number> {
  const named = json as Readonly<Record<string, unknown>>;
  const sha256 = bytes === undefined ? null : createHash('sha256').update(bytes).digest('hex');
  const name = sha256 ?? named.Name ?? named.Title ?? named.name ?? named.username;
  const [row] = await database.query<{ n: number }>(counted[id], [name]);
  return row!.n;
}
const outcomeOf = ({ status, body }: Answer) => ({ status, body });

/** As a client does it: again while the key is busy. */
async function untilAnswered(url: string, one: KeyedRequest, key: string): Promise<Answer> {
  return await eventually('the key is free', async () => {
    const answer = await send(url, one, key);
    return answer.status === 409 ? null : answer;
  });
}

test.for(Object.keys(counted) as Counted[])(
  '%s: twenty requests at two processes under one key make one, and all get its answer',
  async (id) => {
    const { one } = requests[id]!();
    const key = randomUUID();
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) => untilAnswered(two[index % 2]!.url, one, key)),
    );
    const [first] = answers;
    expect(first!.status).toBe(201);
    for (const answer of answers) expect(outcomeOf(answer)).toEqual(outcomeOf(first!));
    expect(await countOf(id, one)).toBe(1);
  },
);

describe.concurrent('when a process', () => {
  test.for([
    ['createSession', 'key-made', 1],
    ['uploadNodeOutput', 'key-made-upload', 1],
    ['uploadNodeOutput', 'upload-stored', 0],
  ] as const)('is killed during %s at %s, the repeat makes exactly one', async ([id, place, made]) => {
    const { one } = requests[id]!();
    const key = randomUUID();
    await expect(send(dying[place].url, one, key)).rejects.toThrow('fetch failed');
    expect(await dying[place].ended).toBe('SIGKILL');
    expect(await countOf(id, one)).toBe(made);
    const startedAt = performance.now();
    const answer = await untilAnswered(api.url, one, key);
    expect(performance.now() - startedAt).toBeLessThan(stretched(limits.idempotencyKeyLeaseSeconds * 1_000));
    expect(answer.status).toBe(201);
    expect(await countOf(id, one)).toBe(1);
    expect(outcomeOf(await send(two[0]!.url, one, key))).toEqual(outcomeOf(answer));
    if (id === 'createSession')
      expect(
        await database.query('select 1 from audit_entry where action = $1 and object_id = $2', [
          id,
          answer.body.id,
        ]),
      ).toHaveLength(1);
  });

  test('is killed after an ingest’s commit, the same file makes no second session', async () => {
    const { one, sessions } = await identifiedFile();
    await expect(send(dying['ingest-fed'].url, one)).rejects.toThrow('fetch failed');
    expect(await dying['ingest-fed'].ended).toBe('SIGKILL');
    expect(await sessions()).toBe(1);
    expect((await send(api.url, one)).status).toBe(200);
    expect(await sessions()).toBe(1);
  });

  test('stalls past its lease, it creates nothing under a key that another process acquired', async () => {
    const { one } = requests.uploadNodeOutput!();
    const key = randomUUID();
    const stalled = await processes.startApi();
    const { sent, answer } = slowUpload(stalled.url, one, key);
    const keyDigest = createHash('sha256').update(key).digest();
    await eventually('the key is held', async () => {
      const held = await database.query('select 1 from idempotency_key where key_digest = $1', [keyDigest]);
      return held.length > 0;
    });
    stalled.kill('SIGSTOP');
    const taken = await untilAnswered(api.url, one, key);
    expect(taken.status).toBe(201);
    stalled.kill('SIGCONT');
    sent();
    expect((await answer).status).toBe(409);
    expect(await countOf('uploadNodeOutput', one)).toBe(1);
    expect(outcomeOf(await send(api.url, one, key))).toEqual(outcomeOf(taken));
  });

  test('lives, it keeps its key for longer than a lease', async () => {
    const { one } = requests.uploadNodeOutput!();
    const key = randomUUID();
    const { sent, answer } = slowUpload(two[0]!.url, one, key);
    await eventually('the lease was renewed', async () => {
      const rows = await database.query(
        `select 1 from idempotency_key
          where made_at is null and lease_until > created_at + make_interval(secs => $1 + 1)`,
        [limits.idempotencyKeyLeaseSeconds],
      );
      return rows.length > 0;
    });
    expect((await send(api.url, one, key)).status).toBe(409);
    sent();
    expect((await answer).status).toBe(201);
  });
});

/** An upload whose last byte goes when `sent` is called. */
function slowUpload(url: string, one: KeyedRequest, key: string) {
  const bytes = Buffer.from(one.bytes!);
  const all = Promise.withResolvers<void>();
  async function* body() {
    yield bytes.subarray(0, -1);
    await all.promise;
    yield bytes.subarray(-1);
  }
  const answer = fetch(url + one.path, {
    method: 'POST',
    headers: { 'content-type': 'text/csv', authorization: `Bearer ${one.token}`, 'idempotency-key': key },
    body: body(),
    duplex: 'half',
  } as unknown as RequestInit);
  return { sent: all.resolve, answer };
}

/** An identified file for a separate ingest, which makes a session for each upload. */
async function identifiedFile(projectFields: object = {}) {
  const projectId = await world.newProject(projectFields);
  const { urlPath } = await newIngest({ projectId, allowAnonymous: true });
  const one: KeyedRequest = {
    path: `/ingest/${urlPath}`,
    bytes: 'a,b\n1,2\n',
    headers: { 'x-platform-output-identifier': 'r0', 'x-platform-output-metadata': '{"lap":1}' },
  };
  const sessions = async () =>
    (await database.query('select 1 from session where project_id = $1', [projectId])).length;
  return { one, sessions, projectId };
}

describe('an identified file sent to an ingest that makes sessions', () => {
  test('makes one, however often and at however many processes it is repeated', async () => {
    const { one, sessions } = await identifiedFile();
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) => send(two[index % 2]!.url, one)),
    );
    const [first] = answers;
    for (const { body } of answers) expect(body).toEqual(first!.body);
    expect(answers.map(({ status }) => status).sort()).toEqual([...Array(19).fill(200), 201]);
    expect(outcomeOf(await send(api.url, one))).toEqual({ status: 200, body: first!.body });
    expect(await sessions()).toBe(1);
    await expectOnlyReferredObjects(platform, database);
  });

  test('makes another one with other bytes, another type, other metadata or at another ingest', async () => {
    const { one, sessions } = await identifiedFile();
    const others: KeyedRequest[] = [
      { ...one, bytes: 'a,b\n1,3\n' },
      { ...one, headers: { ...one.headers, 'content-type': 'application/csv' } },
      { ...one, headers: { ...one.headers, 'x-platform-output-metadata': '{"lap":2}' } },
      { ...one, headers: { ...one.headers, 'x-platform-output-identifier': 'r1' } },
    ];
    for (const other of [one, ...others]) expect((await send(api.url, other)).status).toBe(201);
    for (const other of [one, ...others]) expect((await send(api.url, other)).status).toBe(200);
    expect(await sessions()).toBe(5);
    const elsewhere = await identifiedFile();
    expect((await send(api.url, elsewhere.one)).status).toBe(201);
  });

  test('is answered before its body if a header has the checksum', async () => {
    const { one } = await identifiedFile();
    const first = await send(api.url, one);
    const sha256 = createHash('sha256').update(one.bytes!).digest('base64');
    const headers = { 'x-amz-checksum-sha256': sha256, 'content-length': '2000000' };
    expect(await sendHead(api.url, one, headers)).toEqual({ status: 200, body: first.body });
  });

  test('of a queued project is queued once', async () => {
    const { one, sessions, projectId } = await identifiedFile({ QueuedIngestion: true });
    const answers = [await send(api.url, one), await send(two[0]!.url, one)];
    expect(answers.map(({ status }) => status)).toEqual([202, 202]);
    expect(answers[1]!.body).toEqual(answers[0]!.body);
    expect(
      await database.query('select 1 from queued_upload where project_id = $1', [projectId]),
    ).toHaveLength(1);
    expect(await sessions()).toBe(1);
  });
});

test('keys are removed after their day, and not while they are held', async () => {
  await send(api.url, requests.createProject!().one, randomUUID());
  const keys = new IdempotencyKeys(database);
  const hold = {
    caller: 'test',
    keyDigest: Buffer.from('held'),
    requestDigest: Buffer.from('held'),
    holder: randomUUID(),
    isSecret: false,
    body: null,
    made: null,
    sealResult: () => Buffer.alloc(0),
  };
  await keys.acquire(hold);
  await database.query("update idempotency_key set created_at = created_at - interval '25 hours'");
  expect(await sweepIdempotencyKeys(database)).toBeGreaterThan(0);
  expect(await database.query('select caller from idempotency_key')).toEqual([{ caller: 'test' }]);
  await keys.release(hold);
  expect(await database.query('select caller from idempotency_key')).toEqual([]);
});
