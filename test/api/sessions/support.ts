/** Shared by the tests of session routes: a template with one input, and calls with a user's token. */

import { anonymousKey } from '../../../api/identity/participants.ts';
import { nodeInstanceRoutes } from '../../../api/node-instances/routes.ts';
import { projectRoutes } from '../../../api/projects/routes.ts';
import type { ApiRoute } from '../../../api/route.ts';
import { sessionQueryRoutes } from '../../../api/session-query/routes.ts';
import { sessionTemplateRoutes } from '../../../api/session-templates/routes.ts';
import { sessionRoutes } from '../../../api/sessions/routes.ts';
import { ensurePlatformDataSource } from '../../../store/objects/data-sources.ts';
import { ask, makePeople, type People, startTestApi, type TestApi } from '../../support/api.ts';
import type { TestEnvironment } from '../../support/stack.ts';
import { inputNode, ship, tabularNode, templateFile } from '../../support/templates.ts';

export interface SessionWorld {
  readonly api: TestApi;
  readonly people: People;
  readonly projectId: number;
  /** Nodes `in` (Input) and `out` below it. */
  readonly templateId: number;
  call(method: string, path: string, json?: unknown, token?: string): ReturnType<typeof ask>;
  /** POST of a shared session request with these fields changed. */
  join(fields?: object, token?: string): ReturnType<typeof ask>;
  importTemplate(name: string, nodes: readonly object[], extra?: object): Promise<number>;
  upload(nodeId: number, bytes?: string): ReturnType<typeof ask>;
  keyOf(address: string): string;
  query<R = Record<string, unknown>>(statement: string, parameters?: readonly unknown[]): Promise<R[]>;
}

export const routesOfSessions: readonly ApiRoute[] = [
  ...sessionRoutes,
  ...sessionQueryRoutes,
  ...projectRoutes,
  ...sessionTemplateRoutes,
  ...nodeInstanceRoutes,
];

/** @param extra variables beside the environment's */
export async function sessionWorld(
  platform: TestEnvironment,
  extra: Readonly<Record<string, string>> = {},
): Promise<SessionWorld> {
  const api = await startTestApi({ ...platform.environment, ...extra }, { routes: routesOfSessions });
  const people = await makePeople(api.url, platform);
  const { database, objects } = api.composed.services;
  await ship(database);
  await ensurePlatformDataSource(database, objects.platformAccess);
  const call: SessionWorld['call'] = (method, path, json, token = people.Developer.token) =>
    ask(api.url, method, path, { token, json });
  const importTemplate: SessionWorld['importTemplate'] = async (name, nodes, extra) =>
    (await call('POST', '/api/v2/admin/session-templates', templateFile(name, nodes, extra))).body.id;
  const projectId = (await call('POST', '/projects', { Title: 'Flights' })).body.id;
  const templateId = await importTemplate('one input', [inputNode('in'), tabularNode('out', 'in')]);
  return {
    api,
    people,
    projectId,
    templateId,
    call,
    importTemplate,
    join: (fields = {}, token = people.offlineToken) =>
      call(
        'POST',
        `/api/v2/session/shared_session?projectId=${projectId}`,
        { ...request(templateId), ...fields },
        token,
      ),
    upload: (nodeId, bytes = 't,v\n1,2\n') =>
      uploadBytes(`${api.url}/api/v2/node-instance/${nodeId}/outputs/data`, people.offlineToken, bytes),
    keyOf: (address) => anonymousKey(address, platform.environment.PARTICIPANT_KEY!),
    query: (statement, parameters) => database.query(statement, parameters),
  };
}

/** Makes sessions of the world's project and template, with these fields beside. */
export const sessionCreator =
  (world: SessionWorld) =>
  async (json: object = {}, token?: string) => {
    const fields = { ProjectId: world.projectId, SessionTemplateId: world.templateId, ...json };
    return (await world.call('POST', '/session', fields, token)).body;
  };

/** The common error body. */
export const refused = (status: number, message: unknown) => ({ status, body: { status: 'error', message } });

export const windowStart = '2026-03-01T10:00:00.000Z';
/** Seconds after `windowStart`, as a timestamp. */
export const at = (seconds: number) => new Date(Date.parse(windowStart) + seconds * 1_000).toISOString();

const request = (sessionTemplateId: number) => ({
  name: 'Exercise',
  simulationName: 'sim',
  email: 'machine-1@example.org',
  sessionTemplateId,
  startTimeUtc: windowStart,
  machineGroup: 1,
});

async function uploadBytes(url: string, token: string, bytes: string) {
  const response = await fetch(url, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'text/csv' },
    body: bytes,
  });
  return { status: response.status, headers: response.headers, body: await response.json() };
}
