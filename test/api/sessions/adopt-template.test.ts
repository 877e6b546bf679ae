import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ask } from '../../support/api.ts';
import { testEnvironment } from '../../support/stack.ts';
import { inputNode, tabularNode } from '../../support/templates.ts';
import { at, refused, type SessionWorld, sessionWorld } from './support.ts';

const platform = await testEnvironment();
let world: SessionWorld;
beforeAll(async () => {
  world = await sessionWorld(platform);
});
afterAll(() => world.api.stop());

type Node = ReturnType<typeof tabularNode>;
const withFormat = (node: Node, inputFormat: string): Node => ({
  ...node,
  DefaultConfiguration: { inputFormat },
});
let names = 0;
const newName = () => {
  names += 1;
  return `Adopted ${names}`;
};
const update = (name: string, nodes: readonly object[]) =>
  world.importTemplate(name, nodes, { updateIfExists: true });

async function sessionOf(SessionTemplateId: number, fields: object = {}) {
  const made = await world.call('POST', '/session', {
    ProjectId: world.projectId,
    SessionTemplateId,
    ...fields,
  });
  expect(made.status).toBe(201);
  return made.body;
}
const shown = async (id: string) => (await world.call('GET', `/api/v2/sessions/${id}`)).body;
const adopt = (id: string, json?: object, token = world.people.Instructor.token) =>
  world.call('POST', `/api/v2/session/${id}/adopt-template`, json, token);
// biome-ignore lint/suspicious/noExplicitAny: as the session is answered.
const nodesOf = (session: any): Record<string, any> =>
  Object.fromEntries(session.nodeInstances.map((node: { name: string }) => [node.name, node]));
const runsOf = (nodeId: number) =>
  world.query<{ state: string; reason: string }>(
    'select state, reason from node_run where node_instance_id = $1 order by queue_time',
    [nodeId],
  );

describe('a session whose template has become newer', () => {
  test('says so, shows what would change, and takes it over as revisions', async () => {
    const name = newName();
    const nodes = [inputNode('in'), tabularNode('out', 'in')];
    const templateId = await world.importTemplate(name, nodes);
    const session = await sessionOf(templateId);
    expect(session.templateChanged).toBe(false);
    await world.upload(nodesOf(session).in.id);
    await update(name, [nodes[0]!, withFormat(nodes[1] as Node, 'ndjson')]);
    expect((await shown(session.id)).templateChanged).toBe(true);
    expect((await sessionOf(templateId)).templateChanged).toBe(false);
    const changes = [
      {
        node: 'out',
        kind: 'configuration',
        before: { inputFormat: 'csv' },
        after: { inputFormat: 'ndjson' },
      },
    ];
    const answer = { sessionTemplateId: templateId, sessionTemplateName: name, changes };
    const dry = await adopt(session.id, { dryRun: true });
    expect([dry.status, dry.body]).toEqual([200, { ...answer, dryRun: true }]);
    expect(nodesOf(await shown(session.id)).out.configuration).toBe('{"inputFormat":"csv"}');
    const done = await adopt(session.id);
    expect([done.status, done.body]).toEqual([200, { ...answer, dryRun: false }]);
    const after = await shown(session.id);
    expect(after).toMatchObject({ templateChanged: false, sessionTemplateId: templateId });
    expect(nodesOf(after).out).toMatchObject({
      id: nodesOf(session).out.id,
      configuration: '{"inputFormat":"ndjson"}',
    });
    const { body } = await world.call(
      'GET',
      `/api/v2/node-instance/${nodesOf(after).out.id}/configuration/revisions`,
    );
    expect(body.revisions).toMatchObject([
      { revision: 2, configuration: { inputFormat: 'ndjson' }, changedBy: world.people.Instructor.userId },
      { revision: 1, configuration: { inputFormat: 'csv' }, changedBy: null },
    ]);
    expect((await adopt(session.id)).body.changes).toEqual([]);
    const audited = await world.query(
      `select 1 from audit_entry where action = 'adoptSessionTemplate' and session_id = $1`,
      [session.id],
    );
    expect(audited).toHaveLength(2);
  });

  test('is not one whose node a person has changed, and adopting gives that up', async () => {
    const name = newName();
    const nodes = [inputNode('in'), tabularNode('out', 'in')];
    const session = await sessionOf(await world.importTemplate(name, nodes));
    const { out } = nodesOf(session);
    const path = `/api/v2/node-instance/${out.id}/configuration`;
    await world.call('PUT', path, { configuration: { inputFormat: 'json' } });
    expect((await shown(session.id)).templateChanged).toBe(false);
    await update(name, [nodes[0]!, withFormat(nodes[1] as Node, 'tsv')]);
    expect((await shown(session.id)).templateChanged).toBe(true);
    expect((await adopt(session.id)).body.changes).toMatchObject([
      { node: 'out', before: { inputFormat: 'json' }, after: { inputFormat: 'tsv' } },
    ]);
    expect((await shown(session.id)).templateChanged).toBe(false);
    expect((await world.call('GET', path)).body).toEqual({
      revision: 3,
      configuration: { inputFormat: 'tsv' },
    });
    await world.call('PUT', path, { configuration: { inputFormat: 'csv' } });
    expect((await shown(session.id)).templateChanged).toBe(false);
  });
});

describe('a session adopts another template', () => {
  const before = () => [inputNode('in'), tabularNode('kept', 'in'), tabularNode('gone', 'in')];

  test('with added nodes, which run over what their parents have; nodes of the same name keep their outputs', async () => {
    const old = await world.importTemplate(newName(), before());
    const name = newName();
    const other = await world.importTemplate(name, [
      inputNode('second'),
      inputNode('in'),
      tabularNode('added', 'in'),
      withFormat(tabularNode('kept', 'in'), 'auto'),
      tabularNode('gone', 'in'),
      tabularNode('last', 'added', 'second'),
    ]);
    const session = await sessionOf(old);
    const { in: input, kept } = nodesOf(session);
    const uploaded = await world.upload(input.id);
    const dry = await adopt(session.id, { sessionTemplateId: other, dryRun: true });
    const { body } = await adopt(session.id, { sessionTemplateId: other });
    expect(body).toEqual({ ...dry.body, dryRun: false });
    const added = (node: string, after: object) => ({ node, kind: 'added', before: null, after });
    expect(body).toEqual({
      sessionTemplateId: other,
      sessionTemplateName: name,
      dryRun: false,
      changes: [
        added('second', { dataSourceName: 'platform' }),
        added('added', { inputFormat: 'csv' }),
        {
          node: 'kept',
          kind: 'configuration',
          before: { inputFormat: 'csv' },
          after: { inputFormat: 'auto' },
        },
        added('last', { inputFormat: 'csv' }),
      ],
    });
    const after = await shown(session.id);
    expect(after.nodeInstances.map((node: { name: string }) => node.name)).toEqual([
      'second',
      'in',
      'added',
      'kept',
      'gone',
      'last',
    ]);
    const nodes = nodesOf(after);
    expect([nodes.in.id, nodes.kept.id]).toEqual([input.id, kept.id]);
    expect(nodes.in.currentOutputId).toBe(uploaded.body.id);
    expect(nodes.last.parentIds).toEqual([nodes.added.id, nodes.second.id]);
    expect(await runsOf(nodes.added.id)).toEqual([{ state: 'queued', reason: 'input' }]);
    expect(await runsOf(nodes.last.id)).toEqual([]);
    // The next upload reaches old and added nodes.
    const [{ childIds }] = (await world.query<{ childIds: number[] }>(
      'select child_ids from node_instance where id = $1',
      [input.id],
    )) as [{ childIds: number[] }];
    expect(childIds).toEqual([nodes.added.id, nodes.kept.id, nodes.gone.id]);
    const [first] = (
      await world.call('GET', `/api/v2/node-instance/${nodes.added.id}/configuration/revisions`)
    ).body.revisions;
    expect(first).toMatchObject({ revision: 1, changedBy: world.people.Instructor.userId });
    expect((await world.call('GET', `/api/v2/session?sessionTemplateId=${other}`)).body.totalCount).toBe(1);
  });

  test('that lacks a node or gives it other parents, while the node has not run', async () => {
    const old = await world.importTemplate(newName(), before());
    const other = await world.importTemplate(newName(), [
      inputNode('in'),
      inputNode('more'),
      tabularNode('kept', 'more', 'in'),
    ]);
    const session = await sessionOf(old);
    const { body } = await adopt(session.id, { sessionTemplateId: other });
    expect(body.changes).toEqual([
      { node: 'gone', kind: 'removed', before: { inputFormat: 'csv' }, after: null },
      { node: 'more', kind: 'added', before: null, after: { dataSourceName: 'platform' } },
      { node: 'kept', kind: 're-parented', before: ['in'], after: ['more', 'in'] },
    ]);
    const nodes = nodesOf(await shown(session.id));
    expect(Object.keys(nodes)).toEqual(['in', 'more', 'kept']);
    expect(nodes.kept.parentIds).toEqual([nodes.more.id, nodes.in.id]);
  });

  test('and is refused once the node has run: nothing changes, and each node is named', async () => {
    const old = await world.importTemplate(newName(), [...before(), inputNode('unused')]);
    const other = await world.importTemplate(newName(), [
      inputNode('in'),
      inputNode('gone'),
      tabularNode('between', 'in'),
      tabularNode('kept', 'between'),
      tabularNode('elsewhere', 'in'),
    ]);
    const session = await sessionOf(old);
    await world.upload(nodesOf(session).in.id);
    const message = 'The session cannot adopt the session template.';
    for (const dryRun of [true, false]) {
      const { status, body } = await adopt(session.id, { sessionTemplateId: other, dryRun });
      expect([status, body]).toEqual([
        409,
        {
          status: 'error',
          message: `${message} The node 'gone' has run and cannot get another node template.`,
          refusals: [
            { node: 'gone', message: "The node 'gone' has run and cannot get another node template." },
            { node: 'kept', message: "The node 'kept' has run and cannot get other parents." },
          ],
        },
      ]);
    }
    expect(nodesOf(await shown(session.id))).toMatchObject(
      Object.fromEntries(Object.entries(nodesOf(session)).map(([name, { id }]) => [name, { id }])),
    );
    const without = await world.importTemplate(newName(), [inputNode('unused')]);
    expect((await adopt(session.id, { sessionTemplateId: without })).body.refusals).toHaveLength(3);
  });

  test('while an upload is under way to a node that would be removed: the node counts as one that has run', async () => {
    const old = await world.importTemplate(newName(), [inputNode('in'), inputNode('busy')]);
    const other = await world.importTemplate(newName(), [inputNode('in')]);
    const session = await sessionOf(old);
    await world.query(
      `insert into pending_object (object_key, data_source_id, node_instance_id)
       select $1, id, $2 from data_source where name = 'platform'`,
      [`outputs/${session.id}`, nodesOf(session).busy.id],
    );
    expect((await adopt(session.id, { sessionTemplateId: other })).body.refusals).toMatchObject([
      { node: 'busy' },
    ]);
    await world.query('delete from pending_object where object_key = $1', [`outputs/${session.id}`]);
    expect((await adopt(session.id, { sessionTemplateId: other })).status).toBe(200);
  });

  test('not while the machines of a shared session join it by its template; its own it may adopt', async () => {
    const made = await world.join({ machineGroup: 77, startTimeUtc: at(9_000) });
    expect(made.status).toBe(201);
    const other = await world.importTemplate(newName(), [inputNode('in'), tabularNode('out', 'in')]);
    const { status, body } = await adopt(made.body.id, { sessionTemplateId: other });
    expect([status, body.refusals]).toMatchObject([409, [{ node: null }]]);
    expect((await adopt(made.body.id)).status).toBe(200);
    await world.call('POST', `/api/v2/session/${made.body.id}/close`, {}, world.people.Administrator.token);
    expect((await adopt(made.body.id, { sessionTemplateId: other })).status).toBe(200);
  });
});

test('two adoptions and an upload at the same moment: nodes are added once, and each runs over the upload', async () => {
  const old = await world.importTemplate(newName(), [inputNode('in')]);
  const other = await world.importTemplate(newName(), [inputNode('in'), tabularNode('added', 'in')]);
  for (let round = 0; round < 5; round++) {
    const session = await sessionOf(old);
    const answers = await Promise.all([
      adopt(session.id, { sessionTemplateId: other }),
      world.upload(nodesOf(session).in.id),
      adopt(session.id, { sessionTemplateId: other }),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([200, 201, 200]);
    expect(answers[0].body.changes.length + answers[2].body.changes.length).toBe(1);
    const nodes = nodesOf(await shown(session.id));
    expect(Object.keys(nodes)).toEqual(['in', 'added']);
    expect(await runsOf(nodes.added.id)).toEqual([{ state: 'queued', reason: 'input' }]);
  }
});

test('a frozen session, a session or a template that is not there, and callers who may not, are refused', async () => {
  const session = await sessionOf(world.templateId);
  const { people } = world;
  expect(await adopt('018f0000-0000-7000-8000-000000000001')).toMatchObject(
    refused(404, 'Session not found.'),
  );
  expect(await adopt(session.id, { sessionTemplateId: 999_999 })).toMatchObject(
    refused(404, 'Session template not found.'),
  );
  for (const token of [people.Trainee.token, people.offlineToken])
    expect((await adopt(session.id, {}, token)).status).toBe(403);
  for (const { token } of [people.Administrator, people.Developer])
    expect((await adopt(session.id, {}, token)).status).toBe(200);
  await world.call('POST', `/api/v2/sessions/${session.id}/freeze`);
  for (const dryRun of [true, false])
    expect(await adopt(session.id, { dryRun })).toMatchObject(refused(400, 'Session is frozen.'));
});

test('a repeat under an idempotency key gets the first answer', async () => {
  const old = await world.importTemplate(newName(), [inputNode('in')]);
  const other = await world.importTemplate(newName(), [inputNode('in'), tabularNode('added', 'in')]);
  const session = await sessionOf(old);
  const call = () =>
    ask(world.api.url, 'POST', `/api/v2/session/${session.id}/adopt-template`, {
      token: world.people.Developer.token,
      json: { sessionTemplateId: other },
      headers: { 'idempotency-key': `adopt-${session.id}` },
    });
  const [first, again] = [await call(), await call()];
  expect([again.status, again.body]).toEqual([first.status, first.body]);
  expect(first.body.changes).toHaveLength(1);
});
