/** A request for each route that accepts `Idempotency-Key`: one that creates, and another one of the same route. */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { json as readJson } from 'node:stream/consumers';
import { type Answer, ask } from '../../support/api.ts';
import type { TestEnvironment } from '../../support/stack.ts';
import { inputNode, templateFile } from '../../support/templates.ts';
import { type IngestWorld, ingests } from '../ingests/ingest-world.ts';

export interface KeyedRequest {
  readonly path: string;
  readonly token?: string;
  readonly json?: object;
  /** In place of JSON. */
  readonly bytes?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export type KeyedRequests = Readonly<Record<string, () => { one: KeyedRequest; other: KeyedRequest | null }>>;

/** Sends a request, under a key if there is one. */
export async function send(url: string, keyed: KeyedRequest, key?: string): Promise<Answer> {
  const { path, token, json, bytes } = keyed;
  const headers = { ...keyed.headers, ...(key === undefined ? {} : { 'idempotency-key': key }) };
  const credentials = token === undefined ? {} : { token };
  if (bytes === undefined) return await ask(url, 'POST', path, { ...credentials, headers, json });
  const response = await fetch(url + path, {
    method: 'POST',
    headers: {
      'content-type': 'text/csv',
      ...headers,
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    },
    body: bytes,
  });
  return { status: response.status, headers: response.headers, body: await response.json() };
}

/** The answer to a request of which only the head is sent. */
export async function sendHead(
  url: string,
  { path, token, headers }: KeyedRequest,
  more: Readonly<Record<string, string>>,
): Promise<{ readonly status: number | undefined; readonly body: unknown }> {
  const outgoing = request(url + path, {
    method: 'POST',
    headers: {
      'content-type': 'text/csv',
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...headers,
      ...more,
    },
  });
  outgoing.flushHeaders();
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
  const body = await readJson(response);
  outgoing.destroy();
  return { status: response.statusCode, body };
}

/** Each call of an entry names things that no other call names. */
export async function keyedRequests(world: IngestWorld, platform: TestEnvironment): Promise<KeyedRequests> {
  const { people, projectId, templateId, database, admin } = world;
  const { adminToken } = people;
  const token = people.Developer.token;
  const session = await admin('POST', '/session', { ProjectId: projectId, SessionTemplateId: templateId });
  const nodeId = session.body.nodeInstances[0].id;
  const upload = `/api/v2/node-instance/${nodeId}/outputs/data`;
  await send(world.api.url, { path: upload, token, bytes: 'a\n1\n' });
  const ingest = await world.newIngest({ allowAnonymous: true });
  await database.query("insert into runner_type (name, runtime) values ('keyed', 'external')");
  await admin('POST', '/api/v2/admin/statics', staticOf('backed'));
  const name = () => `n${randomUUID()}`;
  const turned = await world.newIngest();
  const hooks = '/api/v2/admin/webhooks';
  const hook = { url: 'https://hooks.example.org/', events: ['node.failed'] };
  const { id: hookId } = (await admin('POST', hooks, hook)).body;
  const { id: deliveryId } = (await admin('POST', `${hooks}/${hookId}/test`)).body;
  const schedules = '/api/v2/dashboard/report-schedules';
  const daily = { reportKey: 'session-list', every: 'day', enabled: false };
  const { id: scheduleId } = (await admin('POST', schedules, daily)).body;
  const imported = async (...nodes: object[]) =>
    (await admin('POST', '/api/v2/admin/session-templates', templateFile(name(), nodes))).body.id;
  const [few, more] = [
    await imported(inputNode('laps')),
    await imported(inputNode('laps'), inputNode('more')),
  ];
  const adopting = await Promise.all(
    Array.from({ length: 3 }, () =>
      admin('POST', '/session', { ProjectId: projectId, SessionTemplateId: few }),
    ),
  );
  const changed = (one: KeyedRequest, change: object) => ({
    one,
    other: { ...one, json: { ...one.json, ...change } },
  });
  const otherQuery = (one: KeyedRequest) => ({ one, other: { ...one, path: `${one.path}?other=1` } });
  const source = () => ({
    ...platform.s3,
    name: name(),
    kind: 's3',
    prefix: '',
    forcePathStyle: true,
  });
  return {
    createSession: () =>
      changed(
        {
          path: '/session',
          token,
          json: { ProjectId: projectId, SessionTemplateId: templateId, Name: name() },
        },
        { Name: 'other' },
      ),
    createProject: () => changed({ path: '/projects', token, json: { Title: name() } }, { Title: 'other' }),
    uploadNodeOutput: () => {
      const one = { path: upload, token, bytes: `a,b\n${name()},1\n` };
      return { one, other: { ...one, bytes: `a,b\n${name()},2\n` } };
    },
    createResumableUpload: () => {
      const path = `/api/v2/node-instance/${nodeId}/uploads`;
      const headers = { 'tus-resumable': '1.0.0', 'upload-length': '5' };
      const one = { path, token, headers };
      return { one, other: { ...one, headers: { ...headers, 'upload-length': '6' } } };
    },
    createIngestUpload: () => {
      const path = `/api/v2/ingest-uploads/${ingest.urlPath}`;
      const headers = { 'tus-resumable': '1.0.0', 'upload-length': '5' };
      const one = { path, headers };
      return { one, other: { ...one, headers: { ...headers, 'upload-length': '6' } } };
    },
    ingestFile: () => {
      const one = { path: `/ingest/${ingest.urlPath}`, bytes: `a,b\n${name()},1\n` };
      return { one, other: { ...one, bytes: `a,b\n${name()},2\n` } };
    },
    importSessionTemplate: () =>
      changed(
        { path: '/api/v2/admin/session-templates', token, json: templateFile(name(), [inputNode('laps')]) },
        { Description: 'other' },
      ),
    createDataSource: () =>
      changed({ path: '/api/v2/admin/data-sources', token, json: source() }, { prefix: 'other' }),
    // Its requests do not differ except in the key.
    createOfflineTokenForOperators: () => ({
      one: { path: '/api/v2/admin/offline-tokens', token: adminToken },
      other: null,
    }),
    createOfflineToken: () => otherQuery({ path: '/api/authorization/offline_token', token: adminToken }),
    createRunnerToken: () =>
      changed(
        {
          path: '/api/v2/admin/runner-tokens',
          token,
          json: { runnerTypes: ['keyed'], scopes: ['tasks'], label: name() },
        },
        { label: 'other' },
      ),
    createIngest: () => changed({ path: ingests, token, json: world.fields() }, { allowAnonymous: true }),
    rotateIngestSecret: () => otherQuery({ path: `${ingests}/${turned.id}/rotate-secret`, token }),
    createWebhook: () =>
      changed({ path: hooks, token, json: { ...hook, url: `${hook.url}${name()}` } }, { enabled: false }),
    rotateWebhookSecret: () => otherQuery({ path: `${hooks}/${hookId}/rotate-secret`, token }),
    testWebhook: () => otherQuery({ path: `${hooks}/${hookId}/test`, token }),
    redeliverWebhook: () =>
      otherQuery({ path: `${hooks}/${hookId}/deliveries/${deliveryId}/redeliver`, token }),
    createReport: () =>
      changed(
        {
          path: '/api/v2/dashboard/reports',
          token,
          json: {
            key: name(),
            name: 'Keyed',
            columns: [{ columnKey: 'title', name: 'Title', expression: 'dimension.title' }],
          },
        },
        { name: 'other' },
      ),
    createReportSchedule: () => changed({ path: schedules, token, json: daily }, { every: 'week' }),
    runReportSchedule: () => otherQuery({ path: `${schedules}/${scheduleId}/run`, token }),
    createLayout: () =>
      changed(
        {
          path: '/api/v2/dashboard/layouts',
          token,
          json: {
            name: name(),
            scope: 'mine',
            layout: { version: 1, panels: [{ channels: ['speed'] }] },
          },
        },
        { name: 'other' },
      ),
    joinSharedSession: () =>
      changed(
        {
          path: `/api/v2/session/shared_session?projectId=${projectId}`,
          token,
          json: {
            name: name(),
            simulationName: 'flight',
            email: 'pilot@example.org',
            sessionTemplateId: templateId,
            startTimeUtc: '2026-03-01T10:00:00.000Z',
            machineGroup: 7,
          },
        },
        { machineGroup: 8 },
      ),
    createScenarioInstance: () =>
      changed(
        { path: `/${session.body.id}/scenario_instances`, token, json: { scenarioName: name() } },
        { scenarioName: 'other' },
      ),
    createAnnotation: () =>
      changed(
        {
          path: `/api/v2/session/${session.body.id}/annotations`,
          token,
          json: { from: '2026-03-01T10:00:00.000Z', label: name() },
        },
        { label: 'other' },
      ),
    createSessionView: () =>
      changed(
        { path: '/api/v2/session/views', token, json: { name: name(), scope: 'mine', query: 'tab=failed' } },
        { query: 'tab=running' },
      ),
    createConfiguration: () =>
      changed(
        { path: '/config', token, json: { name: name(), valueType: 0, value: 'one' } },
        { value: 'other' },
      ),
    createStatic: () =>
      changed({ path: '/api/v2/admin/statics', token, json: staticOf(name()) }, { title: 'other' }),
    addStaticInstance: () =>
      changed(
        { path: '/api/v2/admin/statics/backed/instances', token, json: { sessionId: session.body.id } },
        { sessionId: randomUUID() },
      ),
    adoptSessionTemplate: () =>
      changed(
        {
          path: `/api/v2/session/${adopting.pop()!.body.id}/adopt-template`,
          token,
          json: { sessionTemplateId: more },
        },
        { dryRun: true },
      ),
    reprocessNode: () => otherQuery({ path: `/api/v2/node-instance/${nodeId}/reprocess`, token }),
    createUser: () => {
      const username = name().slice(0, 30);
      return changed(
        {
          path: '/api/authorization/users',
          token: adminToken,
          json: {
            username,
            password: 'a long enough password',
            email: `${username}@example.org`,
            role: 'Trainee',
          },
        },
        { title: 'other' },
      );
    },
  };
}

const staticOf = (code: string) => ({
  code,
  title: 'Keyed',
  sectionCode: 'keyed',
  sectionTitle: 'Keyed',
  scopeKind: 0,
});
