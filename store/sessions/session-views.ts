/** Saved views of the list of sessions. */
import { limits } from '../../domain/limits.ts';
import { lockOfText } from '../connection/advisory-locks.ts';
import type { Database, Queryable } from '../connection/database.ts';
import { oncePerKey } from '../connection/idempotency.ts';
import { newId } from '../connection/ids.ts';

export const sessionViewScopes = ['mine', 'project', 'everyone'] as const;

export interface SessionViewFields {
  readonly name: string;
  readonly scope: (typeof sessionViewScopes)[number];
  /** The project of a view with this scope, else null. */
  readonly projectId: number | null;
  /** The query part of the list's address. */
  readonly query: string;
}

export interface SessionViewRow extends SessionViewFields {
  readonly id: string;
  readonly createdBy: string;
  readonly createdAt: Date;
}

const columns = 'v.id, v.name, v.scope, v.project_id, v.query, v.created_by, v.created_at';

/** A person's own views, then those that others shared; each by name. */
export function listSessionViews(database: Queryable, userId: string): Promise<SessionViewRow[]> {
  return database.query<SessionViewRow>(
    `select ${columns} from session_view v where v.created_by = $1 or v.scope <> 'mine'
      order by v.created_by <> $1, lower(v.name), v.id limit $2`,
    [userId, limits.sessionViewsListed],
  );
}

export type SessionViewWrite =
  | { readonly outcome: 'written'; readonly view: SessionViewRow }
  | { readonly outcome: 'project-missing' | 'view-missing' | 'not-own' | 'too-many' };

export async function createSessionView(
  database: Database,
  fields: SessionViewFields,
  createdBy: string,
): Promise<SessionViewWrite> {
  return database.transaction(
    oncePerKey(
      async (tx): Promise<SessionViewWrite> => {
        // Two calls of one person count one after the other.
        await tx.query(lockOfText("'session_view:' || $1"), [createdBy]);
        const [own] = await tx.query<{ count: number }>(
          'select count(*) as count from session_view where created_by = $1',
          [createdBy],
        );
        if (own!.count >= limits.sessionViewsPerPerson) return { outcome: 'too-many' };
        if (!(await projectExists(tx, fields.projectId))) return { outcome: 'project-missing' };
        const { name, scope, projectId, query } = fields;
        const [view] = await tx.query<SessionViewRow>(
          `insert into session_view as v (id, name, scope, project_id, query, created_by)
           values ($1, $2, $3, $4, $5, $6) returning ${columns}`,
          [newId(), name, scope, projectId, query, createdBy],
        );
        return { outcome: 'written', view: view! };
      },
      ({ outcome }) => outcome === 'written',
    ),
  );
}

/** Whose view it is, for those who may see it. */
export interface ViewEditor {
  readonly userId: string;
  /** May change what others shared. */
  readonly isAdministrator: boolean;
}

export async function changeSessionView(
  database: Database,
  id: string,
  fields: SessionViewFields,
  editor: ViewEditor,
): Promise<SessionViewWrite> {
  return database.transaction(async (tx): Promise<SessionViewWrite> => {
    const refusal = await lockView(tx, id, editor);
    if (refusal !== null) return { outcome: refusal };
    if (!(await projectExists(tx, fields.projectId))) return { outcome: 'project-missing' };
    const { name, scope, projectId, query } = fields;
    const [view] = await tx.query<SessionViewRow>(
      `update session_view v set name = $2, scope = $3, project_id = $4, query = $5 where v.id = $1
       returning ${columns}`,
      [id, name, scope, projectId, query],
    );
    return { outcome: 'written', view: view! };
  });
}

export async function deleteSessionView(
  database: Database,
  id: string,
  editor: ViewEditor,
): Promise<'deleted' | 'view-missing' | 'not-own'> {
  return database.transaction(async (tx) => {
    const refusal = await lockView(tx, id, editor);
    if (refusal !== null) return refusal;
    await tx.query('delete from session_view where id = $1', [id]);
    return 'deleted';
  });
}

/** @returns why it is not the caller's to change; null when it is. A view of another person's own is not there. */
async function lockView(
  tx: Queryable,
  id: string,
  { userId, isAdministrator }: ViewEditor,
): Promise<'view-missing' | 'not-own' | null> {
  const [view] = await tx.query<SessionViewRow>(
    `select ${columns} from session_view v where v.id = $1 and (v.created_by = $2 or v.scope <> 'mine') for update`,
    [id, userId],
  );
  if (view === undefined) return 'view-missing';
  return view.createdBy === userId || isAdministrator ? null : 'not-own';
}

/** Keeps it until the transaction ends. */
async function projectExists(tx: Queryable, projectId: number | null): Promise<boolean> {
  if (projectId === null) return true;
  return (await tx.query('select 1 from project where id = $1 for key share', [projectId])).length > 0;
}
