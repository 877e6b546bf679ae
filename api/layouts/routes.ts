/** Saved layouts of dashboards (additions, section 4). */
import type { z } from 'zod';
import { access, type Role } from '../../domain/access/access.ts';
import { Problem, type ProblemKey } from '../../domain/errors.ts';
import { channelsOf, parseDerived } from '../../domain/recordings/derived-syntax.ts';
import { formatTimestamp } from '../../domain/timestamp.ts';
import {
  createLayout,
  deleteLayout,
  findLayout,
  type LayoutHead,
  type LayoutRefusal,
  type LayoutWrite,
  type LayoutWriter,
  layoutsOfDimension,
  listLayouts,
  updateLayout,
} from '../../store/dashboards/layouts.ts';
import type { DashboardLayout } from '../../store/entities/dashboard-layout.ts';
import { loadDimension } from '../dashboards/load-dimension.ts';
import { dimensionParams } from '../dashboards/schema.ts';
import { etagHeader, etagOf, expectedRevision, ifMatchHeaders } from '../entity-tag.ts';
import { defineRoute } from '../route.ts';
import {
  fittingLayoutsSchema,
  layoutListSchema,
  layoutParams,
  layoutQuerySchema,
  layoutSchema,
  newLayoutSchema,
} from './schema.ts';

const tags = ['Dashboards'] as const;
const path = '/api/v2/dashboard/layouts';
const layoutResponse = { description: 'The layout.', schema: layoutSchema, headers: etagHeader };

const list = defineRoute({
  id: 'listLayouts',
  method: 'GET',
  path,
  summary: 'Lists the layouts of dashboards that the caller sees',
  description: 'Their own, and those for projects, session templates and everyone, without their panels.',
  tags,
  access: access.dashboardRead,
  query: layoutQuerySchema,
  responses: { 200: { description: 'All of them.', schema: layoutListSchema } },
  async handler({ query, principal, services }) {
    const found = await listLayouts(services.database, principal.userId, query);
    return { status: 200, body: { layouts: found.map((head) => presentHead(head, writerOf(principal))) } };
  },
});

const ofDashboard = defineRoute({
  id: 'listDashboardLayouts',
  method: 'GET',
  path: '/api/v2/dashboard/dimensions/{id}/layouts',
  summary: 'Lists the layouts that fit a dashboard, and returns the one that it opens with',
  description:
    "Those of its session's project and template that draw a channel which it has: the caller's own first, then those for the " +
    'template, the project and everyone; among these the narrower and the newer first.',
  tags,
  access: access.dashboardRead,
  params: dimensionParams,
  responses: { 200: { description: 'The layouts in order.', schema: fittingLayoutsSchema } },
  errors: ['dimensionNotFound'],
  refusals: { params: 'dimensionNotFound' },
  async handler(context) {
    const { principal, services } = context;
    const dimension = await loadDimension(context);
    const found = await layoutsOfDimension(services.database, principal.userId, dimension.id);
    const writer = writerOf(principal);
    const [first] = found;
    // One that was deleted meanwhile opens nothing.
    const opens = first && (await findLayout(services.database, first.id, principal.userId));
    return {
      status: 200,
      body: {
        layouts: found.map((head) => presentHead(head, writer)),
        opens: opens === undefined ? null : present(opens, writer),
      },
    };
  },
});

const one = defineRoute({
  id: 'getLayout',
  method: 'GET',
  path: `${path}/{id}`,
  summary: 'Returns a layout',
  description: 'With its panels. That of someone else alone is not found.',
  tags,
  access: access.dashboardRead,
  params: layoutParams,
  responses: { 200: layoutResponse },
  errors: ['layoutNotFound'],
  refusals: { params: 'layoutNotFound' },
  async handler({ params, principal, services }) {
    const layout = await findLayout(services.database, params.id, principal.userId);
    if (layout === undefined) throw new Problem('layoutNotFound');
    return { status: 200, ...tagged(present(layout, writerOf(principal))) };
  },
});

const create = defineRoute({
  id: 'createLayout',
  method: 'POST',
  path,
  summary: 'Saves a layout',
  description:
    'Each person for themself; those for a project, a session template or everyone need an Administrator, Developer or Instructor.',
  tags,
  access: access.layoutWrite,
  audit: { object: 'layout' },
  idempotent: 'plain',
  body: newLayoutSchema,
  responses: { 201: layoutResponse },
  errors: ['forbidden', 'projectNotFound', 'sessionTemplateNotFound', 'tooManyLayouts'],
  async handler({ body, principal, services }) {
    const writer = writerOf(principal);
    const created = await createLayout(services.database, fieldsOf(body), writer);
    return { status: 201, ...tagged(saved(created, writer)) };
  },
});

const update = defineRoute({
  id: 'updateLayout',
  method: 'PUT',
  path: `${path}/{id}`,
  summary: 'Replaces a layout',
  description:
    'All of its fields. With `If-Match` it is refused when another change came between; without, the later one stays.',
  tags,
  access: access.layoutWrite,
  audit: { object: 'layout', from: 'id' },
  params: layoutParams,
  headers: ifMatchHeaders,
  body: newLayoutSchema,
  responses: { 200: layoutResponse },
  errors: [
    'forbidden',
    'layoutNotFound',
    'layoutOvertaken',
    'projectNotFound',
    'sessionTemplateNotFound',
    'tooManyLayouts',
  ],
  refusals: { params: 'layoutNotFound' },
  async handler({ params, headers, body, principal, services }) {
    const writer = writerOf(principal);
    const target = { id: params.id, isExpected: expectedRevision(headers) };
    const updated = await updateLayout(services.database, target, fieldsOf(body), writer);
    return { status: 200, ...tagged(saved(updated, writer)) };
  },
});

const remove = defineRoute({
  id: 'deleteLayout',
  method: 'DELETE',
  path: `${path}/{id}`,
  summary: 'Deletes a layout',
  description:
    'Dashboards open with the next one that fits. With `If-Match` it is refused when a change came between.',
  tags,
  access: access.layoutWrite,
  audit: { object: 'layout', from: 'id' },
  params: layoutParams,
  headers: ifMatchHeaders,
  responses: { 204: { description: 'Gone.' } },
  errors: ['forbidden', 'layoutNotFound', 'layoutOvertaken'],
  refusals: { params: 'layoutNotFound' },
  async handler({ params, headers, principal, services }) {
    const target = { id: params.id, isExpected: expectedRevision(headers) };
    const outcome = await deleteLayout(services.database, target, writerOf(principal));
    if (outcome !== 'deleted') throw new Problem(problems[outcome]);
    return { status: 204 };
  },
});

const writerOf = ({ userId, role }: { readonly userId: string; readonly role: Role }): LayoutWriter => ({
  userId,
  mayShare: role !== 'Trainee',
});

type GivenLayout = z.output<typeof newLayoutSchema>;

function fieldsOf({ name, scope, projectId, sessionTemplateId, layout }: GivenLayout) {
  const drawn = layout.panels.flatMap(({ channels }) => channels);
  const computed = layout.derived.filter((one) => drawn.includes(`=${one.name}`));
  const inExpressions = computed.flatMap(({ expression }) =>
    channelsOf(parseDerived(expression)).map((channel) => channel.name),
  );
  const stored = drawn.filter((channel) => !channel.startsWith('='));
  const channels = [...new Set([...stored, ...inExpressions])];
  return { name, scope, projectId, sessionTemplateId, channels, layout };
}

const problems = {
  missing: 'layoutNotFound',
  overtaken: 'layoutOvertaken',
  forbidden: 'forbidden',
  'too-many': 'tooManyLayouts',
  'project-missing': 'projectNotFound',
  'template-missing': 'sessionTemplateNotFound',
} as const satisfies Record<LayoutRefusal, ProblemKey>;

function saved(write: LayoutWrite, writer: LayoutWriter) {
  if (write.outcome === 'saved') return present(write.layout, writer);
  throw new Problem(problems[write.outcome]);
}

const presentHead = (head: LayoutHead, { mayShare }: LayoutWriter) => ({
  id: head.id,
  name: head.name,
  scope: head.scope,
  projectId: head.projectId ?? null,
  sessionTemplateId: head.sessionTemplateId ?? null,
  revision: head.revision,
  // A layout with this scope is shown to its owner alone.
  mayChange: head.scope === 'mine' || mayShare,
  updatedAt: formatTimestamp(head.updatedAt),
});

const present = (layout: DashboardLayout, writer: LayoutWriter) => ({
  ...presentHead(layout, writer),
  layout: layout.layout,
});

const tagged = (body: ReturnType<typeof present>) => ({ body, headers: etagOf(body.revision) });

export const layoutRoutes = [list, ofDashboard, one, create, update, remove];
