import { beforeAll, describe, expect, test } from 'vitest';
import { manifestRoutes } from '../../../api/manifests/routes.ts';
import { sessionTemplateRoutes } from '../../../api/session-templates/routes.ts';
import { apiStage, ask } from '../../support/api.ts';
import { inputNode, ship, tabularNode, templateFile } from '../../support/templates.ts';

const { api, call, people } = await apiStage({ routes: [...sessionTemplateRoutes, ...manifestRoutes] });

beforeAll(async () => {
  await ship(api.composed.services.database);
});

const importPath = '/api/v2/admin/session-templates';
const listPath = '/api/v2/session/session_templates';
describe('the shipped template', () => {
  test('exists after the first start, with three nodes in a line', async () => {
    const list = await call('GET', listPath);
    const shipped = list.body.find(
      (item: { name: string }) => item.name === 'system-tabular-dashboard-autodetect-next',
    );
    expect(shipped).toMatchObject({ nodes: [], configuration: '{}' });
    const { status, body } = await call('GET', `${listPath}/${shipped.id}`);
    expect(status).toBe(200);
    expect(
      body.nodes.map((node: Record<string, unknown>) => [
        node.name,
        node.nodeTemplateName,
        node.nodeTemplateType,
        node.parentNames,
      ]),
    ).toEqual([
      ['tabular-upload', 'input-node', 'Input', []],
      ['tabular-autodetect', 'system-tabular-to-dataservice', 'Transform', ['tabular-upload']],
      ['tabular-dashboard', 'system-next-dimension', 'Processing', ['tabular-autodetect']],
    ]);
    expect(JSON.parse(body.nodes[0].defaultConfiguration)).toEqual({ dataSourceName: 'platform' });
    expect(JSON.parse(body.nodes[1].defaultConfiguration)).toMatchObject({ emitSuggestedLayout: true });
    expect(JSON.parse(body.nodes[2].defaultConfiguration)).toMatchObject({
      dashboardVersion: 'next',
      layoutFromParentOutput: true,
    });
  });

  test('exists once when many processes start at once', async () => {
    const { database } = api.composed.services;
    const before = await call('GET', listPath);
    await Promise.all(Array.from({ length: 6 }, () => ship(database)));
    expect((await call('GET', listPath)).body).toEqual(before.body);
    expect(
      await database.query("select count(*)::int as n from node_template where runner_type = 'system'"),
    ).toEqual([{ n: 3 }]);
  });
});

describe('reading templates', () => {
  test('is for every role and for offline tokens, also by the earlier path', async () => {
    const expected = (await call('GET', listPath)).body;
    const tokens = [people.Administrator, people.Instructor, people.Trainee].map((person) => person.token);
    for (const token of [...tokens, people.offlineToken]) {
      for (const path of [listPath, '/session_templates', '/api/v2.0/session/session_templates']) {
        const list = await call('GET', path, undefined, token);
        expect([list.status, list.body]).toEqual([200, expected]);
      }
      expect((await call('GET', `${listPath}/${expected[0].id}`, undefined, token)).status).toBe(200);
    }
    expect((await ask(api.url, 'GET', listPath)).status).toBe(401);
  });

  test.each(['999999', 'abc', '0'])('answers id %s as missing', async (id) => {
    expect(await call('GET', `${listPath}/${id}`)).toMatchObject({
      status: 404,
      body: { status: 'error', message: 'Session template not found.' },
    });
  });
});

describe('importing a template', () => {
  test('creates it once, and refuses the name the second time', async () => {
    const file = templateFile('twice', [inputNode('a'), inputNode('b'), tabularNode('t', 'b', 'a')]);
    const made = await call('POST', importPath, file);
    expect(made).toMatchObject({ status: 201, body: { name: 'twice', created: true } });
    const stored = await call('GET', `${listPath}/${made.body.id}`);
    expect(stored.body).toMatchObject({
      name: 'twice',
      description: 'twice of the tests',
      configuration: '{"note":"twice"}',
    });
    expect(stored.body.nodes[2].parentNames).toEqual(['b', 'a']);
    expect(await call('POST', importPath, file)).toMatchObject({
      status: 409,
      body: { status: 'error', message: 'A session template with the same name already exists.' },
    });
  });

  test('updates configuration and description of the same graph, and refuses another graph', async () => {
    const made = await call(
      'POST',
      importPath,
      templateFile('renewed', [inputNode('a'), tabularNode('t', 'a')]),
    );
    const nodes = [
      { ...tabularNode('t', 'a'), DefaultConfiguration: { inputFormat: 'tsv' } },
      inputNode('a'),
    ];
    const update = { updateIfExists: true, Description: 'new', Configuration: { v: 2 } };
    const updated = await call('POST', importPath, templateFile('renewed', nodes, update));
    expect([updated.status, updated.body]).toEqual([
      200,
      { id: made.body.id, name: 'renewed', created: false, version: 2, changed: true },
    ]);
    const stored = await call('GET', `${listPath}/${made.body.id}`);
    expect(stored.body).toMatchObject({ description: 'new', configuration: '{"v":2}' });
    expect(
      stored.body.nodes.map((node: { defaultConfiguration: string }) => node.defaultConfiguration),
    ).toEqual(['{"dataSourceName":"platform"}', '{"inputFormat":"tsv"}']);
    const other = templateFile(
      'renewed',
      [inputNode('a'), tabularNode('t', 'a'), tabularNode('u', 'a')],
      update,
    );
    expect((await call('POST', importPath, other)).status).toBe(409);
  });

  test('of one name by many concurrent callers creates exactly one', async () => {
    const file = templateFile('raced', [inputNode('a')]);
    const answers = await Promise.all(Array.from({ length: 8 }, () => call('POST', importPath, file)));
    expect(answers.map((answer) => answer.status).sort()).toEqual([201, 409, 409, 409, 409, 409, 409, 409]);
  });

  test('lists every fault with its path', async () => {
    const file = templateFile('wrong', [
      inputNode('a'),
      { Name: 'b', NodeTemplateName: 'nowhere', Parents: ['a', 'x'] },
      { ...tabularNode('c', 'a'), DefaultConfiguration: { inputFormat: 'xml' } },
    ]);
    const answer = await call('POST', importPath, file);
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({ status: 'error', message: 'The template definition is not valid.' });
    expect(answer.body.errors.map((item: { path: string }) => item.path)).toEqual([
      '$.Nodes[1].NodeTemplateName',
      '$.Nodes[2].DefaultConfiguration.inputFormat',
      '$.Nodes[1].Parents[1]',
    ]);
  });

  test.each([
    ['no body', undefined],
    ['a list', []],
    ['a text', 'template'],
  ])('refuses %s', async (_, json) => {
    expect(await call('POST', importPath, json)).toMatchObject({ status: 400, body: { status: 'error' } });
  });

  test('a retired node template works only in templates that already use it', async () => {
    const manifest = (nodeTemplates: object[], version: string) => ({
      manifestVersion: 1,
      feature: { name: 'retiring', version, ownershipType: 'ThirdParty' },
      runnerTypes: [{ name: 'retiring-runner', runtime: 'external' }],
      nodeTemplates,
    });
    const node = {
      name: 'old-node',
      runnerType: 'retiring-runner',
      type: 'Processing',
      configurationSchema: {},
    };
    const path = '/api/v2/admin/runner-manifests';
    expect((await call('POST', path, manifest([node], '1.0.0'))).status).toBe(200);
    const nodes = [inputNode('a'), { Name: 'o', NodeTemplateName: 'old-node', Parents: ['a'] }];
    expect((await call('POST', importPath, templateFile('with-old', nodes))).status).toBe(201);
    expect((await call('POST', path, manifest([], '1.1.0'))).status).toBe(200);
    const update = templateFile('with-old', nodes, { updateIfExists: true });
    expect((await call('POST', importPath, update)).status).toBe(200);
    const answer = await call('POST', importPath, templateFile('new-with-old', nodes));
    expect([answer.status, answer.body.errors]).toEqual([
      400,
      [{ path: '$.Nodes[1].NodeTemplateName', message: "Node template 'old-node' is retired." }],
    ]);
  });
});
