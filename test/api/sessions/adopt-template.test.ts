import { describe, expect, test } from 'vitest';
import { ask } from '../../support/api.ts';
import { inputNode, tabularNode } from '../../support/templates.ts';
import { adoptWorld, type Node } from './adopt-world.ts';
import { refused } from './support.ts';

const { world, withFormat, newName, sessionOf, shown, adopt, nodesOf, runsOf } = await adoptWorld();
const update = (name: string, nodes: readonly object[]) =>
  world.importTemplate(name, nodes, { updateIfExists: true });

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

  test('shows what it took of the template, until it adopts the newer one', async () => {
    const name = newName();
    const nodes = [inputNode('in'), inputNode('also'), tabularNode('out', 'in')];
    const first = { Configuration: { defaultIngestionNode: 'in' }, Description: 'first' };
    const templateId = await world.importTemplate(name, nodes, first);
    const session = await sessionOf(templateId);
    await world.call('PUT', `/api/v2/node-instance/${nodesOf(session).also.id}/configuration`, {
      configuration: { dataSourceName: 'platform' },
    });
    const patched = async () => (await world.call('PATCH', `/api/v2/sessions/${session.id}`, {})).body;
    const before = await patched();
    expect(before.default_ingestion_node_id).toBe(nodesOf(session).in.id);
    const second = { Configuration: { defaultIngestionNode: 'also' }, Description: 'second' };
    const newer = [nodes[0]!, nodes[1]!, withFormat(nodes[2] as Node, 'ndjson')];
    await world.importTemplate(name, newer, { ...second, updateIfExists: true });
    expect((await shown(session.id)).sessionTemplate).toEqual(session.sessionTemplate);
    expect(await patched()).toEqual(before);
    const later = (await sessionOf(templateId)).sessionTemplate;
    expect(later).toEqual((await world.call('GET', `/api/v2/session/session_templates/${templateId}`)).body);
    expect(later).toMatchObject({ description: 'second', configuration: '{"defaultIngestionNode":"also"}' });
    await adopt(session.id);
    expect((await shown(session.id)).sessionTemplate).toEqual(later);
    expect(await patched()).toMatchObject({
      session_template: { description: 'second' },
      default_ingestion_node_id: nodesOf(session).also.id,
    });
  });

  test('takes another one as it is, when a change of the session names it before any data', async () => {
    const session = await sessionOf(await world.importTemplate(newName(), [inputNode('in')]));
    const name = newName();
    const other = await world.importTemplate(name, [inputNode('in')], { Description: 'first' });
    await world.importTemplate(name, [inputNode('in')], { Description: 'second', updateIfExists: true });
    const change = { session_template_id: other };
    const { body } = await world.call('PATCH', `/api/v2/sessions/${session.id}`, change);
    expect(body.session_template.description).toBe('second');
    await world.importTemplate(name, [inputNode('in')], { Description: 'third', updateIfExists: true });
    await world.call('PATCH', `/api/v2/sessions/${session.id}`, change);
    expect((await shown(session.id)).sessionTemplate.description).toBe('second');
  });

  test('made before versions were kept of sessions, shows the newest description', async () => {
    const name = newName();
    const templateId = await world.importTemplate(name, [inputNode('in')], { Description: 'first' });
    const { id } = await sessionOf(templateId);
    await world.query('update session set session_template_version = null where id = $1', [id]);
    await world.importTemplate(name, [inputNode('in')], { Description: 'second', updateIfExists: true });
    expect((await shown(id)).sessionTemplate.description).toBe('second');
  });

  test('is not one whose node a person has changed, and adopting gives that up, and says so', async () => {
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
      { node: 'out', before: { inputFormat: 'json' }, after: { inputFormat: 'tsv' }, edited: true },
    ]);
    expect((await shown(session.id)).templateChanged).toBe(false);
    expect((await world.call('GET', path)).body).toEqual({
      revision: 3,
      configuration: { inputFormat: 'tsv' },
    });
    await world.call('PUT', path, { configuration: { inputFormat: 'csv' } });
    expect((await shown(session.id)).templateChanged).toBe(false);
    await world.call('PUT', path, { configuration: { inputFormat: 'tsv' } });
    await update(name, [nodes[0]!, withFormat(nodes[1] as Node, 'auto')]);
    const [{ edited }] = (await adopt(session.id, { dryRun: true })).body.changes;
    expect(edited).toBeUndefined();
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
