/** Managed ingests: upload URLs bound to a project, a session template and an input node (decisions 8). */
import { LockMode } from '@mikro-orm/core';
import type { CreationBehaviour, IngestDataType } from '../../domain/outputs/managed-ingest.ts';
import type { Person } from '../../domain/sessions/participant.ts';
import { noteAudited } from '../connection/audit-scope.ts';
import type { Database, EntityReader, Tx } from '../connection/database.ts';
import { oncePerKey } from '../connection/idempotency.ts';
import { DataSource } from '../entities/data-source.ts';
import { definedFields } from '../entities/defined-fields.ts';
import { Ingest } from '../entities/ingest.ts';
import { Project } from '../entities/project.ts';
import { onUniqueViolation } from '../entities/refusals.ts';
import { SessionTemplate } from '../entities/session-template.ts';
import { now } from '../entities/times.ts';

/** The fields that an operator sets. */
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
  | { readonly outcome: 'saved'; readonly ingest: Ingest }
  | {
      readonly outcome:
        | 'missing'
        | 'path-taken'
        | 'project-unknown'
        | 'template-unknown'
        | 'node-unknown'
        | 'data-source-unknown';
    };

type Refusal = Exclude<IngestWrite['outcome'], 'saved'>;

const populate = ['project', 'sessionTemplate', 'dataSource'] as const;

export async function listIngests({ em }: EntityReader): Promise<Ingest[]> {
  return em.find(Ingest, {}, { populate, orderBy: { urlPath: 'asc' } });
}

export async function findIngest({ em }: EntityReader, id: number): Promise<Ingest | undefined> {
  return (await em.findOne(Ingest, id, { populate })) ?? undefined;
}

export async function findIngestByPath({ em }: EntityReader, urlPath: string): Promise<Ingest | undefined> {
  return (await em.findOne(Ingest, { urlPath }, { populate })) ?? undefined;
}

export async function createIngest(
  database: Database,
  fields: IngestFields,
  secret: IngestSecret,
  creator: Person,
): Promise<IngestWrite> {
  return write(database, async (tx) => {
    const data = await columnsOf(tx, fields);
    if (typeof data === 'string') return data;
    return tx.em.create(Ingest, {
      ...data,
      secretDigest: secret.digest,
      secretHint: secret.hint,
      createdBy: creator.identifier,
      createdByKey: creator.key,
    });
  });
}

/** Changes the given fields. */
export async function updateIngest(
  database: Database,
  id: number,
  changes: { readonly [Name in keyof IngestFields]?: IngestFields[Name] | undefined },
): Promise<IngestWrite> {
  return write(database, async (tx) => {
    const ingest = await tx.em.findOne(Ingest, id, { lockMode: LockMode.PESSIMISTIC_WRITE });
    if (ingest === null) return 'missing';
    await tx.em.populate(ingest, populate);
    const given = definedFields(changes);
    if (given === null) return ingest;
    const data = await columnsOf(tx, { ...fieldsOf(ingest), ...(given as Partial<IngestFields>) });
    if (typeof data === 'string') return data;
    return Object.assign(ingest, data, { updatedAt: now() });
  });
}

/** @returns false when there is no such ingest */
export async function rotateIngestSecret(
  database: Database,
  id: number,
  { digest, hint }: IngestSecret,
): Promise<boolean> {
  const change = { secretDigest: digest, secretHint: hint, updatedAt: now() };
  const work = async ({ em }: Tx) => (await em.nativeUpdate(Ingest, { id }, change)) > 0;
  return database.transaction(oncePerKey(work, (isRotated) => isRotated));
}

/** @returns false when there is no such ingest */
export async function deleteIngest(database: Database, id: number): Promise<boolean> {
  return database.transaction(async ({ em }) => (await em.nativeDelete(Ingest, { id })) > 0);
}

function fieldsOf(ingest: Ingest): IngestFields {
  const { urlPath, inputNode, creationBehaviour, ingestDataType, allowAnonymous } = ingest;
  const places = {
    projectId: ingest.project.id,
    sessionTemplateId: ingest.sessionTemplate.id,
    dataSource: ingest.dataSource.name,
  };
  return { urlPath, inputNode, creationBehaviour, ingestDataType, allowAnonymous, ...places };
}

/** The fields as columns; a refusal when one refers to a missing object. */
async function columnsOf(tx: Tx, fields: IngestFields) {
  const { urlPath, inputNode, creationBehaviour, ingestDataType, allowAnonymous } = fields;
  const project = await tx.em.findOne(Project, fields.projectId);
  if (project === null) return 'project-unknown';
  const sessionTemplate = await tx.em.findOne(SessionTemplate, fields.sessionTemplateId);
  if (sessionTemplate === null) return 'template-unknown';
  const inputs = await tx.query(
    `select 1 from session_template_node n join node_template t on t.id = n.node_template_id
      where n.session_template_id = $1 and n.name = $2 and t.type = 'Input'`,
    [sessionTemplate.id, inputNode],
  );
  if (inputs.length === 0) return 'node-unknown';
  const dataSource = await tx.em.findOne(DataSource, { name: fields.dataSource, kind: 's3' });
  if (dataSource === null) return 'data-source-unknown';
  const places = { project, sessionTemplate, dataSource };
  return { urlPath, inputNode, creationBehaviour, ingestDataType, allowAnonymous, ...places };
}

async function write(database: Database, work: (tx: Tx) => Promise<Ingest | Refusal>): Promise<IngestWrite> {
  const transaction = oncePerKey(
    async (tx: Tx): Promise<IngestWrite> => {
      const ingest = await work(tx);
      if (typeof ingest === 'string') return { outcome: ingest };
      await tx.em.flush();
      noteAudited(ingest.id);
      return { outcome: 'saved', ingest };
    },
    ({ outcome }) => outcome === 'saved',
  );
  return database.transaction(transaction).catch(onUniqueViolation({ outcome: 'path-taken' }));
}
