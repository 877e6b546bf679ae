/** Session templates: graphs of nodes, stored for the whole environment (contract: Session template; decisions 4). */
import {
  isSameTemplateGraph,
  type NodeTemplateType,
  type TemplateFile,
} from '../../domain/templates/template-file.ts';
import { noteAudited } from '../connection/audit-scope.ts';
import type { Database, Queryable, Tx } from '../connection/database.ts';
import { oncePerKey } from '../connection/idempotency.ts';
import { saveTemplateVersion } from './template-versions.ts';

export interface TemplateRow {
  readonly id: number;
  readonly name: string;
  readonly description: string;
  /** JSON text, as stored. */
  readonly configuration: string;
}

interface TemplateNodeRow {
  readonly id: number;
  readonly name: string;
  readonly nodeTemplateId: number;
  /** Null where the node template is no longer registered. */
  readonly nodeTemplateName: string | null;
  readonly nodeTemplateType: NodeTemplateType | null;
  /** JSON text, as stored. */
  readonly defaultConfiguration: string;
  readonly parentNames: readonly string[];
}

export interface TemplateWithNodes extends TemplateRow {
  readonly nodes: readonly TemplateNodeRow[];
}

const templateColumns = 't.id, t.name, t.description, t.configuration';

/** All templates, by id, without their nodes. */
export async function listTemplates(database: Queryable): Promise<TemplateRow[]> {
  return database.query<TemplateRow>(`select ${templateColumns} from session_template t order by t.id`);
}

/** One template with its nodes in the order of its file. */
export async function findTemplate(database: Queryable, id: number): Promise<TemplateWithNodes | undefined> {
  const [[row], nodes] = await Promise.all([
    database.query<TemplateRow>(`select ${templateColumns} from session_template t where t.id = $1`, [id]),
    templateNodes(database, id),
  ]);
  return row === undefined ? undefined : { ...row, nodes };
}

/**
 * As {@link findTemplate}, with the description and configuration of the version that the session took. Its nodes are
 * the present ones: what each said then, the session's own nodes keep.
 */
export async function findTemplateOfSession(
  database: Queryable,
  sessionId: string,
  templateId: number,
): Promise<TemplateWithNodes | undefined> {
  const [[row], nodes] = await Promise.all([
    database.query<TemplateRow>(
      `select t.id, t.name, coalesce(v.description, t.description) as description,
              coalesce(v.configuration, t.configuration) as configuration
         from session s join session_template t on t.id = s.session_template_id
         left join session_template_version v
                on v.session_template_id = t.id and v.version = s.session_template_version
        where s.id = $1`,
      [sessionId],
    ),
    templateNodes(database, templateId),
  ]);
  return row === undefined ? undefined : { ...row, nodes };
}

async function templateNodes(database: Queryable, templateId: number): Promise<TemplateNodeRow[]> {
  return database.query<TemplateNodeRow>(
    `select n.id, n.name, n.node_template_id, k.name as node_template_name,
            k.type as node_template_type, n.default_configuration,
            n.parent_names
       from session_template_node n left join node_template k on k.id = n.node_template_id
      where n.session_template_id = $1 order by n.ordinal`,
    [templateId],
  );
}

export type TemplateImport =
  | {
      readonly outcome: 'created' | 'updated';
      readonly id: number;
      readonly name: string;
      /** The version that says what the file says: the last one, when the file changes nothing. */
      readonly version: number;
      readonly changed: boolean;
    }
  | { readonly outcome: 'exists' }
  | { readonly outcome: 'graph-differs' };

/** By node template: the revision of the schema against which the file's configurations were checked. */
export type CheckedRevisions = ReadonlyMap<string, { readonly schemaRevision: number }>;

/**
 * Stores a checked template file. An existing name is updated when the file asks for it and the graph is the same:
 * configurations and description then apply to later sessions. Imports of one name go one after the other.
 * @param importedBy GUID; null: the platform
 */
export async function importTemplate(
  database: Database,
  file: TemplateFile,
  checked: CheckedRevisions,
  importedBy: string | null,
): Promise<TemplateImport> {
  return database.transaction(
    oncePerKey(
      (tx) => importTemplateWithin(tx, file, checked, importedBy),
      ({ outcome }) => outcome === 'created' || outcome === 'updated',
    ),
  );
}

class TrialRollback extends Error {
  readonly result: TemplateImport;

  constructor(result: TemplateImport) {
    super('The import is rolled back.');
    this.result = result;
  }
}

/** What {@link importTemplate} would do. It is done and rolled back, so that both answer the same. */
export async function tryImportTemplate(
  database: Database,
  file: TemplateFile,
  checked: CheckedRevisions,
): Promise<TemplateImport> {
  try {
    return await database.transaction(async (tx) => {
      throw new TrialRollback(await importTemplateWithin(tx, file, checked, null));
    });
  } catch (error) {
    if (error instanceof TrialRollback) return error.result;
    throw error;
  }
}

/** As {@link importTemplate}, inside the caller's transaction. */
export async function importTemplateWithin(
  tx: Tx,
  file: TemplateFile,
  checked: CheckedRevisions,
  importedBy: string | null,
): Promise<TemplateImport> {
  const created = await insertTemplate(tx, file, checked);
  if (created !== null) {
    noteAudited(created);
    const saved = await saveTemplateVersion(tx, created, importedBy);
    return { outcome: 'created', id: created, name: file.name, ...saved };
  }
  return updateTemplate(tx, file, checked, importedBy);
}

/** Null when the name is taken. */
async function insertTemplate(tx: Tx, file: TemplateFile, checked: CheckedRevisions): Promise<number | null> {
  const [row] = await tx.query<{ id: number }>(
    `insert into session_template (name, template_version, description, configuration) values ($1, $2, $3, $4)
     on conflict (name) do nothing returning id`,
    [file.name, file.templateVersion, file.description, JSON.stringify(file.configuration)],
  );
  if (row === undefined) return null;
  const inserted = await tx.query(
    `insert into session_template_node
            (session_template_id, ordinal, name, node_template_id, default_configuration, checked_revision, parent_names)
     select $1, f.ordinal, f.name, k.id, f.configuration, f.revision, array(select jsonb_array_elements_text(f.parents))
       from unnest($2::int[], $3::text[], $4::text[], $5::text[], $6::int[], $7::jsonb[])
              as f (ordinal, name, template_name, configuration, revision, parents)
       join node_template k on k.name = f.template_name
     returning 1`,
    [row.id, ...nodeColumns(file, checked)],
  );
  if (inserted.length !== file.nodes.length)
    throw new Error('A node template of the file is not registered.');
  return row.id;
}

function nodeColumns({ nodes }: TemplateFile, checked: CheckedRevisions): unknown[] {
  return [
    nodes.map((_, ordinal) => ordinal),
    nodes.map((node) => node.name),
    nodes.map((node) => node.nodeTemplateName),
    nodes.map((node) => JSON.stringify(node.defaultConfiguration)),
    revisionsOf(nodes, checked),
    nodes.map((node) => JSON.stringify(node.parents)),
  ];
}

/** 0, which no schema has, when unchecked. */
function revisionsOf(nodes: TemplateFile['nodes'], checked: CheckedRevisions): number[] {
  return nodes.map((node) => checked.get(node.nodeTemplateName)?.schemaRevision ?? 0);
}

async function updateTemplate(
  tx: Tx,
  file: TemplateFile,
  checked: CheckedRevisions,
  importedBy: string | null,
): Promise<TemplateImport> {
  const [stored] = await tx.query<{ id: number }>(
    'select id from session_template where name = $1 for no key update',
    [file.name],
  );
  if (stored === undefined) throw new Error('The session template was removed while it was imported.');
  noteAudited(stored.id);
  if (!file.updateIfExists) return { outcome: 'exists' };
  const graph = (await templateNodes(tx, stored.id)).map((node) => ({
    name: node.name,
    nodeTemplateName: node.nodeTemplateName ?? '',
    parents: node.parentNames,
  }));
  if (!isSameTemplateGraph(graph, file.nodes)) return { outcome: 'graph-differs' };
  await tx.query(
    `update session_template
        set template_version = $2, description = $3, configuration = $4
      where id = $1`,
    [stored.id, file.templateVersion, file.description, JSON.stringify(file.configuration)],
  );
  await tx.query(
    `update session_template_node n set default_configuration = f.configuration, checked_revision = f.revision
       from unnest($2::text[], $3::text[], $4::int[]) as f (name, configuration, revision)
      where n.session_template_id = $1 and n.name = f.name`,
    [
      stored.id,
      file.nodes.map((node) => node.name),
      file.nodes.map((node) => JSON.stringify(node.defaultConfiguration)),
      revisionsOf(file.nodes, checked),
    ],
  );
  const saved = await saveTemplateVersion(tx, stored.id, importedBy);
  if (saved.changed)
    await tx.query('update session_template set updated_at = clock_timestamp() where id = $1', [stored.id]);
  return { outcome: 'updated', id: stored.id, name: file.name, ...saved };
}

/** Names of the node templates that the stored template of this name uses: an update may still use them. */
export async function nodeTemplatesOfTemplate(database: Queryable, name: string): Promise<Set<string>> {
  const rows = await database.query<{ name: string }>(
    `select distinct k.name from session_template t
       join session_template_node n on n.session_template_id = t.id
       join node_template k on k.id = n.node_template_id
      where t.name = $1`,
    [name],
  );
  return new Set(rows.map((row) => row.name));
}
