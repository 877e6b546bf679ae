/** Wire forms of saved views of the list of sessions. */
import { z } from 'zod';
import { exampleValues } from '../../domain/examples.ts';
import { limits } from '../../domain/limits.ts';
import { formatTimestamp } from '../../domain/timestamp.ts';
import { bodyId, longText, nameText, timestampOut, uuid } from '../../http/schemas.ts';
import {
  type SessionViewFields,
  type SessionViewRow,
  sessionViewScopes,
} from '../../store/sessions/session-views.ts';

export const sessionViewParams = z.object({
  viewId: uuid().meta({ description: 'The view.', example: exampleValues.scenarioInstanceId }),
});

/** The parameters in the address of the list of sessions and of its query builder. */
const parameters = new Set('tab search project template from to sortBy sortOrder query orderBy'.split(' '));

const hasOnlyParameters = (query: string) =>
  [...new URLSearchParams(query).keys()].every((name) => parameters.has(name));

/** Views are kept, and no table holds the address of a person. */
function holdsAddress(query: string): boolean {
  return [...new URLSearchParams(query).values()].some((value) => /[^\s"@]@[^\s"@]/.test(value));
}

const example = { name: 'Failed at the Ring', scope: 'everyone' as const, query: 'tab=failed&search=Ring' };

export const newSessionViewSchema = z
  .object({
    name: nameText().meta({ description: 'What people see in the list of sessions.' }),
    scope: z.enum(sessionViewScopes).meta({
      description: '`mine`: for the caller alone; `project` and `everyone`: for all who list sessions.',
    }),
    projectId: bodyId()
      .nullish()
      .meta({ description: 'The project of a view for a project; else absent or null.' }),
    query: longText(limits.sessionViewBytes)
      .refine(hasOnlyParameters, { error: 'must hold parameters of the list of sessions alone' })
      .refine((query) => !holdsAddress(query), { error: 'must hold no e-mail address' })
      .meta({
        description:
          "The query part of the list's address in the console, without its question mark: tab, search, project, template, from, to, sortBy, sortOrder, or query and orderBy of the query builder.",
      }),
  })
  .refine(({ scope, projectId }) => (scope === 'project') === (projectId != null), {
    error: 'must be given for a view of a project, and for no other',
    path: ['projectId'],
  })
  .meta({ id: 'NewSessionView', example });

export const sessionViewSchema = z
  .object({
    id: z.guid(),
    name: z.string(),
    scope: z.enum(sessionViewScopes),
    projectId: z.int().nullable(),
    query: z.string(),
    isOwn: z.boolean().meta({ description: 'Whether the caller saved it.' }),
    createdByName: z.string().nullable().meta({ description: 'Where the caller may know it.' }),
    createdAt: timestampOut(),
  })
  .meta({
    id: 'SessionView',
    example: {
      id: exampleValues.scenarioInstanceId,
      ...example,
      projectId: null,
      isOwn: true,
      createdByName: 'Per Lindqvist',
      createdAt: exampleValues.closedAt,
    },
  });

export const sessionViewsSchema = z
  .object({ views: z.array(sessionViewSchema) })
  .meta({ id: 'SessionViewList' });

export function sessionViewFields(view: z.output<typeof newSessionViewSchema>): SessionViewFields {
  const { name, scope, projectId = null, query } = view;
  return { name, scope, projectId, query };
}

export function presentSessionView(
  row: SessionViewRow,
  userId: string,
  createdByName: string | null,
): z.input<typeof sessionViewSchema> {
  const { id, name, scope, projectId, query, createdBy, createdAt } = row;
  return {
    id,
    name,
    scope,
    projectId,
    query,
    isOwn: createdBy === userId,
    createdByName,
    createdAt: formatTimestamp(createdAt),
  };
}
