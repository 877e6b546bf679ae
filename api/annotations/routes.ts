/** Annotations of a session: read as its progress, written by those who may change it (additions, section 4). */
import { access } from '../../domain/access/access.ts';
import { Problem } from '../../domain/errors.ts';
import { inTimeOrder } from '../../http/schemas.ts';
import {
  type AnnotationRow,
  changeAnnotation,
  createAnnotation,
  deleteAnnotation,
  listAnnotations,
} from '../../store/sessions/annotations.ts';
import { type People, peopleOf } from '../identity/participants.ts';
import { defineRoute } from '../route.ts';
import { admitTrainee } from '../sessions/admit-trainee.ts';
import { sessionParams } from '../sessions/schema.ts';
import {
  annotationChangeSchema,
  annotationFields,
  annotationListSchema,
  annotationParams,
  annotationQuerySchema,
  annotationSchema,
  newAnnotationSchema,
  presentAnnotation,
} from './schema.ts';

const tags = ['Annotations'] as const;
const path = '/api/v2/session/{id}/annotations';

const list = defineRoute({
  id: 'listAnnotations',
  method: 'GET',
  path,
  summary: "Lists a session's annotations in the order of time",
  description: 'Moments and ranges with words, of people and of runners.',
  tags,
  access: access.progressRead,
  params: sessionParams,
  query: inTimeOrder(annotationQuerySchema),
  responses: { 200: { description: 'One page.', schema: annotationListSchema } },
  errors: ['sessionNotFound'],
  refusals: { params: 'sessionNotFound' },
  async handler(context) {
    const { params, query, services } = context;
    const { page, pageSize, ...filter } = query;
    const found = await listAnnotations(services.database, params.id, filter, {
      number: page,
      size: pageSize,
    });
    if (found === undefined) throw new Problem('sessionNotFound');
    const people = peopleOf(context);
    await people.prefetch(found.rows.flatMap(({ createdBy }) => createdBy ?? []));
    return {
      status: 200,
      body: {
        annotations: await Promise.all(found.rows.map((row) => present(row, people))),
        page,
        pageSize,
        totalCount: found.totalCount,
        totalPages: Math.ceil(found.totalCount / pageSize),
      },
    };
  },
});

const create = defineRoute({
  id: 'createAnnotation',
  method: 'POST',
  path,
  summary: 'Adds an annotation to a session',
  description: 'Also to a frozen one. A Trainee must be a participant.',
  tags,
  access: access.annotationWrite,
  audit: { object: 'session', from: 'id' },
  idempotent: 'plain',
  params: sessionParams,
  body: newAnnotationSchema,
  responses: { 201: { description: 'The annotation.', schema: annotationSchema } },
  errors: ['sessionNotFound', 'notAParticipant', 'tooManyAnnotations'],
  refusals: { params: 'sessionNotFound' },
  async handler(context) {
    const { params, body, principal, services } = context;
    const people = peopleOf(context);
    await admitTrainee(services.database, params.id, principal, people, 'sessionNotFound');
    const fields = annotationFields(body);
    const created = await createAnnotation(services.database, params.id, fields, principal.userId);
    if (created.outcome !== 'created')
      throw new Problem(created.outcome === 'too-many' ? 'tooManyAnnotations' : 'sessionNotFound');
    return { status: 201, body: await present(created.annotation, people) };
  },
});

const change = defineRoute({
  id: 'changeAnnotation',
  method: 'PATCH',
  path: `${path}/{annotationId}`,
  summary: 'Changes an annotation; an absent field does not change',
  description: 'Also one that a runner made, which stays its own. A Trainee must be a participant.',
  tags,
  access: access.annotationWrite,
  audit: { object: 'session', from: 'id' },
  params: annotationParams,
  body: annotationChangeSchema,
  responses: { 200: { description: 'The annotation.', schema: annotationSchema } },
  errors: ['annotationNotFound', 'notAParticipant', 'invalidRequest'],
  refusals: { params: 'annotationNotFound' },
  async handler(context) {
    const { params, body, principal, services } = context;
    const people = peopleOf(context);
    await admitTrainee(services.database, params.id, principal, people, 'annotationNotFound');
    const place = { sessionId: params.id, annotationId: params.annotationId };
    const { tags: given, ...rest } = body;
    const fields = given === undefined ? rest : { ...rest, tags: [...new Set(given)] };
    const changed = await changeAnnotation(services.database, place, fields);
    if (changed === undefined) throw new Problem('annotationNotFound');
    if (changed === 'times-reversed')
      throw new Problem('invalidRequest', { message: 'to must not be before from.' });
    return { status: 200, body: await present(changed, people) };
  },
});

const remove = defineRoute({
  id: 'deleteAnnotation',
  method: 'DELETE',
  path: `${path}/{annotationId}`,
  summary: 'Deletes an annotation',
  description: 'A Trainee must be a participant.',
  tags,
  access: access.annotationDelete,
  audit: { object: 'session', from: 'id' },
  params: annotationParams,
  responses: { 204: { description: 'Gone.' } },
  errors: ['annotationNotFound', 'notAParticipant'],
  refusals: { params: 'annotationNotFound' },
  async handler(context) {
    const { params, principal, services } = context;
    await admitTrainee(services.database, params.id, principal, peopleOf(context), 'annotationNotFound');
    const place = { sessionId: params.id, annotationId: params.annotationId };
    if (!(await deleteAnnotation(services.database, place))) throw new Problem('annotationNotFound');
    return { status: 204 };
  },
});

async function present(row: AnnotationRow, people: People) {
  return presentAnnotation(row, row.createdBy === null ? null : await people.nameOf(row.createdBy));
}

export const annotationRoutes = [list, create, change, remove];
