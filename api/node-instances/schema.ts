/** Wire forms of node outputs (contract: Node output; decisions 4 and 8). */
import { z } from 'zod';
import { jsonObjectOut, timestampOut } from '../../http/schemas.ts';

export const dataSourceSchema = z
  .object({
    id: z.int(),
    name: z.string(),
    kind: z.string(),
    endpoint: z.string(),
    region: z.string(),
    bucket: z.string(),
    prefix: z.string(),
    createdAt: timestampOut(),
  })
  .meta({ id: 'DataSource' });

/** An upload that was stored and is published later (contract: Upload rule 2). */
export const queuedSchema = z
  .object({
    status: z.literal('queued'),
    projectId: z.int(),
    sessionId: z.guid(),
    nodeInstanceId: z.int(),
    stream: z.string().meta({ description: 'Name of the queue; for information.' }),
    subject: z.string().meta({ description: 'Name of the project in the queue; for information.' }),
  })
  .meta({ id: 'QueuedUpload' });

export const nodeOutputSchema = z
  .object({
    id: z.int(),
    nodeInstanceId: z.int(),
    configuration: z.string().meta({ description: 'A JSON document as text.' }),
    createdAt: timestampOut(),
    dataSourceId: z.int(),
    dataPath: z.string().meta({ description: "Key of the object below the data source's prefix." }),
    outputIdentifier: z.string(),
    contentType: z.string().nullable(),
    contentEncoding: z.string().nullable(),
    sizeBytes: z.int().meta({ description: 'Bytes as stored.' }),
    sha256: z
      .string()
      .nullable()
      .meta({ description: 'Of the bytes as stored; null for multi-part outputs.' }),
    metadata: jsonObjectOut().nullable(),
    dataSource: dataSourceSchema,
  })
  .meta({ id: 'NodeOutput' });
