/** Projects (contract: Project; decisions 4). */
import { randomBytes } from 'node:crypto';
import type { Database, EntityTx, Queryable, Tx } from '../connection/database.ts';
import { once } from '../connection/idempotency.ts';
import { PlatformUser } from '../entities/platform-user.ts';
import { Project } from '../entities/project.ts';
import { noteAudited } from './audit-scope.ts';
import type { UserRow } from './users.ts';

export interface ProjectRow {
  readonly id: number;
  /** 16 lower-case hexadecimal digits, random. */
  readonly hexId: string;
  readonly title: string;
  readonly description: string;
  readonly icon: string;
  readonly owner: UserRow;
  readonly defaultSessionTemplate: {
    readonly id: number;
    readonly name: string;
    readonly description: string;
    readonly configuration: string;
  } | null;
  readonly queuedIngestion: boolean;
  /** Null keeps sessions for ever. */
  readonly retentionDays: number | null;
  readonly createdAt: Date;
}

/** What a caller may set. In an update, what is absent stays as it is. */
export interface ProjectFields {
  readonly title: string;
  readonly description?: string | undefined;
  readonly icon?: string | undefined;
  readonly ownerId?: number | undefined;
  readonly defaultSessionTemplateId?: number | null | undefined;
  readonly queuedIngestion?: boolean | undefined;
  readonly retentionDays?: number | null | undefined;
}

export type ProjectWrite =
  | { readonly outcome: 'saved'; readonly project: ProjectRow }
  | { readonly outcome: 'missing' | 'owner-unknown' | 'template-unknown' };

interface FlatRow {
  readonly id: number;
  readonly hexId: string;
  readonly title: string;
  readonly description: string;
  readonly icon: string;
  readonly queuedIngestion: boolean;
  readonly retentionDays: number | null;
  readonly createdAt: Date;
  readonly ownerId: number;
  readonly ownerExternalId: string;
  readonly ownerType: string;
  readonly ownerCreatedAt: Date;
  readonly templateId: number | null;
  readonly templateName: string;
  readonly templateDescription: string;
  readonly templateConfiguration: string;
}

const projectSelect = `
  select p.id, p.hex_id as "hexId", p.title, p.description, p.icon, p.queued_ingestion as "queuedIngestion",
         p.retention_days as "retentionDays", p.created_at as "createdAt",
         o.id as "ownerId", o.external_id as "ownerExternalId", o.type as "ownerType",
         o.created_at as "ownerCreatedAt",
         t.id as "templateId", t.name as "templateName", t.description as "templateDescription",
         t.configuration as "templateConfiguration"
    from project p
    join platform_user o on o.id = p.owner_id
    left join session_template t on t.id = p.default_session_template_id`;

/** All projects, by id. */
export async function listProjects(database: Queryable): Promise<ProjectRow[]> {
  return (await database.query<FlatRow>(`${projectSelect} order by p.id`)).map(nest);
}

export async function findProject(database: Queryable, id: number): Promise<ProjectRow | undefined> {
  const [row] = await database.query<FlatRow>(`${projectSelect} where p.id = $1`, [id]);
  return row === undefined ? undefined : nest(row);
}

/** Makes a project; its owner is `fields.ownerId`, else the caller. */
export async function createProject(
  database: Database,
  fields: ProjectFields,
  callerUserId: number,
): Promise<ProjectWrite> {
  return database.entityTransaction(
    once(
      async (tx: EntityTx): Promise<ProjectWrite> => {
        const unknown = await unknownReference(tx, fields);
        if (unknown !== null) return { outcome: unknown };
        const project = tx.em.create(Project, {
          hexId: randomBytes(8).toString('hex'),
          title: fields.title,
          description: fields.description ?? '',
          icon: fields.icon ?? '',
          owner: tx.em.getReference(PlatformUser, fields.ownerId ?? callerUserId),
          defaultSessionTemplateId: fields.defaultSessionTemplateId ?? null,
          queuedIngestion: fields.queuedIngestion ?? false,
          retentionDays: fields.retentionDays ?? null,
        });
        await tx.em.flush();
        noteAudited(project.id);
        return { outcome: 'saved', project: (await findProject(tx, project.id))! };
      },
      ({ outcome }) => outcome === 'saved',
    ),
  );
}

/** Changes what `fields` names and leaves the rest. */
export async function updateProject(
  database: Database,
  id: number,
  fields: ProjectFields,
): Promise<ProjectWrite> {
  return database.entityTransaction(async (tx) => {
    const project = await tx.em.findOne(Project, { id });
    if (project === null) return { outcome: 'missing' };
    const unknown = await unknownReference(tx, fields);
    if (unknown !== null) return { outcome: unknown };
    project.title = fields.title;
    project.description = fields.description ?? project.description;
    project.icon = fields.icon ?? project.icon;
    if (fields.ownerId !== undefined)
      project.owner = tx.em.getReference(PlatformUser, fields.ownerId, { wrapped: true });
    if (fields.defaultSessionTemplateId !== undefined) {
      project.defaultSessionTemplateId = fields.defaultSessionTemplateId;
    }
    project.queuedIngestion = fields.queuedIngestion ?? project.queuedIngestion;
    if (fields.retentionDays !== undefined) project.retentionDays = fields.retentionDays;
    await tx.em.flush();
    return { outcome: 'saved', project: (await findProject(tx, id))! };
  });
}

async function unknownReference(
  tx: Tx,
  fields: ProjectFields,
): Promise<'owner-unknown' | 'template-unknown' | null> {
  const { ownerId, defaultSessionTemplateId } = fields;
  if (ownerId !== undefined) {
    const rows = await tx.query('select 1 from platform_user where id = $1 for key share', [ownerId]);
    if (rows.length === 0) return 'owner-unknown';
  }
  if (defaultSessionTemplateId !== undefined && defaultSessionTemplateId !== null) {
    const rows = await tx.query('select 1 from session_template where id = $1 for key share', [
      defaultSessionTemplateId,
    ]);
    if (rows.length === 0) return 'template-unknown';
  }
  return null;
}

function nest(row: FlatRow): ProjectRow {
  const { id, hexId, title, description, icon, queuedIngestion, retentionDays, createdAt } = row;
  return {
    id,
    hexId,
    title,
    description,
    icon,
    queuedIngestion,
    retentionDays,
    createdAt,
    owner: {
      id: row.ownerId,
      externalId: row.ownerExternalId,
      type: row.ownerType,
      createdAt: row.ownerCreatedAt,
    },
    defaultSessionTemplate:
      row.templateId === null
        ? null
        : {
            id: row.templateId,
            name: row.templateName,
            description: row.templateDescription,
            configuration: row.templateConfiguration,
          },
  };
}
