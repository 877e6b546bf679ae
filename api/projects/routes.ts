/** Projects (contract: User, projects; decisions 4). */
import type { z } from 'zod';
import { access } from '../../domain/access/access.ts';
import { Problem } from '../../domain/errors.ts';
import { ensureUser } from '../../store/administration/users.ts';
import {
  createProject,
  findProject,
  type ProjectFields,
  type ProjectWrite,
  projectPages,
  type ShownProject,
  updateProject,
} from '../../store/registry/projects.ts';
import { type People, peopleOf } from '../identity/participants.ts';
import { resumed } from '../resumed.ts';
import { defineRoute } from '../route.ts';
import { presentProject } from './present.ts';
import { projectParams, projectRequestSchema, projectSchema } from './schema.ts';

const tags = ['Projects'] as const;
const params = projectParams;

const list = defineRoute({
  id: 'listProjects',
  method: 'GET',
  path: '/projects',
  summary: 'Lists all projects',
  description: 'Sorted by creation. The address of an owner whom the caller may not see is empty.',
  tags,
  access: access.projectRead,
  responses: { 200: { description: 'The projects.', items: projectSchema } },
  async handler(context) {
    const pages = shownPages(projectPages(context.services.database), peopleOf(context));
    return { status: 200, items: resumed(await pages.next(), pages) };
  },
});

async function* shownPages(pages: AsyncIterable<ShownProject[]>, people: People) {
  for await (const page of pages) {
    await people.prefetch(page.map(({ owner }) => owner.externalId));
    yield await Promise.all(page.map((project) => present(project, people)));
  }
}

const one = defineRoute({
  id: 'getProject',
  method: 'GET',
  path: '/projects/{id}',
  summary: 'Returns a project',
  description: 'The address of an owner whom the caller may not see is empty.',
  tags,
  access: access.projectRead,
  params,
  responses: { 200: { description: 'The project.', schema: projectSchema } },
  errors: ['projectNotFoundOnRead'],
  refusals: { params: 'projectNotFoundOnRead' },
  async handler(context) {
    const project = await findProject(context.services.database, context.params.id);
    if (project === undefined) throw new Problem('projectNotFoundOnRead');
    return { status: 200, body: await present(project, peopleOf(context)) };
  },
});

const create = defineRoute({
  id: 'createProject',
  method: 'POST',
  path: '/projects',
  summary: 'Creates a project',
  description: 'An unknown `OwnerId` or `DefaultSessionTemplateId` is 400.',
  tags,
  access: access.projectCreate,
  audit: { object: 'project' },
  idempotent: 'plain',
  body: projectRequestSchema,
  bodyNames: 'PascalCase',
  responses: { 201: { description: 'The project.', schema: projectSchema } },
  errors: ['invalidProjectData'],
  refusals: { body: 'invalidProjectData' },
  async handler(context) {
    const { services, principal, body } = context;
    const caller = await ensureUser(services.database, {
      externalId: principal.userId,
      type: principal.role,
    });
    const project = saved(await createProject(services.database, fieldsOf(body), caller.id));
    return { status: 201, body: await present(project, peopleOf(context)) };
  },
});

const update = defineRoute({
  id: 'updateProject',
  method: 'PUT',
  path: '/projects/{id}',
  summary: 'Updates a project',
  description:
    'An absent optional field does not change. Null clears the default template and the retention; other fields cannot be null.',
  tags,
  access: access.projectUpdate,
  audit: { object: 'project', from: 'id' },
  params,
  body: projectRequestSchema,
  bodyNames: 'PascalCase',
  responses: { 200: { description: 'The project.', schema: projectSchema } },
  errors: ['projectNotFound', 'invalidProjectData'],
  refusals: { params: 'projectNotFound', body: 'invalidProjectData' },
  async handler(context) {
    const { services, params, body } = context;
    const project = saved(await updateProject(services.database, params.id, fieldsOf(body)));
    return { status: 200, body: await present(project, peopleOf(context)) };
  },
});

async function present(project: ShownProject, people: People) {
  return presentProject(project, await people.find(project.owner.externalId));
}

/** Null clears optional fields, and means "not given" for the rest. */
function fieldsOf(body: z.output<typeof projectRequestSchema>): ProjectFields {
  return {
    title: body.Title,
    description: body.Description ?? undefined,
    icon: body.Icon ?? undefined,
    ownerId: body.OwnerId ?? undefined,
    defaultSessionTemplateId: body.DefaultSessionTemplateId,
    queuedIngestion: body.QueuedIngestion ?? undefined,
    retentionDays: body.RetentionDays,
    pinnedMetadata: body.PinnedMetadata ?? undefined,
    priority: body.Priority ?? undefined,
  };
}

function saved(write: ProjectWrite): ShownProject {
  if (write.outcome === 'saved') return write.project;
  throw new Problem(write.outcome === 'missing' ? 'projectNotFound' : 'invalidProjectData');
}

export const projectRoutes = [list, one, create, update];
