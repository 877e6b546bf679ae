/** Session templates: import, list, one (contract: Session templates; decisions 4). */
import { z } from 'zod';
import { access } from '../../domain/access/access.ts';
import { Problem } from '../../domain/errors.ts';
import {
  checkTemplateFile,
  nodeTemplateNamesOf,
  templateNameOf,
} from '../../domain/templates/template-file.ts';
import type { Database } from '../../store/connection/database.ts';
import { findNodeTemplates } from '../../store/registry/node-templates.ts';
import {
  findTemplate,
  importTemplate,
  listTemplates,
  nodeTemplatesOfTemplate,
  type TemplateImport,
  tryImportTemplate,
} from '../../store/registry/session-templates.ts';
import { defineRoute } from '../route.ts';
import { presentTemplate, presentTemplateWithNodes } from './present.ts';
import {
  importableSchema,
  importedSchema,
  invalidTemplateSchema,
  templateExample,
  templateFileSchema,
  templateParams,
  templateSchema,
} from './schema.ts';
import { templateVersionRoutes } from './version-routes.ts';

const tags = ['Session templates'] as const;

const list = defineRoute({
  id: 'listSessionTemplates',
  method: 'GET',
  path: '/api/v2/session/session_templates',
  aliases: ['/session_templates'],
  summary: 'Lists all session templates, without their nodes',
  description: '`nodes` is empty in this list; request a single template for its nodes.',
  tags,
  access: access.templateRead,
  responses: {
    200: {
      description: 'The templates.',
      schema: z.array(templateSchema).meta({ example: [templateExample] }),
    },
  },
  async handler({ services }) {
    return { status: 200, body: (await listTemplates(services.database)).map(presentTemplate) };
  },
});

const one = defineRoute({
  id: 'getSessionTemplate',
  method: 'GET',
  path: '/api/v2/session/session_templates/{sessionTemplateId}',
  summary: 'Returns a session template with its nodes',
  description: 'The nodes belong to the template: a session gets its own node instances, with other ids.',
  tags,
  access: access.templateRead,
  params: templateParams,
  responses: { 200: { description: 'The template.', schema: templateSchema } },
  errors: ['sessionTemplateNotFound'],
  refusals: { params: 'sessionTemplateNotFound' },
  async handler({ params, services }) {
    const template = await findTemplate(services.database, params.sessionTemplateId);
    if (template === undefined) throw new Problem('sessionTemplateNotFound');
    return { status: 200, body: presentTemplateWithNodes(template) };
  },
});

const importFile = defineRoute({
  id: 'importSessionTemplate',
  method: 'POST',
  path: '/api/v2/admin/session-templates',
  summary: 'Imports a template definition file',
  description:
    'An existing template is updated when the graph is the same and `updateIfExists` is true; later sessions get the new configuration. A changed graph requires a new name.',
  tags,
  access: access.templateImport,
  audit: { object: 'sessionTemplate' },
  idempotent: 'plain',
  body: templateFileSchema,
  responses: {
    200: { description: 'The template of this name was updated.', schema: importedSchema },
    201: { description: 'The template was created.', schema: importedSchema },
  },
  errors: ['invalidTemplate', 'templateExists'],
  errorBodies: { invalidTemplate: invalidTemplateSchema },
  refusals: { body: 'invalidTemplate' },
  async handler({ body, principal, services }) {
    const { template, usable } = await checkedFile(services.database, body);
    const result = done(await importTemplate(services.database, template, usable, principal.userId));
    const { id, name, version, changed } = result;
    return result.outcome === 'created'
      ? { status: 201, body: { id, name, created: true, version, changed } }
      : { status: 200, body: { id, name, created: false, version, changed } };
  },
});

const validateFile = defineRoute({
  id: 'validateSessionTemplate',
  method: 'POST',
  path: '/api/v2/admin/session-templates/validate',
  summary: 'Validates a template definition file without importing it',
  description: 'Answers what an import of the same file would do now, with the same faults.',
  tags,
  access: access.templateImport,
  audit: { notHere: 'Changes nothing.' },
  body: templateFileSchema,
  responses: { 200: { description: 'The file can be imported.', schema: importableSchema } },
  errors: ['invalidTemplate', 'templateExists'],
  errorBodies: { invalidTemplate: invalidTemplateSchema },
  refusals: { body: 'invalidTemplate' },
  async handler({ body, services }) {
    const { template, usable } = await checkedFile(services.database, body);
    const { outcome, name, version, changed } = done(
      await tryImportTemplate(services.database, template, usable),
    );
    return { status: 200, body: { name, created: outcome === 'created', version, changed } };
  },
});

async function checkedFile(database: Database, body: unknown) {
  const usable = await usableNodeTemplates(database, body);
  const check = checkTemplateFile(body, usable);
  if (!check.ok) throw new Problem('invalidTemplate', { fields: { errors: check.issues } });
  return { template: check.template, usable };
}

function done(result: TemplateImport) {
  if (result.outcome === 'exists') throw new Problem('templateExists');
  if (result.outcome === 'graph-differs') throw new Problem('templateExists', { message: graphDiffers });
  return result;
}

const graphDiffers =
  'A session template with the same name and another graph already exists; choose a new name.';

/** A template may keep retired node templates that it already uses. */
async function usableNodeTemplates(database: Database, body: unknown) {
  const known = await findNodeTemplates(database, nodeTemplateNamesOf(body));
  const name = templateNameOf(body);
  const inUse = name === null ? new Set<string>() : await nodeTemplatesOfTemplate(database, name);
  return new Map(
    [...known].map(([key, template]) => [key, { ...template, retired: template.retired && !inUse.has(key) }]),
  );
}

export const sessionTemplateRoutes = [list, one, importFile, validateFile, ...templateVersionRoutes];
