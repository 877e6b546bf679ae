/** Versions of session templates: list, one, and what changed between two. */
import type { z } from 'zod';
import { access } from '../../domain/access/access.ts';
import { Problem } from '../../domain/errors.ts';
import { templateChanges } from '../../domain/templates/template-changes.ts';
import { formatTimestamp } from '../../domain/timestamp.ts';
import type { Database } from '../../store/connection/database.ts';
import {
  findTemplateVersion,
  isTemplate,
  listTemplateVersions,
  type TemplateVersion,
} from '../../store/registry/template-versions.ts';
import { type People, peopleOf } from '../identity/participants.ts';
import { defineRoute } from '../route.ts';
import { templateParams } from './schema.ts';
import {
  changesQuerySchema,
  changesSchema,
  versionListQuerySchema,
  versionListSchema,
  versionParams,
  versionSchema,
} from './version-schema.ts';

const tags = ['Session templates'] as const;
const path = '/api/v2/session/session_templates/{sessionTemplateId}/versions';

const list = defineRoute({
  id: 'listSessionTemplateVersions',
  method: 'GET',
  path,
  summary: 'Lists the versions of a session template, newest first',
  description:
    'Each import that changed something made one. Sessions keep what their template said when they were made: see ' +
    'adopt-template.',
  tags,
  access: access.templateVersionRead,
  params: templateParams,
  query: versionListQuerySchema,
  responses: { 200: { description: 'One page.', schema: versionListSchema } },
  errors: ['sessionTemplateNotFound'],
  refusals: { params: 'sessionTemplateNotFound' },
  async handler(context) {
    const { params, query, services } = context;
    const { page, pageSize } = query;
    const { rows, total } = await listTemplateVersions(services.database, params.sessionTemplateId, query);
    if (total === 0 && !(await isTemplate(services.database, params.sessionTemplateId)))
      throw new Problem('sessionTemplateNotFound');
    const people = peopleOf(context);
    await people.prefetch(rows.flatMap(({ createdBy }) => createdBy ?? []));
    const versions = await Promise.all(
      rows.map(async ({ templateVersion, description, nodes, ...row }) => ({
        ...(await presentHead(row, people)),
        templateVersion,
        description,
        nodes,
      })),
    );
    const totalPages = Math.ceil(total / pageSize);
    return { status: 200, body: { versions, page, pageSize, totalCount: total, totalPages } };
  },
});

const one = defineRoute({
  id: 'getSessionTemplateVersion',
  method: 'GET',
  path: `${path}/{version}`,
  summary: 'Returns a version of a session template as a definition file',
  description: 'Change it and import it again, with `updateIfExists`, to make the next version.',
  tags,
  access: access.templateVersionRead,
  params: versionParams,
  responses: { 200: { description: 'The version.', schema: versionSchema } },
  errors: ['sessionTemplateNotFound', 'sessionTemplateVersionNotFound'],
  refusals: { params: 'sessionTemplateVersionNotFound' },
  async handler(context) {
    const { sessionTemplateId, version } = context.params;
    const found = await load(context.services.database, sessionTemplateId, version);
    const { name, content } = found;
    const body: z.input<typeof versionSchema> = {
      ...(await presentHead(found, peopleOf(context))),
      definition: {
        TemplateVersion: content.templateVersion,
        Name: name,
        Description: content.description,
        Configuration: content.configuration,
        Nodes: content.nodes.map((node) => ({
          Name: node.name,
          NodeTemplateName: node.nodeTemplate,
          DefaultConfiguration: node.configuration,
          Parents: [...node.parents],
        })),
      },
    };
    return { status: 200, body };
  },
});

const changes = defineRoute({
  id: 'compareSessionTemplateVersions',
  method: 'GET',
  path: `${path}/{version}/changes`,
  summary: 'Returns what a version of a session template changed',
  description:
    'Since the version before, another version, or a version of another template: nodes that were added or removed, or ' +
    'that got other parents or another configuration.',
  tags,
  access: access.templateVersionRead,
  params: versionParams,
  query: changesQuerySchema,
  responses: { 200: { description: 'The changes.', schema: changesSchema } },
  errors: ['sessionTemplateNotFound', 'sessionTemplateVersionNotFound'],
  refusals: { params: 'sessionTemplateVersionNotFound' },
  async handler({ params, query, services }) {
    const { sessionTemplateId, version } = params;
    const { sinceTemplateId = sessionTemplateId } = query;
    const after = await load(services.database, sessionTemplateId, version);
    const since = query.since ?? (sinceTemplateId === sessionTemplateId ? version - 1 : null);
    const before = since === 0 ? null : await load(services.database, sinceTemplateId, since);
    const found = templateChanges(before?.content ?? null, after.content);
    return {
      status: 200,
      body: {
        sessionTemplateId,
        version,
        since: before && { sessionTemplateId: sinceTemplateId, version: before.version },
        fields: [...found.fields],
        nodes: [...found.nodes],
      },
    };
  },
});

/** @param version null: the newest */
async function load(
  database: Database,
  templateId: number,
  version: number | null,
): Promise<TemplateVersion> {
  const found = await findTemplateVersion(database, templateId, version);
  if (found !== undefined) return found;
  const isThere = await isTemplate(database, templateId);
  throw new Problem(isThere ? 'sessionTemplateVersionNotFound' : 'sessionTemplateNotFound');
}

async function presentHead(
  { version, createdAt, createdBy }: Pick<TemplateVersion, 'version' | 'createdAt' | 'createdBy'>,
  people: People,
) {
  return {
    version,
    createdAt: formatTimestamp(createdAt),
    createdBy: createdBy === null ? null : { id: createdBy, name: await people.nameOf(createdBy) },
  };
}

export const templateVersionRoutes = [list, one, changes];
