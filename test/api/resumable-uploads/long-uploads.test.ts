import { expect, test } from 'vitest';
import { metadataOf, tusWorld } from './support.ts';

const { database, makeNode, begin, piece, outputsOf } = await tusWorld();
const forget = () =>
  database.query(`update idempotency_key set created_at = created_at - interval '25 hours'`);

test('an upload that takes longer than its Idempotency-Key is remembered goes on under the key', async () => {
  const { nodeId } = await makeNode();
  const headers = {
    'idempotency-key': `long-${nodeId}`,
    'upload-metadata': metadataOf({ identifier: 'long.csv' }),
  };
  const { location } = (await begin(nodeId, 4, headers)).headers;
  await piece(location!, 0, Buffer.from('ab'));
  await forget();
  const again = await begin(nodeId, 4, headers);
  expect([again.status, again.headers.location, again.headers['upload-offset']]).toEqual([
    201,
    location,
    '2',
  ]);
  expect((await piece(location!, 2, Buffer.from('cd'))).headers['x-platform-upload-state']).toBe('published');
  expect(await outputsOf(nodeId)).toHaveLength(1);
});

test('a key that is no longer remembered begins another upload, and one anew where the first is over', async () => {
  const { nodeId } = await makeNode();
  const headers = { 'idempotency-key': `again-${nodeId}` };
  const first = await begin(nodeId, 4, headers);
  await forget();
  const longer = await begin(nodeId, 5, headers);
  expect([longer.status, longer.headers['upload-offset']]).toEqual([201, '0']);
  expect(longer.headers.location).not.toBe(first.headers.location);
  await piece(first.headers.location!, 0, Buffer.from('abcd'));
  await forget();
  const anew = await begin(nodeId, 4, headers);
  expect([anew.status, anew.headers['upload-offset']]).toEqual([201, '0']);
  expect(anew.headers.location).not.toBe(first.headers.location);
});
