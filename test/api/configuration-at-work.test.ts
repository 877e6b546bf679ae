/** Node configurations against schemas that change: at import, and again when a task is made (decisions 10). */
import { beforeAll, expect, test } from 'vitest';
import { ensurePlatformDataSource } from '../../store/objects/data-sources.ts';
import { apiStage, ask } from '../support/api.ts';
import { inputNode, ship, templateFile } from '../support/templates.ts';

const { api, people } = await apiStage();
beforeAll(async () => {
  await ship(api.composed.services.database);
  const { objects, database } = api.composed.services;
  await ensurePlatformDataSource(database, objects.platformAccess);
});

const call = async (method: string, path: string, json?: unknown, statuses = [200, 201, 202]) => {
  const answer = await ask(api.url, method, path, { token: people.Developer.token, json });
  expect(statuses, JSON.stringify(answer.body)).toContain(answer.status);
  return answer.body;
};

const speedOf = (type: string) => ({ type: 'object', properties: { speed: { type } } });

let features = 0;

/** A feature of one node template, published with a schema; again with another raises its version. */
function feature() {
  features += 1;
  const name = `feature-${features}`;
  let version = 0;
  return {
    name,
    async publish(configurationSchema: object) {
      version += 1;
      await call('POST', '/api/v2/admin/runner-manifests', {
        manifestVersion: 1,
        feature: { name, version: `1.${version}`, ownershipType: 'ThirdParty' },
        runnerTypes: [{ name, runtime: 'external' }],
        nodeTemplates: [
          { name, runnerType: name, type: 'Processing', configurationSchema, incremental: true },
        ],
      });
    },
  };
}

async function importTemplate(nodeTemplate: string, configuration: object, updateIfExists = false) {
  const node = {
    Name: 'work',
    NodeTemplateName: nodeTemplate,
    DefaultConfiguration: configuration,
    Parents: ['in'],
  };
  const file = templateFile(nodeTemplate, [inputNode('in'), node], { updateIfExists });
  return ask(api.url, 'POST', '/api/v2/admin/session-templates', {
    token: people.Developer.token,
    json: file,
  });
}

async function newSession(templateId: number) {
  const project = await call('POST', '/projects', { Title: 'Configured' });
  const session = await call('POST', '/session', { ProjectId: project.id, SessionTemplateId: templateId });
  const [input, work] = session.nodeInstances;
  return {
    upload: (bytes: string) =>
      fetch(`${api.url}/api/v2/node-instance/${input.id}/outputs/data`, {
        method: 'POST',
        body: bytes,
        headers: { authorization: `Bearer ${people.Developer.token}` },
      }),
    work: async () =>
      (await call('GET', `/api/v2/session/${session.id}/node-instances`)).nodeInstances[1] as {
        state: string;
        statusDetails: string;
      },
    runs: async () => (await call('GET', `/api/v2/admin/node-runs?nodeInstanceId=${work.id}`)).nodeRuns,
    workId: work.id as number,
  };
}

const claim = (template: string) =>
  ask(api.url, 'POST', '/api/v2/runner/tasks/claim', {
    token: people.Developer.token,
    json: { instanceId: 'runner', templates: [template], waitSeconds: 0 },
  });

const failure =
  'validation: The node configuration does not match the schema of its node template. $.speed: Does not match the schema: must be string.';

test('an import that violates the schema is refused with the path of the fault', async () => {
  const { name, publish } = feature();
  await publish(speedOf('integer'));
  const answer = await importTemplate(name, { speed: 'fast' });
  expect(answer).toMatchObject({
    status: 400,
    body: { errors: [{ path: '$.Nodes[1].DefaultConfiguration.speed' }] },
  });
});

test('a later schema fails the node at its next task, and no runner gets the task', async () => {
  const { name, publish } = feature();
  await publish(speedOf('integer'));
  const session = await newSession((await importTemplate(name, { speed: 7 })).body.id);
  expect((await session.upload('1')).status).toBe(201);
  expect((await claim(name)).status).toBe(200);
  await publish(speedOf('string'));
  const other = await newSession((await importTemplate(`${name}`, { speed: 'x' }, true)).body.id);
  await call('POST', `/api/v2/node-instance/${session.workId}/reprocess`);
  await call('POST', `/api/v2/admin/node-runs/${(await session.runs())[0].id}/cancel`);
  await claim(name);
  expect(await session.work()).toMatchObject({ state: 'Failed', statusDetails: failure });
  expect((await claim(name)).status).toBe(204);
  const [failed] = await session.runs();
  expect(failed).toMatchObject({
    state: 'failed',
    reason: 'reprocess',
    attempts: [{ number: 1, startedAt: null, outcome: 'failed', category: 'validation' }],
    retryable: true,
  });
  // Its input counts as consumed, the next one fails alike, and a session made since runs.
  expect((await session.runs()).length).toBe(2);
  await session.upload('2');
  expect(await session.runs()).toHaveLength(3);
  expect(await session.work()).toMatchObject({ state: 'Failed', statusDetails: failure });
  await other.upload('1');
  expect((await claim(name)).status).toBe(200);
});

test('such a run can be retried when the schema accepts it, and is refused before', async () => {
  const { name, publish } = feature();
  await publish(speedOf('integer'));
  const session = await newSession((await importTemplate(name, { speed: 7 })).body.id);
  await publish(speedOf('string'));
  await session.upload('1');
  expect(await session.work()).toMatchObject({ state: 'Failed', statusDetails: failure });
  const [run] = await session.runs();
  const retry = `/api/v2/admin/node-runs/${run.id}/retry`;
  const refused = await call('POST', retry, undefined, [409]);
  expect(`validation: ${refused.message}`).toBe(failure);
  expect(await call('POST', `/api/v2/admin/sessions/${run.sessionId}/retry-failed`)).toMatchObject({
    retried: 0,
  });
  await publish(speedOf('integer'));
  await call('POST', retry);
  expect((await claim(name)).body).toMatchObject({ runId: run.id, attempt: 2, configuration: { speed: 7 } });
});

test('a retired node template still works in its sessions, and no new template may use it', async () => {
  const { name, publish } = feature();
  await publish({});
  const session = await newSession((await importTemplate(name, { speed: 7 })).body.id);
  await call('POST', '/api/v2/admin/runner-manifests', {
    manifestVersion: 1,
    feature: { name, version: '2.0', ownershipType: 'ThirdParty' },
    runnerTypes: [{ name, runtime: 'external' }],
    nodeTemplates: [],
  });
  const node = { Name: 'work', NodeTemplateName: name, Parents: ['in'] };
  const json = templateFile(`${name}-new`, [inputNode('in'), node]);
  const { token } = people.Developer;
  const refused = await ask(api.url, 'POST', '/api/v2/admin/session-templates', { token, json });
  expect(refused.body.errors).toEqual([
    { path: '$.Nodes[1].NodeTemplateName', message: `Node template '${name}' is retired.` },
  ]);
  await session.upload('1');
  expect((await claim(name)).status).toBe(200);
});
