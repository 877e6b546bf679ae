/** Managed ingests: upload URLs bound to a project, a session template and an input node (decisions 8). */
import type { CreationBehaviour, IngestDataType } from '../../domain/outputs/managed-ingest.ts';
import type { Person } from '../../domain/sessions/participant.ts';
import { noteAudited } from '../administration/audit-scope.ts';
import type { Database, Queryable, Tx } from '../connection/database.ts';
import { once } from '../connection/idempotency.ts';

export interface IngestRow {
  readonly id: number;
  /** Segments joined by slashes, without one at either end. */
  readonly urlPath: string;
  readonly projectId: number;
  readonly sessionTemplateId: number;
  readonly sessionTemplateName: string;
  /** Name of an Input node of the template. */
  readonly inputNode: string;
  readonly dataSourceId: number;
  /** Name of the data source that the bytes go to. */
  readonly dataSource: string;
  readonly creationBehaviour: CreationBehaviour;
  readonly ingestDataType: IngestDataType;
  readonly allowAnonymous: boolean;
  readonly secretDigest: Buffer;
  readonly secretHint: string;
  /** Whom the sessions that it makes belong to. */
  readonly creator: Person;
  readonly queuedIngestion: boolean;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** What an operator sets. */
export interface IngestFields {
  readonly urlPath: string;
  readonly projectId: number;
  readonly sessionTemplateId: number;
  readonly inputNode: string;
  readonly dataSource: string;
  readonly creationBehaviour: CreationBehaviour;
  readonly ingestDataType: IngestDataType;
  readonly allowAnonymous: boolean;
}

/** The keyed digest of a secret, and its last four characters. */
export interface IngestSecret {
  readonly digest: Buffer;
  readonly hint: string;
}

export type IngestWrite =
  | { readonly outcome: 'saved'; readonly ingest: IngestRow }
  | {
      readonly outcome:
        | 'missing'
        | 'path-taken'
        | 'project-unknown'
        | 'template-unknown'
        | 'node-unknown'
        | 'data-source-unknown';
    };

const select = `
  select i.id, i.url_path as "urlPath", i.project_id as "projectId", i.session_template_id as "sessionTemplateId",
         t.name as "sessionTemplateName", i.input_node as "inputNode", i.data_source_id as "dataSourceId",
         d.name as "dataSource", i.creation_behaviour as "creationBehaviour", i.data_type as "ingestDataType",
         i.allow_anonymous as "allowAnonymous", i.secret_digest as "secretDigest", i.secret_hint as "secretHint",
         json_build_object('identifier', i.created_by, 'key', i.created_by_key) as creator,
         p.queued_ingestion as "queuedIngestion", i.created_at as "createdAt", i.updated_at as "updatedAt"
    from ingest i join project p on p.id = i.project_id join session_template t on t.id = i.session_template_id
    join data_source d on d.id = i.data_source_id`;

export async function listIngests(database: Queryable): Promise<IngestRow[]> {
  return database.query<IngestRow>(`${select} order by i.url_path`);
}

export async function findIngest(database: Queryable, id: number): Promise<IngestRow | undefined> {
  const [row] = await database.query<IngestRow>(`${select} where i.id = $1`, [id]);
  return row;
}

export async function findIngestByPath(database: Queryable, urlPath: string): Promise<IngestRow | undefined> {
  const [row] = await database.query<IngestRow>(`${select} where i.url_path = $1`, [urlPath]);
  return row;
}

export async function createIngest(
  database: Database,
  fields: IngestFields,
  secret: IngestSecret,
  creator: Person,
): Promise<IngestWrite> {
  return write(database, async (tx) => {
    const unknown = await unknownReference(tx, fields);
    if (unknown !== undefined) return unknown;
    const [row] = await tx.query<{ id: number }>(
      `insert into ingest
              (url_path, project_id, session_template_id, input_node, data_source_id, creation_behaviour, data_type,
               allow_anonymous, secret_digest, secret_hint, created_by, created_by_key)
       select $1, $2, $3, $4, d.id, $6, $7, $8, $9, $10, $11, $12 from data_source d where d.name = $5 returning id`,
      [...valuesOf(fields), secret.digest, secret.hint, creator.identifier, creator.key],
    );
    return row!.id;
  });
}

/** Changes what `changes` names. */
export async function updateIngest(
  database: Database,
  id: number,
  changes: { readonly [Name in keyof IngestFields]?: IngestFields[Name] | undefined },
): Promise<IngestWrite> {
  return write(database, async (tx) => {
    const locked = await tx.query('select 1 from ingest where id = $1 for update', [id]);
    const stored = locked.length > 0 ? await findIngest(tx, id) : undefined;
    if (stored === undefined) return 'missing';
    const given = Object.entries(changes).filter(([, value]) => value !== undefined);
    const fields: IngestFields = { ...stored, ...Object.fromEntries(given) };
    const unknown = await unknownReference(tx, fields);
    if (unknown !== undefined) return unknown;
    await tx.query(
      `update ingest
          set url_path = $1, project_id = $2, session_template_id = $3, input_node = $4, data_source_id = d.id,
              creation_behaviour = $6, data_type = $7, allow_anonymous = $8, updated_at = clock_timestamp()
         from data_source d where ingest.id = $9 and d.name = $5`,
      [...valuesOf(fields), id],
    );
    return id;
  });
}

/** @returns false when there is no such ingest */
export async function rotateIngestSecret(
  database: Queryable,
  id: number,
  secret: IngestSecret,
): Promise<boolean> {
  const rows = await database.query(
    `update ingest set secret_digest = $2, secret_hint = $3, updated_at = clock_timestamp() where id = $1 returning 1`,
    [id, secret.digest, secret.hint],
  );
  return rows.length > 0;
}

/** @returns false when there is no such ingest */
export async function deleteIngest(database: Queryable, id: number): Promise<boolean> {
  return (await database.query('delete from ingest where id = $1 returning 1', [id])).length > 0;
}

function valuesOf(fields: IngestFields): readonly unknown[] {
  return [
    fields.urlPath,
    fields.projectId,
    fields.sessionTemplateId,
    fields.inputNode,
    fields.dataSource,
    fields.creationBehaviour,
    fields.ingestDataType,
    fields.allowAnonymous,
  ];
}

type Refusal = Exclude<IngestWrite['outcome'], 'saved'>;

async function unknownReference(tx: Tx, fields: IngestFields): Promise<Refusal | undefined> {
  const [known] = await tx.query<{ project: boolean; template: boolean; node: boolean; source: boolean }>(
    `select exists (select 1 from project where id = $1) as project,
            exists (select 1 from session_template where id = $2) as template,
            exists (select 1 from session_template_node n join node_template t on t.id = n.node_template_id
                     where n.session_template_id = $2 and n.name = $3 and t.type = 'Input') as node,
            exists (select 1 from data_source where name = $4 and kind = 's3') as source`,
    [fields.projectId, fields.sessionTemplateId, fields.inputNode, fields.dataSource],
  );
  if (!known?.project) return 'project-unknown';
  if (!known.template) return 'template-unknown';
  if (!known.node) return 'node-unknown';
  return known.source ? undefined : 'data-source-unknown';
}

const pathTakenCode = '23505';

async function write(database: Database, work: (tx: Tx) => Promise<number | Refusal>): Promise<IngestWrite> {
  try {
    return await database.transaction(
      once(
        async (tx): Promise<IngestWrite> => {
          const id = await work(tx);
          if (typeof id !== 'number') return { outcome: id };
          noteAudited(id);
          return { outcome: 'saved', ingest: (await findIngest(tx, id))! };
        },
        ({ outcome }) => outcome === 'saved',
      ),
    );
  } catch (error) {
    if ((error as { readonly code?: string }).code === pathTakenCode) return { outcome: 'path-taken' };
    throw error;
  }
}
