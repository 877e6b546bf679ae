/** System dashboards: their definitions, and the sessions that back them (contract: Dashboard support). */
import { LockMode, type RequiredEntityData } from '@mikro-orm/core';
import type { Database, EntityReader, Queryable, Tx } from '../connection/database.ts';
import { oncePerKey } from '../connection/idempotency.ts';
import { onUniqueViolation } from '../entities/refusals.ts';
import { StaticDefinition, StaticInstance } from '../entities/static-definition.ts';

/** A static that the sidebar links to, with its dashboard. */
interface StaticLink
  extends Pick<StaticDefinition, 'code' | 'title' | 'icon' | 'order' | 'sectionCode' | 'sectionTitle'> {
  readonly dimensionId: number;
}

const populate = ['instances'] as const;
const inOrder = { order: 'asc', code: 'asc' } as const;

export async function listStatics({ em }: EntityReader): Promise<StaticDefinition[]> {
  return em.find(StaticDefinition, {}, { populate, orderBy: inOrder });
}

export async function findStatic({ em }: EntityReader, code: string): Promise<StaticDefinition | undefined> {
  return (await em.findOne(StaticDefinition, { code }, { populate })) ?? undefined;
}

/** False when the code is taken. */
export async function createStatic(
  database: Database,
  definition: Omit<RequiredEntityData<StaticDefinition>, 'id' | 'instances' | 'createdAt'>,
): Promise<boolean> {
  const { code, title, icon, order, sectionCode, sectionTitle, scopeKind } = definition;
  const work = async ({ em }: Tx) => {
    em.create(StaticDefinition, { code, title, icon, order, sectionCode, sectionTitle, scopeKind });
    await em.flush();
    return true;
  };
  return database.transaction(oncePerKey(work)).catch(onUniqueViolation(false));
}

/** Deletes a definition with its instances; their sessions stay and are listed again. */
export async function deleteStatic(database: Database, code: string): Promise<boolean> {
  return database.transaction(async ({ em }) => (await em.nativeDelete(StaticDefinition, { code })) > 0);
}

/** Makes a session back a static; a repeat changes nothing. */
export async function addStaticInstance(
  database: Database,
  code: string,
  sessionId: string,
): Promise<'added' | 'static-missing' | 'session-missing'> {
  const work = async (tx: Tx): Promise<'added' | 'static-missing' | 'session-missing'> => {
    const sessions = await tx.query('select 1 from session where id = $1 for no key update', [sessionId]);
    const definition = await tx.em.findOne(
      StaticDefinition,
      { code },
      { lockMode: LockMode.PESSIMISTIC_READ },
    );
    if (definition === null) return 'static-missing';
    if (sessions.length === 0) return 'session-missing';
    await tx.em.upsert(
      StaticInstance,
      { definition, sessionId },
      { onConflictFields: ['definition', 'sessionId'], onConflictAction: 'ignore' },
    );
    return 'added';
  };
  return database.transaction(oncePerKey(work, (outcome) => outcome === 'added'));
}

/** Stops a session from backing a static; false when it did not. */
export async function removeStaticInstance(
  database: Database,
  code: string,
  sessionId: string,
): Promise<boolean> {
  return database.transaction(async ({ em }) => {
    const instance = await em.findOne(StaticInstance, { definition: { code }, sessionId });
    return instance !== null && (await em.nativeDelete(StaticInstance, { id: instance.id })) > 0;
  });
}

/** Global statics of which an instance has a dashboard of the version `next`, with the newest such dashboard. */
export async function listStaticLinks(database: Queryable): Promise<StaticLink[]> {
  return database.query<StaticLink>(
    `select d.code, d.title, d.icon, d."order", d.section_code, d.section_title,
            shown.id as dimension_id
       from static_definition d
       join lateral (
         select m.id from static_instance i join dimension m on m.session_id = i.session_id
          where i.static_id = d.id and m.dashboard_version = 'next'
          order by i.id desc, m.id desc limit 1) shown on true
      where d.scope_kind = 0
      order by d."order", d.code`,
  );
}
