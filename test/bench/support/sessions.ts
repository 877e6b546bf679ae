/** Sessions for benchmarks, made as every client makes them. */
import type { BenchClient } from './platform.ts';

export interface Template {
  readonly id: number;
}

export async function shippedTemplate(client: BenchClient): Promise<Template> {
  const templates = await client.expect<Array<Template & { name: string }>>(
    200,
    'GET',
    '/api/v2/session/session_templates',
  );
  return templates.find(({ name }) => name === 'system-tabular-dashboard-autodetect-next')!;
}

/** A new session in its own project, and the id of its input node. */
export async function createSession(
  client: BenchClient,
  template: Template,
  inputName: string,
): Promise<{ id: string; inputId: number }> {
  const project = await client.expect<{ id: number }>(201, 'POST', '/projects', { Title: 'Bench' });
  const { id } = await client.expect<{ id: string }>(201, 'POST', '/session', {
    ProjectId: project.id,
    SessionTemplateId: template.id,
  });
  const progress = await client.expect<{ nodeInstances: Array<{ id: number; name: string }> }>(
    200,
    'GET',
    `/api/v2/session/${id}/node-instances`,
  );
  return { id, inputId: progress.nodeInstances.find(({ name }) => name === inputName)!.id };
}

/** A dashboard of a recording. */
export interface Dashboard {
  /** Path of its route. */
  readonly path: string;
  readonly channels: ReadonlyArray<{ readonly key: string; readonly name: string }>;
}

/** The first dashboard of a session, as soon as all nodes have succeeded. */
export async function dashboardOf(
  client: BenchClient,
  sessionId: string,
  waitSeconds = 120,
): Promise<Dashboard> {
  const until = Date.now() + waitSeconds * 1_000;
  for (;;) {
    const { nodeInstances } = await client.expect<{
      nodeInstances: Array<{ state: string; statusDetails: string }>;
    }>(200, 'GET', `/api/v2/session/${sessionId}/node-instances`);
    if (nodeInstances.every(({ state }) => state === 'Succeeded')) break;
    const isOver = nodeInstances.some(({ state }) => state === 'Failed') || Date.now() > until;
    if (isOver) throw new Error(`There is no dashboard: ${JSON.stringify(nodeInstances)}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  const { dimensions } = await client.expect<{ dimensions: Array<{ url: string }> }>(
    200,
    'GET',
    `/api/v2/sessions/${sessionId}`,
  );
  const path = `/api/v2${dimensions[0]!.url.replace('/dashboards/', '/dashboard/dimensions/')}`;
  const { sources } = await client.expect<{
    sources: ReadonlyArray<{ readonly channels: Dashboard['channels'] }>;
  }>(200, 'GET', path);
  return { path, channels: sources[0]!.channels };
}
