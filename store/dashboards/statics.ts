/** System dashboards: their definitions, and the sessions that back them (contract: Dashboard support). */
import type { Database, Queryable } from '../connection/database.ts';
import { once } from '../connection/idempotency.ts';

/** 0 global, 1 for each project, 2 for each user. */
type ScopeKind = 0 | 1 | 2;

export interface NewStatic {
  readonly code: string;
  readonly title: string;
  readonly icon: string;
  readonly order: number;
  readonly sectionCode: string;
  readonly sectionTitle: string;
  readonly scopeKind: ScopeKind;
}

export interface StaticRow extends NewStatic {
  readonly id: number;
  readonly createdAt: Date;
  readonly instances: ReadonlyArray<{
    readonly id: number;
    readonly sessionId: string;
    readonly createdAt: string;
  }>;
}

/** A static that the sidebar links to, with the dashboard behind it. */
export interface StaticLink
  extends Pick<NewStatic, 'code' | 'title' | 'icon' | 'order' | 'sectionCode' | 'sectionTitle'> {
  readonly dimensionId: number;
}

const columns = `
  d.id, d.code, d.title, d.icon, d."order", d.section_code as "sectionCode", d.section_title as "sectionTitle",
  d.scope_kind as "scopeKind", d.created_at as "createdAt",
  coalesce((select json_agg(json_build_object('id', i.id, 'sessionId', i.session_id, 'createdAt', i.created_at) order by i.id)
              from static_instance i where i.static_id = d.id), '[]') as instances`;

export async function listStatics(database: Queryable): Promise<StaticRow[]> {
  return database.query<StaticRow>(`select ${columns} from static_definition d order by d."order", d.code`);
}

export async function findStatic(database: Queryable, code: string): Promise<StaticRow | undefined> {
  const [row] = await database.query<StaticRow>(
    `select ${columns} from static_definition d where d.code = $1`,
    [code],
  );
  return row;
}

/** False when the code is taken. */
export async function createStatic(database: Database, definition: NewStatic): Promise<boolean> {
  const { code, title, icon, order, sectionCode, sectionTitle, scopeKind } = definition;
  return database.transaction(
    once(
      async (tx) => {
        const rows = await tx.query(
          `insert into static_definition (code, title, icon, "order", section_code, section_title, scope_kind)
           values ($1, $2, $3, $4, $5, $6, $7) on conflict do nothing returning 1`,
          [code, title, icon, order, sectionCode, sectionTitle, scopeKind],
        );
        return rows.length > 0;
      },
      (isMade) => isMade,
    ),
  );
}

/** Deletes a definition with its instances; their sessions stay and are listed again. */
export async function deleteStatic(database: Database, code: string): Promise<boolean> {
  const rows = await database.transaction((tx) =>
    tx.query('delete from static_definition where code = $1 returning 1', [code]),
  );
  return rows.length > 0;
}

/** Has a session back a static from now on; once more changes nothing. */
export async function addStaticInstance(
  database: Database,
  code: string,
  sessionId: string,
): Promise<'added' | 'static-missing' | 'session-missing'> {
  return database.transaction(
    once(
      async (tx): Promise<'added' | 'static-missing' | 'session-missing'> => {
        const sessions = await tx.query('select 1 from session where id = $1 for no key update', [sessionId]);
        const [definition] = await tx.query<{ id: number }>(
          'select id from static_definition where code = $1 for key share',
          [code],
        );
        if (definition === undefined) return 'static-missing';
        if (sessions.length === 0) return 'session-missing';
        await tx.query(
          'insert into static_instance (static_id, session_id) values ($1, $2) on conflict do nothing',
          [definition.id, sessionId],
        );
        return 'added';
      },
      (outcome) => outcome === 'added',
    ),
  );
}

/** Ends that a session backs a static; false when it did not. */
export async function removeStaticInstance(
  database: Database,
  code: string,
  sessionId: string,
): Promise<boolean> {
  const rows = await database.transaction((tx) =>
    tx.query(
      `delete from static_instance i using static_definition d
        where d.id = i.static_id and d.code = $1 and i.session_id = $2 returning 1`,
      [code, sessionId],
    ),
  );
  return rows.length > 0;
}

/** Global statics of which an instance has a dashboard of the version `next`, with the newest such dashboard. */
export async function listStaticLinks(database: Queryable): Promise<StaticLink[]> {
  return database.query<StaticLink>(
    `select d.code, d.title, d.icon, d."order", d.section_code as "sectionCode", d.section_title as "sectionTitle",
            shown.id as "dimensionId"
       from static_definition d
       join lateral (
         select m.id from static_instance i join dimension m on m.session_id = i.session_id
          where i.static_id = d.id and m.dashboard_version = 'next'
          order by i.id desc, m.id desc limit 1) shown on true
      where d.scope_kind = 0
      order by d."order", d.code`,
  );
}
