import { randomBytes } from 'node:crypto';
import { expect, inject, test } from 'vitest';
import { uploadWorld } from './support.ts';

const endpoint = inject('stackEnvironment').S3_ENDPOINT ?? '';
const { api, database, makeNode, send, upload } = await uploadWorld({ S3_DOWNLOAD_ENDPOINT: endpoint });

async function storedOutput(bytes: Buffer): Promise<string> {
  const { nodeId } = await makeNode();
  const { id } = (await upload(nodeId, bytes, { 'content-type': 'text/csv' })).json() as { id: number };
  return `/api/v2/node-instance/outputs/${id}`;
}

async function addressOf(output: string, query = ''): Promise<string> {
  const answer = await send('GET', `${output}/download-address${query}`);
  expect([answer.status, answer.headers['cache-control']]).toEqual([200, 'no-store']);
  const { address, expiresAt } = answer.json() as { address: string; expiresAt: string };
  const leftSeconds = (new Date(expiresAt).getTime() - Date.now()) / 1_000;
  expect(leftSeconds).toBeGreaterThan(200);
  expect(leftSeconds).toBeLessThanOrEqual(300);
  return address;
}

/** As a browser that follows a link. */
async function follow(address: string, init: RequestInit = {}) {
  const answer = await fetch(api.url + address, init);
  return { status: answer.status, headers: answer.headers, bytes: Buffer.from(await answer.arrayBuffer()) };
}
const notThere = {
  status: 'error',
  message: 'Nothing is at this download address, or it has expired.',
};

test('an address opens the bytes without a token, under the name that was asked for, by range too', async () => {
  const output = await storedOutput(Buffer.from('a,b\n1,2\n'));
  const address = await addressOf(output, '?fileName=lap%20eins.csv');
  const read = await follow(address);
  expect([read.status, read.bytes.toString()]).toEqual([200, 'a,b\n1,2\n']);
  expect(read.headers.get('content-disposition')).toContain('filename="lap eins.csv"');
  expect(read.headers.get('content-type')).toBe('text/csv');
  const part = await follow(address, { headers: { range: 'bytes=4-6' } });
  expect([part.status, part.bytes.toString()]).toEqual([206, '1,2']);
  expect((await follow(address, { method: 'HEAD' })).headers.get('content-length')).toBe('8');
});

test('a long name keeps its ending', async () => {
  const output = await storedOutput(Buffer.from('a,b\n'));
  const read = await follow(await addressOf(output, `?fileName=${'n'.repeat(251)}.csv`));
  expect(read.headers.get('content-disposition')).toContain(`filename="${'n'.repeat(196)}.csv"`);
});

test('large bytes come through the platform: a browser that cannot reach the store has no other way', async () => {
  const bytes = randomBytes(2 * 1024 * 1024);
  const address = await addressOf(await storedOutput(bytes));
  const read = await follow(address, { redirect: 'manual' });
  expect([read.status, read.bytes.equals(bytes)]).toEqual([200, true]);
});

test('what was not made by the platform, has expired or names an output that is gone is one 404', async () => {
  const output = await storedOutput(Buffer.from('bytes'));
  const address = await addressOf(output);
  const { secrets } = api.composed.services.objects;
  const nodeOutputId = Number(output.split('/').at(-1));
  const made = (purpose: string, untilMs: number) =>
    `/api/v2/downloads/${secrets.encrypt(JSON.stringify({ nodeOutputId, untilMs }), purpose)}`;
  const soon = Date.now() + 60_000;
  expect((await follow(made('address of a download', soon))).status).toBe(200);
  const forged = [
    made('address of a download', Date.now() - 1),
    made('another purpose', soon),
    '/api/v2/downloads/v1.AAAA',
    '/api/v2/downloads/anything',
    `/api/v2/downloads/${'a'.repeat(3_000)}`,
    // Not the last character: some of its bits count for nothing.
    address.replace(/.(?=.{20}$)/, (character) => (character === 'A' ? 'B' : 'A')),
  ];
  const refused = async (one: string) => {
    const answer = await follow(one);
    expect([answer.status, JSON.parse(answer.bytes.toString())]).toEqual([404, notThere]);
  };
  for (const one of forged) await refused(one);
  expect((await follow(address)).status).toBe(200);
  await database.query('delete from node_output where id = $1', [nodeOutputId]);
  await refused(address);
});

test('an address is made only for an output, and for those who may read it', async () => {
  const output = await storedOutput(Buffer.from('bytes'));
  expect((await send('GET', '/api/v2/node-instance/outputs/999999/download-address')).status).toBe(404);
  expect((await send('GET', `${output}/download-address?fileName=`)).status).toBe(400);
  expect((await follow(`${output}/download-address`)).status).toBe(401);
});
