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

/** A new session in a project of its own, and the id of its input node. */
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
