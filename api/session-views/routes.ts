/** Saved views of the list of sessions, for oneself or for others. */
import { access } from '../../domain/access/access.ts';
import { Problem } from '../../domain/errors.ts';
import {
  changeSessionView,
  createSessionView,
  deleteSessionView,
  listSessionViews,
  type SessionViewWrite,
} from '../../store/sessions/session-views.ts';
import { peopleOf } from '../identity/participants.ts';
import { defineRoute } from '../route.ts';
import {
  newSessionViewSchema,
  presentSessionView,
  sessionViewFields,
  sessionViewParams,
  sessionViewSchema,
  sessionViewsSchema,
} from './schema.ts';

const tags = ['Sessions'] as const;
const path = '/api/v2/session/views';
const refusals = {
  'project-missing': 'projectNotFound',
  'view-missing': 'sessionViewNotFound',
  'not-own': 'sessionViewOfAnother',
  'too-many': 'tooManySessionViews',
} as const;

const list = defineRoute({
  id: 'listSessionViews',
  method: 'GET',
  path,
  summary: 'Lists the saved views of the list of sessions',
  description: "The caller's own, then those that others shared, by name.",
  tags,
  access: access.sessionViewRead,
  responses: { 200: { description: 'The views.', schema: sessionViewsSchema } },
  async handler(context) {
    const { principal, services } = context;
    const rows = await listSessionViews(services.database, principal.userId);
    const people = peopleOf(context);
    await people.prefetch(rows.map(({ createdBy }) => createdBy));
    const views = await Promise.all(
      rows.map(async (row) => presentSessionView(row, principal.userId, await people.nameOf(row.createdBy))),
    );
    return { status: 200, body: { views } };
  },
});

const create = defineRoute({
  id: 'createSessionView',
  method: 'POST',
  path,
  summary: 'Saves a view of the list of sessions',
  description: 'For the caller, for a project or for everyone who lists sessions.',
  tags,
  access: access.sessionViewWrite,
  audit: { object: 'sessionView' },
  idempotent: 'plain',
  body: newSessionViewSchema,
  responses: { 201: { description: 'The view.', schema: sessionViewSchema } },
  errors: ['projectNotFound', 'tooManySessionViews'],
  async handler(context) {
    const { body, principal, services } = context;
    const view = written(
      await createSessionView(services.database, sessionViewFields(body), principal.userId),
    );
    const name = await peopleOf(context).nameOf(view.createdBy);
    return { status: 201, body: presentSessionView(view, principal.userId, name) };
  },
});

const change = defineRoute({
  id: 'changeSessionView',
  method: 'PUT',
  path: `${path}/{viewId}`,
  summary: 'Changes a saved view of the list of sessions',
  description: 'Replaces all of its fields. A view that others shared is changed by an Administrator alone.',
  tags,
  access: access.sessionViewWrite,
  audit: { object: 'sessionView', from: 'viewId' },
  params: sessionViewParams,
  body: newSessionViewSchema,
  responses: { 200: { description: 'The view.', schema: sessionViewSchema } },
  errors: ['projectNotFound', 'sessionViewNotFound', 'sessionViewOfAnother'],
  refusals: { params: 'sessionViewNotFound' },
  async handler(context) {
    const { params, body, principal, services } = context;
    const editor = { userId: principal.userId, isAdministrator: principal.role === 'Administrator' };
    const view = written(
      await changeSessionView(services.database, params.viewId, sessionViewFields(body), editor),
    );
    const name = await peopleOf(context).nameOf(view.createdBy);
    return { status: 200, body: presentSessionView(view, principal.userId, name) };
  },
});

const remove = defineRoute({
  id: 'deleteSessionView',
  method: 'DELETE',
  path: `${path}/{viewId}`,
  summary: 'Deletes a saved view of the list of sessions',
  description: 'A view that others shared is deleted by an Administrator alone.',
  tags,
  access: access.sessionViewWrite,
  audit: { object: 'sessionView', from: 'viewId' },
  params: sessionViewParams,
  responses: { 204: { description: 'Gone.' } },
  errors: ['sessionViewNotFound', 'sessionViewOfAnother'],
  refusals: { params: 'sessionViewNotFound' },
  async handler({ params, principal, services }) {
    const editor = { userId: principal.userId, isAdministrator: principal.role === 'Administrator' };
    const outcome = await deleteSessionView(services.database, params.viewId, editor);
    if (outcome !== 'deleted') throw new Problem(refusals[outcome]);
    return { status: 204 };
  },
});

function written(result: SessionViewWrite) {
  if (result.outcome !== 'written') throw new Problem(refusals[result.outcome]);
  return result.view;
}

export const sessionViewRoutes = [list, create, change, remove];
