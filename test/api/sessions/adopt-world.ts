/** Sessions whose template changes, and their nodes. */
import { afterAll, expect } from 'vitest';
import { testEnvironment } from '../../support/stack.ts';
import type { tabularNode } from '../../support/templates.ts';
import { sessionWorld } from './support.ts';

export type Node = ReturnType<typeof tabularNode>;

export async function adoptWorld() {
  const platform = await testEnvironment();
  const world = await sessionWorld(platform);

  afterAll(() => world.api.stop());

  const withFormat = (node: Node, inputFormat: string): Node => ({
    ...node,
    DefaultConfiguration: { inputFormat },
  });

  let names = 0;

  const newName = () => {
    names += 1;
    return `Adopted ${names}`;
  };

  async function sessionOf(SessionTemplateId: number, fields: object = {}) {
    const made = await world.call('POST', '/session', {
      ProjectId: world.projectId,
      SessionTemplateId,
      ...fields,
    });
    expect(made.status).toBe(201);
    return made.body;
  }

  const shown = async (id: string) => (await world.call('GET', `/api/v2/sessions/${id}`)).body;

  const adopt = (id: string, json?: object, token = world.people.Instructor.token) =>
    world.call('POST', `/api/v2/session/${id}/adopt-template`, json, token);

  // biome-ignore lint/suspicious/noExplicitAny: as the session is answered.
  const nodesOf = (session: any): Record<string, any> =>
    Object.fromEntries(session.nodeInstances.map((node: { name: string }) => [node.name, node]));

  const runsOf = (nodeId: number) =>
    world.query<{ state: string; reason: string }>(
      'select state, reason from node_run where node_instance_id = $1 order by queue_time',
      [nodeId],
    );
  return { world, withFormat, newName, sessionOf, shown, adopt, nodesOf, runsOf };
}
