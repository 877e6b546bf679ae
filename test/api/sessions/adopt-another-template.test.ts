/** A session adopts another template than its own. */
import { describe, expect, test } from 'vitest';
import { inputNode, tabularNode } from '../../support/templates.ts';
import { adoptWorld } from './adopt-world.ts';
import { at } from './support.ts';

const { world, withFormat, newName, sessionOf, shown, adopt, nodesOf, runsOf } = await adoptWorld();

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
