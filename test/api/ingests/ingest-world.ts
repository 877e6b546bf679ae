/** Shared by the tests of ingests: a project, a template with the input node `laps`, ingests, files sent to them. */

import { Database } from '../../../store/connection/database.ts';
import { ensurePlatformDataSource } from '../../../store/objects/data-sources.ts';
import { type Answer, ask, makePeople, startTestApi } from '../../support/api.ts';
import type { TestEnvironment } from '../../support/stack.ts';
import { inputNode, ship, tabularNode, templateFile } from '../../support/templates.ts';

export const ingests = '/api/v2/admin/ingests';
export const refused = (message: string) => ({ status: 'error', message });

export type IngestWorld = Awaited<ReturnType<typeof ingestWorld>>;

export async function ingestWorld(platform: TestEnvironment) {
  const api = await startTestApi(platform.environment);
  const database = await Database.open({ databaseUrl: platform.databaseUrl, poolSize: 4 });
  await ship(database);
  await ensurePlatformDataSource(database, api.composed.services.objects.platformAccess);
  const people = await makePeople(api.url, platform);
  const admin = (method: string, path: string, json?: unknown) =>
    ask(api.url, method, path, { token: people.Developer.token, json });
  const template = await admin('POST', '/api/v2/admin/session-templates', {
    ...templateFile('Laps', [inputNode('laps'), tabularNode('table', 'laps')]),
  });
  const templateId: number = template.body.id;
  const newProject = async (fields: object = {}): Promise<number> =>
    (await admin('POST', '/projects', { Title: 'Ingests', ...fields })).body.id;
  const projectId = await newProject();
  let paths = 0;
  /** A request for an ingest at its own path. */
  const fields = (change: object = {}) => {
    paths += 1;
    return {
      urlPath: `path/${paths}`,
      projectId,
      sessionTemplateId: templateId,
      inputNode: 'laps',
      ...change,
    };
  };
  return {
    api,
    database,
    people,
    templateId,
    projectId,
    admin,
    newProject,
    fields,
    async newIngest(change: object = {}) {
      const answer = await admin('POST', ingests, fields(change));
      if (answer.status !== 201) throw new Error(`${answer.status} ${JSON.stringify(answer.body)}`);
      return answer.body;
    },
    send: (urlPath: string, sent: Sent = {}) => send(api.url, urlPath, sent),
    async stop() {
      await api.stop();
      await database.close();
    },
  };
}

interface Sent {
  readonly secret?: string;
  readonly bearer?: string;
  readonly type?: string | null;
  readonly body?: string;
  readonly headers?: Record<string, string>;
}

async function send(url: string, urlPath: string, options: Sent): Promise<Answer> {
  const { secret, bearer, type = 'text/csv', body = 'a,b\n1,2\n' } = options;
  const response = await fetch(`${url}/ingest/${urlPath}`, {
    method: 'POST',
    headers: {
      ...(secret === undefined ? {} : { 'x-ingest-secret': secret }),
      ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
      ...(type === null ? {} : { 'content-type': type }),
      ...options.headers,
    },
    // A Blob without a type sends no Content-Type of fetch's own.
    body: new Blob([body]),
  });
  return { status: response.status, headers: response.headers, body: await response.json() };
}
