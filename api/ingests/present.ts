import type { z } from 'zod';
import { formatTimestamp } from '../../domain/timestamp.ts';
import type { Ingest } from '../../store/entities/ingest.ts';
import type { ingestSchema } from './schema.ts';

export function presentIngest(row: Ingest): z.input<typeof ingestSchema> {
  return {
    id: row.id,
    urlPath: row.urlPath,
    url: `/ingest/${row.urlPath}`,
    projectId: row.project.id,
    sessionTemplateId: row.sessionTemplate.id,
    inputNode: row.inputNode,
    dataSource: row.dataSource.name,
    creationBehaviour: row.creationBehaviour,
    ingestDataType: row.ingestDataType,
    allowAnonymous: row.allowAnonymous,
    secretHint: row.secretHint,
    createdBy: row.createdBy,
    createdAt: formatTimestamp(row.createdAt),
    updatedAt: formatTimestamp(row.updatedAt),
  };
}
