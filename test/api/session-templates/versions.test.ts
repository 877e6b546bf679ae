/** Versions of session templates: who made each, what it says, and what changed. */
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, test } from 'vitest';
import { apiStage, ask } from '../../support/api.ts';
import { inputNode, ship, tabularNode, templateFile } from '../../support/templates.ts';

const { api, people } = await apiStage();
beforeAll(async () => {
  await ship(api.composed.services.database);
});

const get = (path: string, token = people.Instructor.token) =>
  ask(api.url, 'GET', `/api/v2/session/session_templates${path}`, { token });
const send = (file: object, token = people.Developer.token) =>
  ask(api.url, 'POST', '/api/v2/admin/session-templates', { token, json: file });
const newName = () => `laps ${randomUUID()}`;
const nodes = () => [inputNode('in'), tabularNode('out', 'in')];
const update = (name: string, changed: readonly object[], extra: object = {}) =>
  templateFile(name, changed, { updateIfExists: true, ...extra });
const otherwise = [
  inputNode('in'),
  { ...tabularNode('out', 'in'), DefaultConfiguration: { inputFormat: 'auto' } },
];

/** A template of two versions: the Developer made the first, the Administrator the second. */
async function twice() {
  const name = newName();
  const made = await send(templateFile(name, nodes()));
  expect(made.body).toMatchObject({ created: true, version: 1 });
  const again = await send(update(name, otherwise, { TemplateVersion: '2' }), people.adminToken);
  expect(again.body).toMatchObject({ created: false, version: 2, id: made.body.id });
  return { name, id: made.body.id as number };
}

describe('the versions of a session template', () => {
  test('are listed newest first, each with who made it', async () => {
    const { name, id } = await twice();
    const { status, body } = await get(`/${id}/versions`);
    expect(status).toBe(200);
    const of = (version: number, userId: string) => ({
      version,
      templateVersion: String(version),
      description: `${name} of the tests`,
      nodes: 2,
      createdAt: expect.stringMatching(/Z$/),
      createdBy: { id: userId, name: expect.any(String) },
    });
    const administrator = body.versions[0].createdBy.id;
    expect(body).toEqual({
      versions: [of(2, administrator), of(1, people.Developer.userId)],
      page: 1,
      pageSize: 25,
      totalCount: 2,
      totalPages: 1,
    });
    expect(administrator).not.toBe(people.Developer.userId);
    expect((await get(`/${id}/versions?pageSize=1&page=2`)).body).toMatchObject({
      versions: [{ version: 1 }],
      totalPages: 2,
    });
    expect((await get(`/${id}/versions?page=9`)).body.versions).toEqual([]);
  });

  test('are not made by an import that changes nothing, or that is refused', async () => {
    const { name, id } = await twice();
    const updatedAt = () =>
      api.composed.services.database.query('select updated_at from session_template where id = $1', [id]);
    const before = await updatedAt();
    const reordered = { inputFormat: 'auto' };
    const same = [inputNode('in'), { ...tabularNode('out', 'in'), DefaultConfiguration: reordered }];
    expect((await send(update(name, same, { TemplateVersion: '2' }))).body).toMatchObject({ version: 2 });
    expect((await send(templateFile(name, nodes()))).status).toBe(409);
    expect((await send(update(name, [inputNode('in')]))).status).toBe(409);
    expect((await send(update(name, [{ ...inputNode('in'), NodeTemplateName: 'none' }]))).status).toBe(400);
    expect((await get(`/${id}/versions`)).body.totalCount).toBe(2);
    expect(await updatedAt()).toEqual(before);
    await send(update(name, nodes()));
    expect(await updatedAt()).not.toEqual(before);
  });

  test('are made one after the other by imports at the same moment', async () => {
    const { name, id } = await twice();
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, index) => send(update(name, nodes(), { TemplateVersion: `n${index}` }))),
    );
    expect(answers.map(({ body }) => body.version).sort((a, b) => a - b)).toEqual([3, 4, 5, 6, 7, 8, 9, 10]);
    const listed = (await get(`/${id}/versions`)).body.versions;
    expect(new Set(listed.map((one: { templateVersion: string }) => one.templateVersion)).size).toBe(10);
  });

  test('are made by the platform, of what it ships', async () => {
    const [shipped] = (await get('')).body;
    expect((await get(`/${shipped.id}/versions`)).body.versions).toMatchObject([
      { version: 1, createdBy: null },
    ]);
  });

  test('are read as definition files, which make the next version when they are imported', async () => {
    const { name, id } = await twice();
    const { body } = await get(`/${id}/versions/1`);
    const { $schema: _, ...file } = templateFile(name, nodes());
    expect(body).toMatchObject({ version: 1, createdBy: { id: people.Developer.userId }, definition: file });
    const back = await send({ ...body.definition, updateIfExists: true });
    expect(back.body).toMatchObject({ id, version: 3 });
    expect((await get(`/${id}/versions/3/changes?since=1`)).body).toMatchObject({ fields: [], nodes: [] });
  });

  test('say what they changed since the one before, another one, or another template', async () => {
    const { name, id } = await twice();
    expect((await get(`/${id}/versions/2/changes`)).body).toEqual({
      sessionTemplateId: id,
      version: 2,
      since: { sessionTemplateId: id, version: 1 },
      fields: [{ field: 'templateVersion', before: '1', after: '2' }],
      nodes: [
        {
          node: 'out',
          kind: 'configuration',
          before: { inputFormat: 'csv' },
          after: { inputFormat: 'auto' },
        },
      ],
    });
    const first = (await get(`/${id}/versions/1/changes`)).body;
    expect(first.since).toBeNull();
    expect(first.nodes.map(({ node, kind }: Record<string, string>) => [node, kind])).toEqual([
      ['in', 'added'],
      ['out', 'added'],
    ]);
    const added = [...nodes(), tabularNode('more', 'in', 'out')];
    const other = await send({ ...templateFile(newName(), added), Description: `${name} of the tests` });
    const { body } = await get(`/${other.body.id}/versions/1/changes?sinceTemplateId=${id}&since=1`);
    expect(body.nodes).toMatchObject([{ node: 'more', kind: 'added', before: null }]);
    expect(body.fields).toMatchObject([{ field: 'configuration', before: { note: name } }]);
    const back = await get(`/${id}/versions/2/changes?sinceTemplateId=${other.body.id}`);
    expect(back.body).toMatchObject({
      since: { sessionTemplateId: other.body.id, version: 1 },
      nodes: [{ node: 'more', kind: 'removed', after: null }, { kind: 'configuration' }],
    });
  });

  test.each([
    ['/versions/3', 'Session template version not found.'],
    ['/versions/0', 'Session template version not found.'],
    ['/versions/9007199254740991', 'Session template version not found.'],
    ['/versions/2/changes?since=7', 'Session template version not found.'],
    ['/versions/2/changes?since=9007199254740991', 'Session template version not found.'],
    ['/versions/2/changes?sinceTemplateId=999999', 'Session template not found.'],
  ])('answer 404 to %s', async (path, message) => {
    const { id } = await twice();
    expect(await get(`/${id}${path}`)).toMatchObject({ status: 404, body: { status: 'error', message } });
  });

  test('answer 404 for a template that does not exist, 400 for a wrong number, 403 to a Trainee', async () => {
    const { id } = await twice();
    for (const path of ['/versions', '/versions/1', '/versions/1/changes']) {
      expect((await get(`/999999${path}`)).body.message).toBe('Session template not found.');
      expect((await get(`/${id}${path}`, people.Trainee.token)).status).toBe(403);
    }
    expect((await get(`/${id}/versions/1/changes?since=one`)).status).toBe(400);
    expect((await get(`/${id}/versions?pageSize=101`)).status).toBe(400);
  });
});

test('the migration keeps what templates of before say, by whoever imported them last', async () => {
  const { database } = api.composed.services;
  const { id } = await twice();
  const text = readFileSync(
    new URL('../../../store/migrations/0026-0050/0045-template-versions.sql', import.meta.url),
    'utf8',
  );
  const seeding = text.slice(text.indexOf('-- Templates that are here already'));
  const kept = (await get(`/${id}/versions/2`)).body;
  await database.query('delete from session_template_version where session_template_id = $1', [id]);
  await database.query(seeding.replace(/;\s*$/, ` where t.id = ${id}`));
  const { body } = await get(`/${id}/versions/1`);
  expect(body).toMatchObject({ definition: kept.definition, createdBy: { id: kept.createdBy.id } });
});
