import { expect, test } from 'vitest';
import { startedApi } from '../support/api.ts';
import { echo } from './machinery-routes.ts';

const { api } = await startedApi({ routes: [echo] });

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
