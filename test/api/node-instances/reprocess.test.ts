import { beforeAll, expect, test } from 'vitest';
import { sweepAbandonedObjects } from '../../../store/objects/pending-objects.ts';
import { sweepSupersededOutputs } from '../../../store/outputs/versions.ts';
import { ask, makePeople, type People } from '../../support/api.ts';
import { uploadWorld } from './support.ts';

const world = await uploadWorld();
const { api, database } = world;
let people: People;
beforeAll(async () => {
  people = await makePeople(api.url, world.platform);
});

const reprocess = (nodeId: number | string, token: string | null = people.Developer.token) =>
  ask(api.url, 'POST', `/api/v2/node-instance/${nodeId}/reprocess`, token === null ? {} : { token });
const refused = (message: string) => ({ status: 'error', message });

test('an Input node’s newest output is appended once more with the same bytes, and the node below runs', async () => {
  const { nodeId, nodes } = await world.makeNode();
  const original = (
    await world.upload(nodeId, Buffer.from('t,x\n0,1\n'), { 'content-type': 'text/csv' })
  ).json();
  const answer = await reprocess(nodeId);
  expect(answer.status).toBe(202);
  expect(answer.body).toEqual({ nodeInstanceId: nodeId, status: 'queued', message: 'Reprocessing queued.' });
  const list = (await world.send('GET', `/api/v2/node-instance/${nodeId}/outputs`)).json() as {
    id: number;
    metadata: unknown;
    sha256: string;
  }[];
  expect(list).toHaveLength(2);
  expect(list[0]).toEqual(original);
  expect(list[1]).toMatchObject({
    sha256: list[0]!.sha256,
    metadata: { $copyOf: { outputId: list[0]!.id } },
  });
  const copy = await world.send('GET', `/api/v2/node-instance/outputs/${list[1]!.id}/data`);
  expect(copy.bytes.toString()).toBe('t,x\n0,1\n');
  expect(copy.headers['content-type']).toBe('text/csv');
  const runs = await database.query('select state from node_run where node_instance_id = $1', [nodes.child]);
  expect(runs).toEqual([{ state: 'queued' }]);
});

test('an object that two outputs share is kept until neither needs it', async () => {
  const { nodeId } = await world.makeNode();
  const first = (
    await world.upload(nodeId, Buffer.from('shared'), { 'x-platform-output-identifier': 'a' })
  ).json() as {
    id: number;
  };
  await reprocess(nodeId);
  const replaced = await world.upload(nodeId, Buffer.from('new'), { 'x-platform-output-identifier': 'a' });
  expect(replaced.status).toBe(200);
  await sweepSupersededOutputs(database, { olderThanSeconds: 0 });
  await sweepAbandonedObjects(database, api.composed.services.objects, { olderThanSeconds: 3600 });
  const list = (await world.send('GET', `/api/v2/node-instance/${nodeId}/outputs`)).json() as {
    id: number;
  }[];
  const bytes = [];
  for (const { id } of list)
    bytes.push((await world.send('GET', `/api/v2/node-instance/outputs/${id}/data`)).bytes.toString());
  expect(bytes).toEqual(['shared', 'new']);
  expect(list[1]!.id).toBe(first.id);
});

test('a node that is missing, frozen or without inputs is refused in this order', async () => {
  for (const id of [999_999_999, 'abc', '0'])
    expect(await reprocess(id)).toMatchObject({ status: 404, body: refused('Node instance not found.') });
  const { nodeId, nodes, sessionId } = await world.makeNode();
  for (const id of [nodeId, nodes.child!])
    expect(await reprocess(id)).toMatchObject({ status: 400, body: refused('Node has no inputs.') });
  await database.query('update session set frozen_at = now() where id = $1', [sessionId]);
  expect(await reprocess(nodeId)).toMatchObject({ status: 400, body: refused('Session is frozen.') });
});

test('only Administrators and Developers may, and no offline token', async () => {
  const { nodeId } = await world.makeNode();
  await world.upload(nodeId, Buffer.from('x'));
  expect((await reprocess(nodeId, null)).status).toBe(401);
  for (const token of [people.Instructor.token, people.Trainee.token, people.offlineToken])
    expect((await reprocess(nodeId, token)).status).toBe(403);
  for (const token of [people.Administrator.token, people.Developer.token])
    expect((await reprocess(nodeId, token)).status).toBe(202);
});
