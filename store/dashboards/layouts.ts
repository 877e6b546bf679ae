/** Saved layouts of dashboards (additions, section 4). */
import { LockMode } from '@mikro-orm/core';
import { limits } from '../../domain/limits.ts';
import type { LayoutScope } from '../../domain/recordings/layout-scope.ts';
import { noteAudited } from '../connection/audit-scope.ts';
import type { Database, EntityReader, Queryable, Tx } from '../connection/database.ts';
import { oncePerKey } from '../connection/idempotency.ts';
import { DashboardLayout } from '../entities/dashboard-layout.ts';
import { now } from '../entities/times.ts';

export type LayoutFields = Pick<
  DashboardLayout,
  'name' | 'scope' | 'projectId' | 'sessionTemplateId' | 'channels' | 'layout'
>;

/** A layout without its panels. */
export type LayoutHead = Pick<
  DashboardLayout,
  'id' | 'name' | 'scope' | 'ownerId' | 'projectId' | 'sessionTemplateId' | 'revision' | 'updatedAt'
>;

export type LayoutRefusal =
  | 'missing'
  | 'overtaken'
  | 'too-many'
  | 'project-missing'
  | 'template-missing'
  | 'forbidden';
export type LayoutWrite =
  | { readonly outcome: 'saved'; readonly layout: DashboardLayout }
  | { readonly outcome: LayoutRefusal };

/** Whose layouts these are, and whether they may change those that others see. */
export interface LayoutWriter {
  readonly userId: string;
  readonly mayShare: boolean;
}

const heads = `select l.id, l.name, l.scope, l.owner_id, l.project_id, l.session_template_id, l.revision,
          l.updated_at
   from dashboard_layout l`;
const visible = `(l.scope <> 'mine' or l.owner_id = $1)`;
/** Mine before the template's, the project's and everyone's; of these the narrower and the newer first. */
const inOrder = `order by array_position(array['mine', 'template', 'project', 'everyone'], l.scope),
   l.session_template_id is null, l.project_id is null, l.updated_at desc, l.id`;

/** The layouts that a person sees, in the order in which a dashboard would open with them. */
export async function listLayouts(
  database: Queryable,
  userId: string,
  { scope }: { readonly scope?: LayoutScope | undefined },
): Promise<LayoutHead[]> {
  return await database.query<LayoutHead>(
    `${heads} where ${visible} and ($2::text is null or l.scope = $2) ${inOrder}`,
    [userId, scope ?? null],
  );
}

/** The layouts that fit a dashboard: they are for its project and template, and name one of its channels or none. */
export async function layoutsOfDimension(
  database: Queryable,
  userId: string,
  dimensionId: number,
): Promise<LayoutHead[]> {
  return await database.query<LayoutHead>(
    `${heads}
       join dimension d on d.id = $2
       join session s on s.id = d.session_id
      where ${visible}
        and (l.project_id is null or l.project_id = s.project_id)
        and (l.session_template_id is null or l.session_template_id = s.session_template_id)
        and (cardinality(l.channels) = 0 or exists (
          select 1 from dimension_source x, jsonb_array_elements(x.source -> 'channels') channel
           where x.dimension_id = d.id and (channel ->> 'name' = any (l.channels) or channel ->> 'key' = any (l.channels))))
      ${inOrder}`,
    [userId, dimensionId],
  );
}

/** Undefined also for a layout of someone else alone. */
export async function findLayout(
  { em }: EntityReader,
  id: number,
  userId: string,
): Promise<DashboardLayout | undefined> {
  const layout = await em.findOne(DashboardLayout, id);
  return layout === null || !isVisible(layout, userId) ? undefined : layout;
}

const isVisible = ({ scope, ownerId }: DashboardLayout, userId: string) =>
  scope !== 'mine' || ownerId === userId;

export async function createLayout(
  database: Database,
  fields: LayoutFields,
  writer: LayoutWriter,
): Promise<LayoutWrite> {
  const work = async (tx: Tx): Promise<LayoutWrite> => {
    const refusal = await refusalOf(tx, fields, writer);
    if (refusal !== null) return { outcome: refusal };
    const layout = tx.em.create(DashboardLayout, { ...fields, ownerId: writer.userId });
    await tx.em.flush();
    noteAudited(layout.id);
    return { outcome: 'saved', layout };
  };
  return database.transaction(oncePerKey(work, ({ outcome }) => outcome === 'saved'));
}

/** A layout, and which of its revisions may be changed. */
export interface LayoutTarget {
  readonly id: number;
  readonly isExpected: (revision: number) => boolean;
}

/** Replaces all fields. A writer who sets the scope to `mine` becomes the owner. */
export async function updateLayout(
  database: Database,
  target: LayoutTarget,
  fields: LayoutFields,
  writer: LayoutWriter,
): Promise<LayoutWrite> {
  return database.transaction(async (tx): Promise<LayoutWrite> => {
    const layout = await heldLayout(tx, target, writer);
    if (typeof layout === 'string') return { outcome: layout };
    const refusal = await refusalOf(tx, fields, writer, target.id);
    if (refusal !== null) return { outcome: refusal };
    const ownerId = fields.scope === 'mine' ? writer.userId : layout.ownerId;
    Object.assign(layout, fields, { ownerId, revision: layout.revision + 1, updatedAt: now() });
    await tx.em.flush();
    return { outcome: 'saved', layout };
  });
}

export async function deleteLayout(
  database: Database,
  target: LayoutTarget,
  writer: LayoutWriter,
): Promise<'deleted' | HeldRefusal> {
  return database.transaction(async (tx) => {
    const layout = await heldLayout(tx, target, writer);
    if (typeof layout === 'string') return layout;
    await tx.em.nativeDelete(DashboardLayout, { id: target.id });
    return 'deleted';
  });
}

type HeldRefusal = Extract<LayoutRefusal, 'missing' | 'forbidden' | 'overtaken'>;

async function heldLayout(
  { em }: Tx,
  { id, isExpected }: LayoutTarget,
  { userId, mayShare }: LayoutWriter,
): Promise<DashboardLayout | HeldRefusal> {
  const layout = await em.findOne(DashboardLayout, id, { lockMode: LockMode.PESSIMISTIC_WRITE });
  if (layout === null || !isVisible(layout, userId)) return 'missing';
  if (layout.scope !== 'mine' && !mayShare) return 'forbidden';
  return isExpected(layout.revision) ? layout : 'overtaken';
}

/** @param id of a layout that is changed: it does not count */
async function refusalOf(
  tx: Tx,
  { scope, projectId, sessionTemplateId }: LayoutFields,
  { userId, mayShare }: LayoutWriter,
  id = 0,
): Promise<LayoutRefusal | null> {
  if (scope !== 'mine' && !mayShare) return 'forbidden';
  const [found] = await tx.query<{ project: boolean; template: boolean }>(
    `select $1::bigint is null or exists (select 1 from project where id = $1) as project,
            $2::bigint is null or exists (select 1 from session_template where id = $2) as template`,
    [projectId, sessionTemplateId],
  );
  if (found?.project !== true) return 'project-missing';
  if (found.template !== true) return 'template-missing';
  // Layouts are few and saved rarely, so they are counted one save at a time.
  await tx.query('lock table dashboard_layout in share row exclusive mode');
  const isMine = scope === 'mine';
  const [counted] = await tx.query<{ count: number }>(
    `select count(*)::int as count from dashboard_layout
      where id <> $1 and case when $2 then scope = 'mine' and owner_id = $3 else scope <> 'mine' end`,
    [id, isMine, userId],
  );
  const most = isMine ? limits.layoutsPerPerson : limits.layoutsShared;
  return (counted?.count ?? 0) >= most ? 'too-many' : null;
}
