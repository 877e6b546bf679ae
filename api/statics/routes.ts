/** Administration of system dashboards: `/api/v2/admin/statics` (decisions 12). */
import { access } from '../../domain/access/access.ts';
import { Problem } from '../../domain/errors.ts';
import { formatTimestamp } from '../../domain/timestamp.ts';
import {
  addStaticInstance,
  createStatic,
  deleteStatic,
  findStatic,
  listStatics,
  removeStaticInstance,
} from '../../store/dashboards/statics.ts';
import type { StaticDefinition } from '../../store/entities/static-definition.ts';
import { defineRoute } from '../route.ts';
import type { Services } from '../services.ts';
import {
  newInstanceSchema,
  newStaticSchema,
  staticInstanceParams,
  staticParams,
  staticSchema,
} from './schema.ts';

const tags = ['Dashboards'] as const;
const path = '/api/v2/admin/statics';

const list = defineRoute({
  id: 'listStatics',
  method: 'GET',
  path,
  summary: 'Lists all system dashboards with the sessions that back them',
  description: 'In the order of the sidebar, including those that it does not show.',
  tags,
  access: access.admin,
  responses: { 200: { description: 'The system dashboards in order.', schema: staticSchema.array() } },
  async handler({ services }) {
    return { status: 200, body: (await listStatics(services.database)).map(present) };
  },
});

const create = defineRoute({
  id: 'createStatic',
  method: 'POST',
  path,
  summary: 'Creates a system dashboard',
  description: 'The sidebar links to it when a session that backs it has a dashboard of version `next`.',
  tags,
  access: access.admin,
  audit: { object: 'static', from: 'code' },
  idempotent: 'plain',
  body: newStaticSchema,
  responses: { 201: { description: 'Defined.', schema: staticSchema } },
  errors: ['staticExists'],
  async handler({ services, body }) {
    if (!(await createStatic(services.database, body))) throw new Problem('staticExists');
    return { status: 201, body: await existing(services, body.code) };
  },
});

const remove = defineRoute({
  id: 'deleteStatic',
  method: 'DELETE',
  path: `${path}/{code}`,
  summary: 'Deletes a system dashboard',
  description: 'Its sessions remain, and session lists show them again.',
  tags,
  access: access.admin,
  audit: { object: 'static', from: 'code' },
  params: staticParams,
  responses: { 204: { description: 'Deleted.' } },
  errors: ['staticNotFound'],
  refusals: { params: 'staticNotFound' },
  async handler({ services, params }) {
    if (!(await deleteStatic(services.database, params.code))) throw new Problem('staticNotFound');
    return { status: 204 };
  },
});

const addInstance = defineRoute({
  id: 'addStaticInstance',
  method: 'POST',
  path: `${path}/{code}/instances`,
  summary: 'Adds a session that backs a system dashboard',
  description: 'Lists, searches and queries no longer show the session. A repeat changes nothing.',
  tags,
  access: access.admin,
  audit: { object: 'static', from: 'code' },
  idempotent: 'plain',
  params: staticParams,
  body: newInstanceSchema,
  responses: { 201: { description: 'The system dashboard.', schema: staticSchema } },
  errors: ['staticNotFound', 'sessionNotFound'],
  refusals: { params: 'staticNotFound' },
  async handler({ services, params, body }) {
    const outcome = await addStaticInstance(services.database, params.code, body.sessionId);
    if (outcome === 'static-missing') throw new Problem('staticNotFound');
    if (outcome === 'session-missing') throw new Problem('sessionNotFound');
    return { status: 201, body: await existing(services, params.code) };
  },
});

const removeInstance = defineRoute({
  id: 'removeStaticInstance',
  method: 'DELETE',
  path: `${path}/{code}/instances/{sessionId}`,
  summary: 'Removes a session that backs a system dashboard',
  description: 'The session remains, and session lists show it again.',
  tags,
  access: access.admin,
  audit: { object: 'static', from: 'code' },
  params: staticInstanceParams,
  responses: { 204: { description: 'Removed.' } },
  errors: ['staticNotFound'],
  refusals: { params: 'staticNotFound' },
  async handler({ services, params }) {
    const isRemoved = await removeStaticInstance(services.database, params.code, params.sessionId);
    if (!isRemoved) throw new Problem('staticNotFound');
    return { status: 204 };
  },
});

async function existing(services: Services, code: string) {
  const row = await findStatic(services.database, code);
  if (row === undefined) throw new Problem('staticNotFound');
  return present(row);
}

function present(row: StaticDefinition) {
  return {
    ...row,
    createdAt: formatTimestamp(row.createdAt),
    instances: row.instances.getItems().map(({ id, sessionId, createdAt }) => ({
      id,
      sessionId,
      createdAt: formatTimestamp(createdAt),
    })),
  };
}

export const staticRoutes = [list, create, remove, addInstance, removeInstance];
