import type { z } from 'zod';
import { formatTimestamp } from '../../domain/timestamp.ts';
import type { DataSourceRow } from '../../store/objects/data-sources.ts';
import type { ListedOutputWithSource, OutputWithSource } from '../../store/outputs/outputs.ts';
import type { dataSourceSchema, listedOutputSchema, nodeOutputSchema, queuedSchema } from './schema.ts';

/** A data source without its keys. */
export function presentDataSource(row: DataSourceRow): z.input<typeof dataSourceSchema> {
  return {
    id: row.id,
    name: row.name,
    kind: row.kind,
    endpoint: row.endpoint,
    region: row.region,
    bucket: row.bucket,
    prefix: row.prefix,
    createdAt: formatTimestamp(row.createdAt),
  };
}

export function presentOutput(found: OutputWithSource): z.input<typeof nodeOutputSchema> {
  return { ...presentListedOutput(found), configuration: found.output.configuration };
}

export function presentListedOutput({
  output,
  dataSource,
}: ListedOutputWithSource): z.input<typeof listedOutputSchema> {
  return {
    id: output.id,
    nodeInstanceId: output.nodeInstanceId,
    configurationRevision: output.configurationRevision,
    createdAt: formatTimestamp(output.createdAt),
    dataSourceId: output.dataSourceId,
    dataPath: output.objectKey,
    outputIdentifier: output.outputIdentifier,
    contentType: output.contentType,
    contentEncoding: output.contentEncoding,
    sizeBytes: output.sizeBytes,
    sha256: output.sha256,
    metadata: output.metadata,
    dataSource: presentDataSource(dataSource),
  };
}

export function presentQueued(queued: {
  readonly projectId: number;
  readonly sessionId: string;
  readonly nodeInstanceId: number;
}): z.input<typeof queuedSchema> {
  const { projectId, sessionId, nodeInstanceId } = queued;
  return {
    status: 'queued',
    projectId,
    sessionId,
    nodeInstanceId,
    stream: 'node-ingest',
    subject: `projects.${projectId}.ingest`,
  };
}
