import { connect } from 'node:net';
import { describe, expect, test } from 'vitest';
import { limits } from '../../domain/limits.ts';
import { BodyPlaces } from '../../http/bodies/body-places.ts';
import { startedApi } from '../support/api.ts';
import { eventually } from '../support/eventually.ts';
import { echo, plain } from './machinery-routes.ts';

const { api } = await startedApi({ routes: [echo, plain] });

async function post(body: Uint8Array<ArrayBuffer> | ReadableStream, type?: string) {
  const headers: Record<string, string> = type === undefined ? {} : { 'content-type': type };
  const sent = { method: 'POST', body, headers, duplex: 'half' } as RequestInit;
  const response = await fetch(`${api.url}/echo/7`, sent);
  return [response.status, ((await response.json()) as { title?: string }).title];
}
const bytes = (text: string) => new Uint8Array(Buffer.from(text));

test('is read as JSON for any Content-Type', async () => {
  const types = ['application/json', 'text/plain', 'nonsense', 'application/x-www-form-urlencoded'];
  for (const type of [undefined, ...types, 'multipart/form-data; boundary=x', 'application/vnd.x+json'])
    expect([type, await post(bytes('{"Title":"a"}'), type)]).toEqual([type, [201, 'a']]);
});

test('is UTF-8, also where a letter comes in pieces; a mark at its beginning is no part of it', async () => {
  const title = 'é€𝄞\u{fffd}';
  const whole = bytes(`\u{feff}{"Title":"${title}"}`);
  const pieces = new ReadableStream({
    async start(controller) {
      for (const byte of whole) {
        controller.enqueue(Uint8Array.of(byte));
        await new Promise(setImmediate);
      }
      controller.close();
    },
  });
  expect(await post(pieces)).toEqual([201, title]);
  const broken = Buffer.from('{"Title":"?"}');
  for (const wrong of [0xff, 0xc3, 0x80]) {
    broken[10] = wrong;
    expect(await post(new Uint8Array(broken))).toEqual([400, undefined]);
  }
});

test('that lacks a field is refused with its name, as a missing parameter is', async () => {
  const refused = async (query: string, body: string) => {
    const response = await fetch(`${api.url}/plain${query}`, { method: 'POST', body });
    return [response.status, ((await response.json()) as { message: string }).message];
  };
  const at = '?at=2026-03-01T10:00:00Z';
  expect(await refused('', '{}')).toEqual([400, 'query.at: is required.']);
  expect(await refused(at, '')).toEqual([400, 'body: is required.']);
  expect(await refused(at, '{}')).toEqual([400, 'body.list: is required.']);
  expect(await refused(at, '{"list":[{"name":"a"}]}')).toEqual([400, 'body.list.0.count: is required.']);
  expect(await refused(at, '{"list":[{"count":1}]}')).toEqual([400, 'A name is needed.']);
  expect(await refused(at, '{"list":1}')).toEqual([400, 'body.list: must be a list.']);
});

describe('large bodies', () => {
  const large = limits.jsonBodySmallBytes + 1;

  type Sent = ReturnType<typeof begin>;
  /** Sends the beginning of a body. */
  function begin(length = large, start = '{"Title":"') {
    const socket = connect(api.server.port, '127.0.0.1');
    let answer = '';
    socket
      .on('error', () => undefined)
      .on('data', (piece) => {
        answer += piece.toString();
      });
    const head = `POST /echo/7 HTTP/1.1\r\nHost: x\r\nContent-Length: ${length}\r\n\r\n`;
    const isSent = new Promise<void>((resolve) => socket.write(head + start, () => resolve()));
    return { socket, isSent, answer: () => answer };
  }

  /** Sends all but the last byte of an ASCII body. */
  function withoutEnd(body: string) {
    const sent = begin(body.length, body.slice(0, -1));
    return { ...sent, end: () => sent.socket.write(body.slice(-1)) };
  }

  test('of callers without a token that do not end are held in a bounded number, and delay no small one', async () => {
    const begun = Array.from({ length: limits.jsonBodiesAtOnceWithoutToken + 5 }, () => begin());
    const refused = () => begun.filter(({ answer }) => answer().includes('retry-after: 5'));
    await eventually('5 are refused', () => refused().length === 5);
    expect(refused().map(({ answer }) => answer().slice(0, 12))).toEqual(Array(5).fill('HTTP/1.1 503'));
    expect(await post(bytes('{"Title":"a"}'))).toEqual([201, 'a']);
    for (const { socket } of begun) socket.destroy();
    const whole = bytes(`{"Title":"b"}${' '.repeat(large)}`);
    await eventually('a large one is read', async () => (await post(whole))[0] === 201);
  });

  test('of one caller leave places to others', () => {
    const places = new BodyPlaces();
    const acquire = (caller: string | null) => places.acquire(caller, null);
    const held = Array.from({ length: limits.jsonBodiesAtOncePerCaller }, () => acquire('greedy'));
    expect(() => acquire('greedy')).toThrow(expect.objectContaining({ key: 'unavailable' }));
    const left = limits.jsonBodiesAtOnce - limits.jsonBodiesAtOncePerCaller;
    for (let count = 0; count < left; count += 1) acquire('another');
    expect(() => acquire('a third')).toThrow(expect.objectContaining({ key: 'unavailable' }));
    acquire(null);
    held[0]!();
    acquire('a third');
  });

  test('are parsed in turn, and a small request is answered between them', async () => {
    const fields = Array.from({ length: 20_000 }, (_, number) => `"k${number}":0`);
    const costly = Array.from({ length: 12 }, () => withoutEnd(`{"Title":"a",${fields.join(',')}}`));
    const small = withoutEnd('{"Title":"small"}');
    const all = [...costly, small];
    await Promise.all(all.map(({ isSent }) => isSent));
    for (const { end } of all) end();
    const isAnswered = ({ answer }: Sent) => answer().startsWith('HTTP/1.1 201');
    await eventually('the small one is answered', () => isAnswered(small));
    expect(costly.filter(isAnswered).length).toBeLessThan(6);
    await eventually('all are answered', () => all.every(isAnswered));
    for (const { socket } of all) socket.destroy();
  });
});
