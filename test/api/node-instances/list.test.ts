import { randomBytes, randomUUID } from 'node:crypto';
import { get, type IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import type { SessionOutputs } from '../../../client/types.ts';
import { jsonPieces } from '../../../http/bodies/json-items.ts';
import { outputPages } from '../../../store/outputs/output-pages.ts';
import { eventually } from '../../support/eventually.ts';
import { publishRows, uploadWorld } from './support.ts';

const world = await uploadWorld({ DATABASE_POOL_SIZE: '2' });
const { api, database, makeNode, send, upload, token } = world;

const publishMany = (nodeId: number, sessionId: string, count: number) =>
  publishRows(database, { nodeId, sessionId, count });
const pathOf = (nodeId: number) => `/api/v2/node-instance/${nodeId}/outputs`;
const open = (nodeId: number) =>
  new Promise<IncomingMessage>((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}` };
    get(api.url + pathOf(nodeId), { headers, agent: false }, resolve).on('error', reject);
  });
const identifiers = (bytes: Buffer) =>
  (JSON.parse(String(bytes)) as { outputIdentifier: string }[]).map((output) => output.outputIdentifier);

describe('the outputs of a node', () => {
  test('are listed in order for any number, page by page', async () => {
    const { nodeId, sessionId } = await makeNode();
    await publishMany(nodeId, sessionId, 1_000);
    const pages: number[] = [];
    for await (const page of outputPages(database, nodeId)) pages.push(page.length);
    expect(pages.length).toBeGreaterThan(4);
    expect(Math.max(...pages)).toBeLessThanOrEqual(100);
    const listed = identifiers((await send('GET', pathOf(nodeId))).bytes);
    expect(listed).toEqual(Array.from({ length: 1_000 }, (_, at) => `many-${at + 1}`));
  });

  test('are read in smaller pages where each is large', async () => {
    const { nodeId, sessionId } = await makeNode(
      JSON.stringify({ dataSourceName: 'platform', a: 'b'.repeat(60_000) }),
    );
    await publishMany(nodeId, sessionId, 40);
    const pages: number[] = [];
    for await (const page of outputPages(database, nodeId)) pages.push(page.length);
    expect(pages.slice(1).every((count) => count <= 5)).toBe(true);
    expect((await send('GET', pathOf(nodeId))).bytes.length).toBeGreaterThan(40 * 60_000);
  });

  test('are those of the beginning, each once, although some are replaced meanwhile', async () => {
    const { nodeId, sessionId } = await makeNode();
    await publishMany(nodeId, sessionId, 50);
    const pages = outputPages(database, nodeId);
    const listed: [string, string | null][] = [];
    for await (const page of pages) {
      if (listed.length === 0) {
        for (const identifier of ['many-1', 'many-40'])
          await upload(nodeId, Buffer.from('new'), { 'x-platform-output-identifier': identifier });
      }
      for (const { output } of page) listed.push([output.outputIdentifier, output.sha256]);
    }
    expect(listed).toEqual(Array.from({ length: 50 }, (_, at) => [`many-${at + 1}`, null]));
  });

  test('are 404 without outputs, and for an unknown node', async () => {
    const { nodeId } = await makeNode();
    for (const id of [nodeId, 999_999]) expect((await send('GET', pathOf(id))).status).toBe(404);
  });

  test('are only the one of an identifier that is asked for', async () => {
    const { nodeId, sessionId } = await makeNode();
    await publishMany(nodeId, sessionId, 12);
    const named = (name: string) => send('GET', `${pathOf(nodeId)}?identifier=${encodeURIComponent(name)}`);
    const all = (await send('GET', pathOf(nodeId))).json() as object[];
    expect((await named('many-1')).json()).toEqual([all[0]]);
    await upload(nodeId, Buffer.from('new'), { 'x-platform-output-identifier': 'many-1' });
    expect((await named('many-1')).json()).toMatchObject([{ outputIdentifier: 'many-1', sizeBytes: 3 }]);
    await database.query(
      "update node_output set position = null where node_instance_id = $1 and output_identifier = 'many-2'",
      [nodeId],
    );
    // A part, other capitals, a staged output.
    for (const name of ['many-', 'MANY-1', 'many-2']) expect((await named(name)).status).toBe(404);
    for (const name of ['', 'a b', 'x'.repeat(101), 'many_%\0'])
      expect(await named(name)).toMatchObject({ status: 400 });
  });

  test('hold no database connection while their readers are slow', async () => {
    const { nodeId, sessionId } = await makeNode(
      JSON.stringify({ dataSourceName: 'platform', a: 'b'.repeat(60_000) }),
    );
    await publishMany(nodeId, sessionId, 200);
    const readers = await Promise.all(Array.from({ length: 4 }, () => open(nodeId)));
    await eventually('nothing asks the database any more', async () => {
      const { totalCount, idleCount, waitingCount } = database.pool;
      return totalCount === idleCount && waitingCount === 0;
    });
    const small = await makeNode();
    await publishMany(small.nodeId, small.sessionId, 1);
    expect((await send('GET', pathOf(small.nodeId))).status).toBe(200);
    for (const reader of readers) expect(identifiers(await buffer(reader))).toHaveLength(200);
  });
});

describe('the outputs of a session', () => {
  const list = async (sessionId: string, query = '') => {
    const answer = await send('GET', `/api/v2/session/${sessionId}/outputs${query}`);
    return { status: answer.status, body: answer.json() as SessionOutputs };
  };
  const names = (page: SessionOutputs) => page.outputs.map((output) => output.outputIdentifier);
  /** Outputs of two nodes, published one after the other: `a` to `d` of the input, then five of its child. */
  const twoNodes = async () => {
    const { nodeId, nodes, sessionId } = await makeNode();
    for (const name of ['a', 'b', 'c', 'd'])
      await upload(nodeId, Buffer.from(name), {
        'x-platform-output-identifier': name,
        'x-platform-output-metadata': JSON.stringify({ fileName: `Lap 100% ${name}.csv` }),
      });
    await publishMany(nodes.child!, sessionId, 5);
    return { nodeId, childId: nodes.child!, sessionId };
  };

  test('are those of all nodes, newest first, as the lists of the nodes show them', async () => {
    const { nodeId, sessionId } = await twoNodes();
    const { body } = await list(sessionId);
    expect(names(body)).toEqual(['many-5', 'many-4', 'many-3', 'many-2', 'many-1', 'd', 'c', 'b', 'a']);
    expect(body).toMatchObject({ totalCount: 9, totalCountIsExact: true, nextCursor: null });
    const ofNode = JSON.parse(String((await send('GET', pathOf(nodeId))).bytes)) as object[];
    const shown = ofNode.map((output) => ({ ...output, configuration: undefined })).toReversed();
    expect(body.outputs.slice(5)).toEqual(shown);
  });

  test('are read page by page, each once, although others are published and replaced meanwhile', async () => {
    const { nodeId, sessionId } = await twoNodes();
    const seen: string[] = [];
    let query = '?limit=4';
    for (;;) {
      const { body } = await list(sessionId, query);
      expect(body.outputs.length).toBeLessThanOrEqual(4);
      seen.push(...names(body));
      if (body.nextCursor === null) break;
      query = `?limit=4&cursor=${body.nextCursor}`;
      await upload(nodeId, Buffer.from('new'), { 'x-platform-output-identifier': 'a' });
    }
    expect(seen).toEqual(['many-5', 'many-4', 'many-3', 'many-2', 'many-1', 'd', 'c', 'b']);
  });

  test('are those of one node, the newest of each, or those with a name', async () => {
    const { nodeId, childId, sessionId } = await twoNodes();
    expect(names((await list(sessionId, `?nodeInstanceId=${nodeId}`)).body)).toEqual(['d', 'c', 'b', 'a']);
    const latest = (await list(sessionId, '?latest=true')).body;
    expect([names(latest), latest.totalCount]).toEqual([['many-5', 'd'], 2]);
    const second = (await list(sessionId, '?latest=true&limit=1')).body;
    expect(second.totalCount).toBe(2);
    const rest = (await list(sessionId, `?latest=true&limit=1&cursor=${second.nextCursor}`)).body;
    expect([names(second), names(rest), rest.nextCursor]).toEqual([['many-5'], ['d'], null]);
    const found = (await list(sessionId, `?search=${encodeURIComponent('LAP 100% C')}`)).body;
    expect([names(found), found.totalCount]).toEqual([['c'], 1]);
    expect(names((await list(sessionId, '?search=10_%25')).body)).toEqual([]);
    expect(names((await list(sessionId, '?search=MANY-3')).body)).toEqual(['many-3']);
    const other = await makeNode();
    expect(names((await list(other.sessionId, `?nodeInstanceId=${childId}`)).body)).toEqual([]);
  });

  test('are fewer on a page where each has much metadata', async () => {
    const { nodeId, sessionId } = await makeNode();
    await publishMany(nodeId, sessionId, 60);
    // Random, so that the database cannot make it smaller.
    const metadata = JSON.stringify({ channels: randomBytes(30_000).toString('hex') });
    await database.query('update node_output set metadata = $2 where node_instance_id = $1', [
      nodeId,
      metadata,
    ]);
    const seen: string[] = [];
    let pages = 0;
    for (let cursor: string | null = '99999'; cursor !== null; pages += 1) {
      const { body } = await list(sessionId, `?limit=500&cursor=${cursor}`);
      expect(body.outputs.length).toBeLessThan(60);
      seen.push(...names(body));
      cursor = body.nextCursor;
    }
    expect(pages).toBeGreaterThan(1);
    expect(seen).toEqual(Array.from({ length: 60 }, (_, at) => `many-${60 - at}`));
  });

  test('are counted to a bound', async () => {
    const { nodeId, sessionId } = await makeNode();
    await publishMany(nodeId, sessionId, 10_001);
    const { body } = await list(sessionId, '?limit=1');
    expect(body).toMatchObject({ totalCount: 10_000, totalCountIsExact: false });
    expect(names(body)).toEqual(['many-10001']);
  });

  test.each([
    ['limit=0'],
    ['limit=501'],
    ['cursor=x'],
    ['cursor=-1'],
    ['search='],
    ['nodeInstanceId=0'],
    ['latest=maybe'],
  ])('are refused for %s', async (query) => {
    const { sessionId } = await makeNode();
    expect(await list(sessionId, `?${query}`)).toMatchObject({ status: 400, body: { status: 'error' } });
  });

  test('are an empty list without any, and 404 for an unknown session', async () => {
    const { sessionId } = await makeNode();
    expect((await list(sessionId)).body).toEqual({
      outputs: [],
      totalCount: 0,
      totalCountIsExact: true,
      nextCursor: null,
    });
    for (const id of [randomUUID(), 'x']) expect((await list(id)).status).toBe(404);
  });
});

test('an array is made only as far as it is read', async () => {
  let made = 0;
  async function* pages() {
    while (made < 100) {
      made += 1;
      yield Array.from({ length: 10 }, () => 'x'.repeat(10_000));
    }
  }
  await jsonPieces(pages(), (item) => item).next();
  expect(made).toBe(1);
  const none = jsonPieces((async function* () {})(), (item) => item);
  expect(await none.next()).toEqual({ done: true, value: '[]' });
});
