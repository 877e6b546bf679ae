/** Outputs of nodes: rows that say where bytes are and what they are. Only outputs with a position are published. */

import type { Queryable, Tx } from '../connection/database.ts';
import { newId } from '../connection/ids.ts';
import { jsonOrNull } from '../connection/parameters.ts';
import { type DataSourceRow, dataSourceColumns } from '../objects/data-sources.ts';

/** Where an output's bytes are and what they are, for rows of outputs and of task inputs. */
export interface OutputBytes {
  /** Key of the object below the data source's prefix. */
  readonly objectKey: string;
  /** Where the output begins inside a bundled object; null when the object is the output's own. */
  readonly objectOffset: number | null;
  readonly outputIdentifier: string;
  readonly contentType: string | null;
  /** `gzip` or null. */
  readonly contentEncoding: string | null;
  /** Bytes as stored, that is before any decoding. */
  readonly sizeBytes: number;
  /** Lower-case hexadecimal; null for multi-part outputs of runners. */
  readonly sha256: string | null;
  /** Without quotes. */
  readonly etag: string;
}

/** One output as stored; `position` is null while it is staged. */
export interface NodeOutputRow extends OutputBytes {
  readonly id: number;
  readonly sessionId: string;
  readonly nodeInstanceId: number;
  readonly position: number | null;
  readonly runId: string | null;
  readonly dataSourceId: number;
  readonly metadata: Record<string, unknown> | null;
  /** What it was made with, as JSON text: that of its run, else the node's at the time of the write. */
  readonly configuration: string;
  readonly configurationRevision: number;
  readonly createdAt: Date;
}

/** An object in storage, as every row that refers to one has it. */
interface StoredObject extends Omit<OutputBytes, 'objectOffset' | 'outputIdentifier'> {
  readonly dataSourceId: number;
}

/** An object already in storage that is to become an output of a node. */
export interface UploadedObject extends StoredObject {
  readonly nodeInstanceId: number;
  /** Unique in the node; null lets the platform make one. */
  readonly outputIdentifier: string | null;
  readonly metadata: Record<string, unknown> | null;
}

/** The writer's fields of a published output; the rest comes from the node. */
export interface NewOutput extends UploadedObject {
  readonly sessionId: string;
  readonly position: number;
  /** Time of the publication. */
  readonly createdAt: Date;
  readonly objectOffset?: number | null;
}

/** An output without its configuration, which may be long. */
type ListedOutput = Omit<NodeOutputRow, 'configuration'>;

/** An output together with the data source that holds its bytes. */
export interface OutputWithSource<Output = NodeOutputRow> {
  readonly output: Output;
  readonly dataSource: DataSourceRow;
}
export type ListedOutputWithSource = OutputWithSource<ListedOutput>;

const objectColumnNames = {
  dataSourceId: 'data_source_id',
  objectKey: 'object_key',
  contentType: 'content_type',
  contentEncoding: 'content_encoding',
  sizeBytes: 'size_bytes',
  sha256: 'sha256',
  etag: 'etag',
} as const satisfies Record<keyof StoredObject, string>;
const objectFields = Object.keys(objectColumnNames) as (keyof StoredObject)[];

/** The columns of a stored object in every table that refers to one. */
export const objectColumns = Object.values(objectColumnNames).join(', ');

/** The parameters for {@link objectColumns}, of the values of {@link objectValues}. @param first the number of the first */
export const objectParameters = (first: number) =>
  objectFields.map((_field, place) => `$${first + place}`).join(', ');

export const objectValues = (object: StoredObject) => objectFields.map((field) => object[field]);

const columnNames = {
  id: 'id',
  sessionId: 'session_id',
  nodeInstanceId: 'node_instance_id',
  position: 'position',
  runId: 'run_id',
  ...objectColumnNames,
  objectOffset: 'object_offset',
  outputIdentifier: 'output_identifier',
  metadata: 'metadata',
  configuration: 'configuration',
  configurationRevision: 'configuration_revision',
  createdAt: 'created_at',
} as const satisfies Record<keyof NodeOutputRow, string>;

const selectList = (columns: readonly string[]) => columns.map((column) => `o.${column}`).join(', ');

/** The select list of a {@link NodeOutputRow} for a table named `o`. */
export const outputColumns = selectList(Object.values(columnNames));

/** As {@link outputColumns}, of a {@link ListedOutput}. */
export const listedOutputColumns = selectList(
  Object.values(columnNames).filter((column) => column !== columnNames.configuration),
);

/** Inserts a published output; undefined when the node has one of its identifier, or is gone. */
export async function insertOutput(tx: Tx, output: NewOutput): Promise<NodeOutputRow | undefined> {
  const [row] = await tx.query<NodeOutputRow>(
    `insert into node_output as o
            (session_id, node_instance_id, configuration, configuration_revision, position, object_offset,
             output_identifier, metadata, created_at, ${objectColumns})
     select $1, n.id, n.configuration, n.configuration_revision, $3, $4, $5, $6, $7, ${objectParameters(8)}
       from node_instance n where n.id = $2
     on conflict (node_instance_id, output_identifier) do nothing
     returning ${outputColumns}`,
    [
      output.sessionId,
      output.nodeInstanceId,
      output.position,
      output.objectOffset ?? null,
      output.outputIdentifier ?? newId(),
      jsonOrNull(output.metadata),
      output.createdAt,
      ...objectValues(output),
    ],
  );
  return row;
}

/** The node's output with this identifier, locked until the transaction ends. */
export async function lockOutput(
  tx: Tx,
  nodeInstanceId: number,
  outputIdentifier: string,
): Promise<NodeOutputRow | undefined> {
  const [row] = await tx.query<NodeOutputRow>(
    `select ${outputColumns} from node_output o
      where o.node_instance_id = $1 and o.output_identifier = $2 for update`,
    [nodeInstanceId, outputIdentifier],
  );
  return row;
}

/**
 * Replaces the bytes of an output that is locked: same id, new position (decisions 8). The version before stays readable
 * for runs that were claimed earlier. Call it under the session's lock.
 */
export async function replaceOutput(tx: Tx, old: NodeOutputRow, output: NewOutput): Promise<NodeOutputRow> {
  if (old.position === null) await queueObjectDeletion(tx, old.dataSourceId, old.objectKey);
  else await saveVersion(tx, old.id, output.position);
  const [row] = await tx.query<NodeOutputRow>(
    `update node_output o
        set run_id = null, configuration = n.configuration, configuration_revision = n.configuration_revision,
            position = $2, object_offset = $3, metadata = $4, created_at = $5, (${objectColumns}) = row (${objectParameters(6)})
       from node_instance n where o.id = $1 and n.id = o.node_instance_id
     returning ${outputColumns}`,
    [
      old.id,
      output.position,
      output.objectOffset ?? null,
      jsonOrNull(output.metadata),
      output.createdAt,
      ...objectValues(output),
    ],
  );
  return row!;
}

async function saveVersion(tx: Tx, outputId: number, supersededAtPosition: number): Promise<void> {
  await tx.query(
    `insert into node_output_superseded
            (output_id, superseded_at_position, session_id, node_instance_id, position, run_id, object_offset, metadata,
             configuration, configuration_revision, created_at, ${objectColumns})
     select id, $2, session_id, node_instance_id, position, run_id, object_offset, metadata, configuration,
            configuration_revision, created_at, ${objectColumns}
       from node_output where id = $1`,
    [outputId, supersededAtPosition],
  );
}

/** Puts an object on the queue of deletions; the sweeper removes it unless something still refers to it then. */
export async function queueObjectDeletion(
  tx: Queryable,
  dataSourceId: number,
  objectKey: string,
): Promise<void> {
  await tx.query('insert into object_deletion (data_source_id, object_key) values ($1, $2)', [
    dataSourceId,
    objectKey,
  ]);
}

/** The node's output with this identifier, staged or published. */
export async function findOutputByIdentifier(
  database: Queryable,
  nodeInstanceId: number,
  outputIdentifier: string,
): Promise<NodeOutputRow | undefined> {
  const [row] = await database.query<NodeOutputRow>(
    `select ${outputColumns} from node_output o where o.node_instance_id = $1 and o.output_identifier = $2`,
    [nodeInstanceId, outputIdentifier],
  );
  return row;
}

const withSource = `
  select ${outputColumns}, ${dataSourceColumns('d', 'source.')}
    from node_output o join data_source d on d.id = o.data_source_id`;

/** A published output by its id. */
export async function findOutput(
  database: Queryable,
  outputId: number,
): Promise<OutputWithSource | undefined> {
  const [row] = await database.query(`${withSource} where o.id = $1 and o.position is not null`, [outputId]);
  return row === undefined ? undefined : splitSource(row);
}

/** The node's published output with this identifier. */
export async function findNamedOutput(
  database: Queryable,
  nodeInstanceId: number,
  outputIdentifier: string,
): Promise<OutputWithSource | undefined> {
  const [row] = await database.query(
    `${withSource} where o.node_instance_id = $1 and o.output_identifier = $2 and o.position is not null`,
    [nodeInstanceId, outputIdentifier],
  );
  return row === undefined ? undefined : splitSource(row);
}

/** The node's published output with the highest position. */
export async function findLatestOutput(
  database: Queryable,
  nodeInstanceId: number,
): Promise<OutputWithSource | undefined> {
  const [row] = await database.query(
    `${withSource} where o.node_instance_id = $1 and o.position is not null order by o.position desc limit 1`,
    [nodeInstanceId],
  );
  return row === undefined ? undefined : splitSource(row);
}

/** A row of outputs and their data sources, whose columns begin with `source.`. */
export function splitSource<Output = NodeOutputRow>(row: Record<string, unknown>): OutputWithSource<Output> {
  const output: Record<string, unknown> = {};
  const dataSource: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(row)) {
    if (name.startsWith('source.')) dataSource[name.slice('source.'.length)] = value;
    else output[name] = value;
  }
  return { output, dataSource } as unknown as OutputWithSource<Output>;
}

/** What an upload needs of its node. */
export interface UploadTarget {
  readonly nodeInstanceId: number;
  readonly sessionId: string;
  readonly projectId: number;
  /** JSON text as stored. */
  readonly configuration: string;
  readonly frozen: boolean;
  /** The project queues its uploads. */
  readonly queuedIngestion: boolean;
}

/** The node instance with what an upload needs of its session; undefined when there is none. */
export async function findUploadTarget(
  database: Queryable,
  nodeInstanceId: number,
): Promise<UploadTarget | undefined> {
  const [row] = await database.query<UploadTarget>(
    `select n.id as node_instance_id, n.session_id, s.project_id, n.configuration,
            s.frozen_at is not null as frozen, p.queued_ingestion
       from node_instance n join session s on s.id = n.session_id join project p on p.id = s.project_id
      where n.id = $1`,
    [nodeInstanceId],
  );
  return row;
}
