/** Projects (contract: Project; decisions 4). */
import { randomBytes } from 'node:crypto';
import { LockMode } from '@mikro-orm/core';
import type { SqlEntityManager } from '@mikro-orm/postgresql';
import { noteAudited } from '../connection/audit-scope.ts';
import type { Database, EntityReader, Queryable, Tx } from '../connection/database.ts';
import { oncePerKey } from '../connection/idempotency.ts';
import { PlatformUser } from '../entities/platform-user.ts';
import { Project } from '../entities/project.ts';
import { SessionTemplate } from '../entities/session-template.ts';
import { noteChangedPriority, orderChangedProjects } from '../runs/claim-order.ts';

/** What a caller may set. In an update, absent fields stay unchanged. */
export interface ProjectFields {
  readonly title: string;
  readonly description?: string | undefined;
  readonly icon?: string | undefined;
  readonly ownerId?: number | undefined;
  readonly defaultSessionTemplateId?: number | null | undefined;
  readonly queuedIngestion?: boolean | undefined;
  readonly retentionDays?: number | null | undefined;
  readonly pinnedMetadata?: readonly string[] | undefined;
  readonly priority?: number | undefined;
}

export type ProjectWrite =
  | { readonly outcome: 'saved'; readonly project: Project }
  | { readonly outcome: 'missing' | 'owner-unknown' | 'template-unknown' };

const populate = ['owner', 'defaultSessionTemplate'] as const;

const projectsAtOnce = 100;

/** All projects by id, page by page. */
export async function* projectPages(database: EntityReader): AsyncGenerator<Project[]> {
  for (let page: Project[] = [], after = 0; ; after = page.at(-1)!.id) {
    const options = { populate, orderBy: { id: 'asc' }, limit: projectsAtOnce } as const;
    page = await database.em.find(Project, { id: { $gt: after } }, options);
    yield page;
    if (page.length < projectsAtOnce) return;
  }
}

/** A project as it is shown: alone, and with each session. */
export interface ShownProject
  extends Pick<
    Project,
    | 'id'
    | 'hexId'
    | 'title'
    | 'description'
    | 'icon'
    | 'queuedIngestion'
    | 'retentionDays'
    | 'pinnedMetadata'
    | 'priority'
    | 'createdAt'
  > {
  readonly owner: Pick<PlatformUser, 'id' | 'externalId' | 'type' | 'createdAt'>;
  readonly defaultSessionTemplate: Pick<
    SessionTemplate,
    'id' | 'name' | 'description' | 'configuration'
  > | null;
}

type FlatProject = Omit<ShownProject, 'owner'> & {
  readonly ownerId: number;
  readonly ownerExternalId: string;
  readonly ownerType: string;
  readonly ownerCreatedAt: Date;
};

/** By a statement, as it is read with every session: an entity costs four times as much. */
export async function findProject(database: Queryable, id: number): Promise<ShownProject | undefined> {
  const [row] = await database.query<FlatProject>(
    `select p.id, p.hex_id, p.title, p.description, p.icon, p.queued_ingestion,
            p.retention_days, p.pinned_metadata, p.priority, p.created_at,
            o.id as owner_id, o.external_id as owner_external_id, o.type as owner_type,
            o.created_at as owner_created_at,
            case when t.id is not null then
              json_build_object('id', t.id, 'name', t.name, 'description', t.description, 'configuration', t.configuration)
            end as default_session_template
       from project p join platform_user o on o.id = p.owner_id
       left join session_template t on t.id = p.default_session_template_id
      where p.id = $1`,
    [id],
  );
  if (row === undefined) return undefined;
  const { ownerId, ownerExternalId, ownerType, ownerCreatedAt, ...project } = row;
  const owner = { id: ownerId, externalId: ownerExternalId, type: ownerType, createdAt: ownerCreatedAt };
  return { ...project, owner };
}

/** Makes a project; its owner is `fields.ownerId`, else the caller. */
export async function createProject(
  database: Database,
  fields: ProjectFields,
  callerUserId: number,
): Promise<ProjectWrite> {
  const work = async ({ em }: Tx): Promise<ProjectWrite> => {
    const { owner, template, unknown } = await referred(em, {
      ...fields,
      ownerId: fields.ownerId ?? callerUserId,
    });
    if (unknown !== undefined) return { outcome: unknown };
    const project = em.create(Project, {
      hexId: randomBytes(8).toString('hex'),
      title: fields.title,
      description: fields.description ?? '',
      icon: fields.icon ?? '',
      owner: owner!,
      defaultSessionTemplate: template ?? null,
      queuedIngestion: fields.queuedIngestion ?? false,
      retentionDays: fields.retentionDays ?? null,
      pinnedMetadata: [...(fields.pinnedMetadata ?? [])],
      priority: fields.priority ?? 0,
    });
    await em.flush();
    noteAudited(project.id);
    return { outcome: 'saved', project };
  };
  return database.transaction(oncePerKey(work, ({ outcome }) => outcome === 'saved'));
}

/** What takes longer is left to the healer. */
const orderedAtOnceMs = 1_000;

/** Changes the given fields only. A new priority moves what is queued. */
export async function updateProject(
  database: Database,
  id: number,
  fields: ProjectFields,
): Promise<ProjectWrite> {
  let isReordered = false;
  const write = await database.transaction(async (tx): Promise<ProjectWrite> => {
    const { em } = tx;
    // Only what differs from the entity is written: read unlocked, what another call changes meanwhile would stay.
    // Alone, as no lock takes the rows of an outer join; and not against new sessions, which lock the key.
    await tx.query('select 1 from project where id = $1 for no key update', [id]);
    const project = await em.findOne(Project, id, { populate });
    if (project === null) return { outcome: 'missing' };
    const { owner, template, unknown } = await referred(em, fields);
    if (unknown !== undefined) return { outcome: unknown };
    project.title = fields.title;
    project.description = fields.description ?? project.description;
    project.icon = fields.icon ?? project.icon;
    project.owner = owner ?? project.owner;
    if (template !== undefined) project.defaultSessionTemplate = template;
    project.queuedIngestion = fields.queuedIngestion ?? project.queuedIngestion;
    if (fields.retentionDays !== undefined) project.retentionDays = fields.retentionDays;
    if (fields.pinnedMetadata !== undefined) project.pinnedMetadata = [...fields.pinnedMetadata];
    if (fields.priority !== undefined && fields.priority !== project.priority) {
      project.priority = fields.priority;
      await noteChangedPriority(tx, id);
      tx.onCommit(() => {
        isReordered = true;
      });
    }
    return { outcome: 'saved', project };
  });
  if (isReordered) await orderChangedProjects(database, orderedAtOnceMs);
  return write;
}

/** The object that a project is to refer to, locked so that it stays; undefined where none is given. */
async function referred(em: SqlEntityManager, fields: Partial<ProjectFields>) {
  const { ownerId, defaultSessionTemplateId: templateId } = fields;
  const stays = { lockMode: LockMode.PESSIMISTIC_READ };
  const owner = ownerId === undefined ? undefined : await em.findOne(PlatformUser, ownerId, stays);
  if (owner === null) return { unknown: 'owner-unknown' } as const;
  const template = templateId == null ? templateId : await em.findOne(SessionTemplate, templateId, stays);
  if (template === null && templateId !== null) return { unknown: 'template-unknown' } as const;
  return { owner, template };
}
