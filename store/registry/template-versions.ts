/** Versions of session templates: what each import that changed something said, when and by whom. */
import type { TemplateContent } from '../../domain/templates/template-changes.ts';
import type { Queryable, Tx } from '../connection/database.ts';

export interface TemplateVersionHead {
  readonly version: number;
  readonly templateVersion: string;
  readonly description: string;
  readonly nodes: number;
  readonly createdAt: Date;
  /** GUID; null: the platform, or not known. */
  readonly createdBy: string | null;
}

export interface TemplateVersion extends Omit<TemplateVersionHead, 'nodes'> {
  /** The name of the template, which never changes. */
  readonly name: string;
  readonly content: TemplateContent;
}

const newest = 'order by version desc limit 1';

/** As SQL: the number of the version that says what a template says now. */
export const presentVersion = (templateId: string) =>
  `(select max(version) from session_template_version where session_template_id = ${templateId})`;

/**
 * Saves what the template says now as its next version, unless the last version says the same. The caller holds the lock
 * on the template's row.
 * @param createdBy GUID; null: the platform
 * @returns the number of the version that says it, and whether it was made now
 */
export async function saveTemplateVersion(
  tx: Tx,
  templateId: number,
  createdBy: string | null,
): Promise<{ version: number; changed: boolean }> {
  const [row] = await tx.query<{ version: number; changed: boolean }>(
    `with present as (
       select t.template_version, t.description, t.configuration, session_template_nodes(t.id) as nodes
         from session_template t where t.id = $1),
     last as (select * from session_template_version where session_template_id = $1 ${newest}),
     made as (
       insert into session_template_version
              (session_template_id, version, template_version, description, configuration, nodes, created_by)
       select $1, coalesce((select version from last), 0) + 1, p.template_version, p.description, p.configuration,
              p.nodes, $2::uuid
         from present p
        where not exists (
                select from last l
                 where (l.template_version, l.description) = (p.template_version, p.description)
                   and l.configuration::jsonb = p.configuration::jsonb and l.nodes::jsonb = p.nodes::jsonb)
       returning version)
     select coalesce((select version from made), (select version from last)) as version,
            exists (select from made) as changed`,
    [templateId, createdBy],
  );
  return row!;
}

/** The newest first. */
export async function listTemplateVersions(
  database: Queryable,
  templateId: number,
  { page, pageSize }: { readonly page: number; readonly pageSize: number },
): Promise<{ readonly rows: TemplateVersionHead[]; readonly total: number }> {
  const [rows, [count]] = await Promise.all([
    database.query<TemplateVersionHead>(
      `select version, template_version, description, json_array_length(nodes) as nodes, created_at, created_by
         from session_template_version where session_template_id = $1
        order by version desc limit $2 offset $3::bigint`,
      [templateId, pageSize, (page - 1) * pageSize],
    ),
    database.query<{ total: number }>(
      'select count(*) as total from session_template_version where session_template_id = $1',
      [templateId],
    ),
  ]);
  return { rows, total: count?.total ?? 0 };
}

interface StoredVersion extends Omit<TemplateVersion, 'content'> {
  /** JSON text. */
  readonly configuration: string;
  readonly nodes: TemplateContent['nodes'];
}

/** @param version null: the newest */
export async function findTemplateVersion(
  database: Queryable,
  templateId: number,
  version: number | null,
): Promise<TemplateVersion | undefined> {
  const [row] = await database.query<StoredVersion>(
    `select t.name, v.version, v.template_version, v.description, v.configuration, v.nodes, v.created_at, v.created_by
       from session_template_version v join session_template t on t.id = v.session_template_id
      where v.session_template_id = $1 and ($2::bigint is null or v.version = $2) ${newest}`,
    [templateId, version],
  );
  if (row === undefined) return undefined;
  const { configuration, nodes, ...head } = row;
  const { templateVersion, description } = head;
  const content = { templateVersion, description, configuration: JSON.parse(configuration), nodes };
  return { ...head, content };
}

export async function isTemplate(database: Queryable, id: number): Promise<boolean> {
  return (await database.query('select 1 from session_template where id = $1', [id])).length > 0;
}
