/** Replies of much JSON. */
import { connect } from 'node:net';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { defineRoute } from '../../api/route.ts';
import { access } from '../../domain/access/access.ts';
import { limits } from '../../domain/limits.ts';
import { ReplyRoom } from '../../http/bodies/reply-room.ts';
import { startedApi } from '../support/api.ts';
import { eventually } from '../support/eventually.ts';

const tags = ['Test'];
const longReply = 'x'.repeat(8 * 1024 * 1024);
const longGet = defineRoute({
  id: 'longGet',
  method: 'GET',
  path: '/long',
  summary: 'Replies with much JSON',
  tags,
  access: access.open,
  responses: { 200: { description: 'Long.', schema: z.object({ text: z.string() }) } },
  handler: () => ({ status: 200, body: { text: longReply } }),
});
/** Made as it is read: rows of the database and objects are held beside its pieces. */
const longList = defineRoute({
  id: 'longList',
  method: 'GET',
  path: '/long-list',
  summary: 'Replies with much JSON, piece by piece',
  tags,
  access: access.open,
  responses: {
    200: {
      description: 'Long.',
      schema: z.object({ name: z.string(), texts: z.array(z.string()), count: z.int() }),
      listed: 'texts',
    },
  },
  handler: () => ({
    status: 200,
    body: { name: 'long' },
    items: (async function* () {
      for (let page = 0; page < 4; page += 1) yield [longReply.slice(0, longReply.length / 4)];
    })(),
    rest: () => ({ count: 4 }),
  }),
});
const longPost = defineRoute({
  id: 'longPost',
  method: 'POST',
  path: '/long',
  summary: 'Replies with much JSON to a change',
  tags,
  access: access.open,
  audit: { notHere: 'A test.' },
  responses: { 201: { description: 'Long.', schema: z.object({ text: z.string() }) } },
  handler: () => ({ status: 201, body: { text: longReply } }),
});

const { api } = await startedApi({ routes: [longGet, longList, longPost] });

describe('long JSON replies that are not read', () => {
  const open = (path: string) => {
    const socket = connect(Number(new URL(api.url).port), '127.0.0.1');
    let head = '';
    socket.once('data', (chunk) => {
      head = String(chunk.subarray(0, 12));
      socket.pause();
    });
    socket.write(`GET ${path} HTTP/1.1\r\nhost: x\r\n\r\n`);
    return { socket, head: () => head };
  };
  const status = async (method: string, path = '/long') => {
    const answer = await fetch(`${api.url}${path}`, { method });
    await answer.arrayBuffer();
    return answer.status;
  };

  test('may be made as they are read, around a list', async () => {
    const answer = await fetch(`${api.url}/long-list`);
    const texts = Array.from({ length: 4 }, () => longReply.slice(0, longReply.length / 4));
    expect(await answer.text()).toBe(JSON.stringify({ name: 'long', texts, count: 4 }));
  });

  describe.for(['/long', '/long-list'])('at %s', (path) => {
    test('are held in a bounded number of bytes; beyond it reads are refused, and changes are not', async () => {
      const opened: ReturnType<typeof open>[] = [];
      const count = (code: number) => opened.filter(({ head }) => head().endsWith(String(code))).length;
      const room = Math.floor(limits.unreadRepliesBytesPerCaller / longReply.length);
      for (let at = 0; at < room + 2; at += 1) {
        opened.push(open(path));
        await eventually('it is answered', () => count(200) + count(503) === at + 1);
      }
      // Each is a little longer than its text.
      expect([count(200), count(503)]).toEqual([room - 1, 3]);
      const refused = await fetch(`${api.url}${path}`);
      expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '5']);
      expect(await status('POST')).toBe(201);
      for (const { socket } of opened) socket.destroy();
      await eventually('there is room again', async () => (await status('GET', path)) === 200);
    });
  });

  test('of one caller leave room to others, and the only one of a caller is sent', () => {
    const room = new ReplyRoom();
    const { unreadRepliesBytes: all, unreadRepliesBytesPerCaller: own } = limits;
    expect(room.isFull('greedy', all + 1)).toBe(false);
    const release = room.add('greedy', own);
    expect([room.isFull('greedy', 1), room.isFull('another', own)]).toEqual([true, false]);
    for (let held = 2 * own; held <= all; held += own) room.add(`caller ${held}`, own);
    expect(room.isFull('another', own)).toBe(true);
    release();
    expect(room.isFull('another', own)).toBe(false);
  });
});
