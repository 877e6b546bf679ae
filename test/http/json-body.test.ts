import { expect, test } from 'vitest';
import { startedApi } from '../support/api.ts';
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
  expect(await refused(at, '{"list":1}')).toEqual([
    400,
    'body.list: Invalid input: expected array, received number.',
  ]);
});
