/** A template with a diamond of four nodes, and calls that make sessions of it. */
import { anonymousKey } from '../../../api/identity/participants.ts';
import { projectRoutes } from '../../../api/projects/routes.ts';
import { sessionTemplateRoutes } from '../../../api/session-templates/routes.ts';
import { sessionRoutes } from '../../../api/sessions/routes.ts';
import { apiStage } from '../../support/api.ts';
import { inputNode, ship, tabularNode, templateFile } from '../../support/templates.ts';

export async function diamondWorld() {
  const routes = [...sessionRoutes, ...projectRoutes, ...sessionTemplateRoutes];
  const { api, call, people, platform } = await apiStage({ routes });
  await ship(api.composed.services.database);

  const projectId = (await call('POST', '/projects', { Title: 'Flights' })).body.id;
  const nodes = [
    inputNode('a'),
    inputNode('b'),
    tabularNode('both', 'b', 'a'),
    tabularNode('last', 'both', 'a'),
  ];
  const imported = await call('POST', '/api/v2/admin/session-templates', templateFile('diamond', nodes));
  const templateId = imported.body.id;
  const create = (json: object = {}, token = people.Developer.token) =>
    call('POST', '/session', { ProjectId: projectId, SessionTemplateId: templateId, ...json }, token);

  const keyOf = (address: string) => anonymousKey(address, platform.environment.PARTICIPANT_KEY!);

  const stored = async (id: string) =>
    (await api.composed.services.database.query('select * from session where id = $1', [id]))[0]!;
  return { api, people, projectId, templateId, call, create, keyOf, stored };
}
