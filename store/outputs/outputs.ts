/** Outputs of nodes: rows that tell where bytes lie and what they are. Only outputs with a position are published. */

import type { Queryable, Tx } from '../connection/database.ts';
import { newId } from '../connection/ids.ts';
import { type DataSourceRow, dataSourceColumns } from '../objects/data-sources.ts';

/** Where an output's bytes lie and what they are: rows of outputs and of task inputs have it. */
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
  /** The node's configuration at the time of the write, as JSON text. */
  readonly configuration: string;
  readonly createdAt: Date;
}

/** What a writer knows of a new output; the rest comes from the node. */
export interface NewOutput {
  readonly sessionId: string;
  readonly nodeInstanceId: number;
  readonly position: number | null;
  /** Time of the publication; absent for a staged write, which has its own. */
  readonly createdAt?: Date;
  readonly runId: string | null;
  readonly dataSourceId: number;
  readonly objectKey: string;
  readonly objectOffset?: number | null;
  /** Null lets the platform make one. */
  readonly outputIdentifier: string | null;
  readonly contentType: string | null;
  readonly contentEncoding: string | null;
  readonly sizeBytes: number;
  readonly sha256: string | null;
  readonly etag: string;
  readonly metadata: Record<string, unknown> | null;
}

/** An output together with the data source that holds its bytes. */
export interface OutputWithSource {
  readonly output: NodeOutputRow;
  readonly dataSource: DataSourceRow;
}

const columnNames = {
  id: 'id',
  sessionId: 'session_id',
  nodeInstanceId: 'node_instance_id',
  position: 'position',
  runId: 'run_id',
  dataSourceId: 'data_source_id',
  objectKey: 'object_key',
  objectOffset: 'object_offset',
  outputIdentifier: 'output_identifier',
  contentType: 'content_type',
  contentEncoding: 'content_encoding',
  sizeBytes: 'size_bytes',
  sha256: 'sha256',
  etag: 'etag',
  metadata: 'metadata',
  configuration: 'configuration',
  createdAt: 'created_at',
} as const satisfies Record<keyof NodeOutputRow, string>;

/** The select list of a {@link NodeOutputRow} for a table named `o`. */
export const outputColumns = Object.entries(columnNames)
  .map(([field, column]) => `o.${column} as "${field}"`)
  .join(', ');

/** Inserts an output, published (with a position) or staged. Throws when the node is gone. */
export async function insertOutput(tx: Tx, output: NewOutput): Promise<NodeOutputRow> {
  const [row] = await tx.query<NodeOutputRow>(
    `insert into node_output as o
            (session_id, node_instance_id, position, run_id, data_source_id, object_key, object_offset,
             output_identifier, content_type, content_encoding, size_bytes, sha256, etag, metadata, configuration,
             created_at)
     select $1::uuid, n.id, $3::bigint, $4::uuid, $5::bigint, $6, $7::bigint, $8, $9, $10, $11::bigint, $12, $13,
            $14::jsonb, n.configuration, coalesce($15::timestamptz, clock_timestamp())
       from node_instance n where n.id = $2::bigint
     returning ${outputColumns}`,
    [
      output.sessionId,
      output.nodeInstanceId,
      output.position,
      output.runId,
      output.dataSourceId,
      output.objectKey,
      output.objectOffset ?? null,
      output.outputIdentifier ?? newId(),
      output.contentType,
      output.contentEncoding,
      output.sizeBytes,
      output.sha256,
      output.etag,
      output.metadata === null ? null : JSON.stringify(output.metadata),
      output.createdAt ?? null,
    ],
  );
  if (row === undefined) throw new Error(`Node instance ${output.nodeInstanceId} is gone.`);
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
  else await keepVersion(tx, old.id, output.position);
  const [row] = await tx.query<NodeOutputRow>(
    `update node_output o
        set position = $2, run_id = $3, data_source_id = $4, object_key = $5, object_offset = $6, content_type = $7,
            content_encoding = $8, size_bytes = $9, sha256 = $10, etag = $11, metadata = $12::jsonb,
            configuration = n.configuration, created_at = coalesce($13::timestamptz, clock_timestamp())
       from node_instance n where o.id = $1 and n.id = o.node_instance_id
     returning ${outputColumns}`,
    [
      old.id,
      output.position,
      output.runId,
      output.dataSourceId,
      output.objectKey,
      output.objectOffset ?? null,
      output.contentType,
      output.contentEncoding,
      output.sizeBytes,
      output.sha256,
      output.etag,
      output.metadata === null ? null : JSON.stringify(output.metadata),
      output.createdAt ?? null,
    ],
  );
  return row!;
}

async function keepVersion(tx: Tx, outputId: number, supersededAtPosition: number | null): Promise<void> {
  await tx.query(
    `insert into node_output_superseded
            (output_id, session_id, node_instance_id, position, superseded_at_position, data_source_id, object_key,
             object_offset, content_type, content_encoding, size_bytes, sha256, etag, metadata, configuration,
             created_at, run_id)
     select o.id, o.session_id, o.node_instance_id, o.position, $2, o.data_source_id, o.object_key, o.object_offset,
            o.content_type, o.content_encoding, o.size_bytes, o.sha256, o.etag, o.metadata, o.configuration,
            o.created_at, o.run_id
       from node_output o where o.id = $1`,
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
  select ${outputColumns}, ${dataSourceColumns('d', 'source_')}
    from node_output o join data_source d on d.id = o.data_source_id`;

/** A published output by its id. */
export async function findOutput(
  database: Queryable,
  outputId: number,
): Promise<OutputWithSource | undefined> {
  const [row] = await database.query(`${withSource} where o.id = $1 and o.position is not null`, [outputId]);
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

/** A row of outputs and their data sources, whose columns begin with `source_`. */
export function splitSource(row: Record<string, unknown>): OutputWithSource {
  const output: Record<string, unknown> = {};
  const dataSource: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(row)) {
    if (name.startsWith('source_')) dataSource[name.slice('source_'.length)] = value;
    else output[name] = value;
  }
  return { output, dataSource } as unknown as OutputWithSource;
}

/** What an upload needs to know of the node that it goes to. */
export interface UploadTarget {
  readonly nodeInstanceId: number;
  readonly sessionId: string;
  readonly projectId: number;
  /** JSON text as stored. */
  readonly configuration: string;
  readonly frozen: boolean;
  /** The project takes uploads in through its queue. */
  readonly queuedIngestion: boolean;
}

/** The node instance with what an upload needs of its session; undefined when there is none. */
export async function findUploadTarget(
  database: Queryable,
  nodeInstanceId: number,
): Promise<UploadTarget | undefined> {
  const [row] = await database.query<UploadTarget>(
    `select n.id as "nodeInstanceId", n.session_id as "sessionId", s.project_id as "projectId", n.configuration,
            s.frozen_at is not null as frozen, p.queued_ingestion as "queuedIngestion"
       from node_instance n join session s on s.id = n.session_id join project p on p.id = s.project_id
      where n.id = $1`,
    [nodeInstanceId],
  );
  return row;
}
