/** Wire forms of node outputs (contract: Node output; decisions 4 and 8). */
import { z } from 'zod';
import { exampleValues } from '../../domain/examples.ts';
import { outputIdentifierForm } from '../../domain/outputs/output-headers.ts';
import { jsonObjectOut, pathId, textHeader, timestampOut } from '../../http/schemas.ts';
import { checksumHeaders } from '../uploads/checksum-headers.ts';

export const nodeInstanceParams = z.object({
  nodeInstanceId: pathId().meta({
    description: 'The node instance of a session.',
    example: exampleValues.inputNodeId,
  }),
});

export const nodeOutputParams = z.object({
  nodeOutputId: pathId().meta({ description: 'The output.', example: exampleValues.outputId }),
});

/** For the reference; the values are read by the rules that all writers of outputs share. */
export const uploadHeaders = z.object({
  'x-platform-output-identifier': textHeader(
    'Identifies the output: 1 to 100 letters, digits, `.`, `_`, `-`; unique in the node. The same identifier replaces its bytes.',
    'lap-12',
    outputIdentifierForm,
  ),
  'x-platform-output-metadata': textHeader(
    'A JSON object of up to 4 KB, stored with the output; no key begins with `$`. Outputs of a node with the same `sourceKey` (1 to 255 characters) are versions of one source: dashboards show the newest.',
    '{"driver":"A"}',
  ),
  'content-encoding': textHeader('`gzip` when the body is compressed; it is stored as sent.', 'gzip'),
  ...checksumHeaders,
});

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
  .meta({
    id: 'DataSource',
    example: {
      id: 2,
      name: 'default',
      kind: 's3',
      endpoint: 'https://s3.example.org',
      region: 'eu-central-1',
      bucket: 'recordings',
      prefix: 'platform/',
      createdAt: '2026-02-02T09:00:00.000Z',
    },
  });

/** An upload that was stored and is published later (contract: Upload rule 2). */
export const queuedSchema = z
  .object({
    status: z.literal('queued'),
    projectId: z.int(),
    sessionId: z.guid(),
    nodeInstanceId: z.int(),
    stream: z.string().meta({ description: 'Name of the queue; informational.' }),
    subject: z.string().meta({ description: 'Name of the project in the queue; informational.' }),
  })
  .meta({
    id: 'QueuedUpload',
    example: {
      projectId: exampleValues.projectId,
      sessionId: exampleValues.sessionId,
      nodeInstanceId: exampleValues.inputNodeId,
      stream: 'node-ingest',
      subject: `projects.${exampleValues.projectId}.ingest`,
    },
  });

const outputExample = {
  id: exampleValues.outputId,
  nodeInstanceId: exampleValues.inputNodeId,
  configurationRevision: 1,
  createdAt: exampleValues.processedAt,
  dataSourceId: 2,
  dataPath: 'outputs/0198f2b9-91c3-7f10-a6d2-0c5b7e3f4a68',
  outputIdentifier: 'lap-12',
  contentType: 'text/csv',
  contentEncoding: null,
  sizeBytes: 39,
  sha256: '2a584f50100491dca3b17100c00e41709b2820aec8add14a75469438ac1aa139',
  metadata: { driver: 'A' },
};

export const nodeOutputSchema = z
  .object({
    id: z.int(),
    nodeInstanceId: z.int(),
    configuration: z.string().meta({ description: 'A JSON document as text.' }),
    configurationRevision: z
      .int()
      .meta({ description: 'The revision of the node’s configuration, counted from 1.' }),
    createdAt: timestampOut(),
    dataSourceId: z.int(),
    dataPath: z.string().meta({ description: "Key of the object below the data source's prefix." }),
    outputIdentifier: z.string(),
    contentType: z.string().nullable(),
    contentEncoding: z.string().nullable(),
    sizeBytes: z.int().meta({ description: 'Size as stored.' }),
    sha256: z
      .string()
      .nullable()
      .meta({ description: 'SHA-256 of the bytes as stored; null for multi-part outputs.' }),
    metadata: jsonObjectOut().nullable(),
    dataSource: dataSourceSchema,
  })
  .meta({
    id: 'NodeOutput',
    example: { ...outputExample, configuration: '{"dataSourceName":"default"}' },
  });

/** Without its configuration, which may be long. */
export const listedOutputSchema = nodeOutputSchema
  .omit({ configuration: true })
  .meta({ id: 'ListedOutput', example: outputExample });
