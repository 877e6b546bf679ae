import type { z } from 'zod';
import { formatTimestamp } from '../../domain/timestamp.ts';
import type { IngestRow } from '../../store/ingests/ingests.ts';
import type { ingestSchema } from './schema.ts';

export function presentIngest(row: IngestRow): z.input<typeof ingestSchema> {
  return {
    id: row.id,
    urlPath: row.urlPath,
    url: `/ingest/${row.urlPath}`,
    projectId: row.projectId,
    sessionTemplateId: row.sessionTemplateId,
    inputNode: row.inputNode,
    dataSource: row.dataSource,
    creationBehaviour: row.creationBehaviour,
    ingestDataType: row.ingestDataType,
    allowAnonymous: row.allowAnonymous,
    secretHint: row.secretHint,
    createdBy: row.creator.identifier,
    createdAt: formatTimestamp(row.createdAt),
    updatedAt: formatTimestamp(row.updatedAt),
  };
}
