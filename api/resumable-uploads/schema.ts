/** Wire forms of resumable uploads (additions 3): tus 1.0.0, and their state for people. */
import { z } from 'zod';
import { exampleValues } from '../../domain/examples.ts';
import { tusVersion } from '../../domain/outputs/tus.ts';
import { textHeader, timestampOut } from '../../http/schemas.ts';
import { ingestHeaders } from '../ingests/schema.ts';
import { nodeInstanceParams } from '../node-instances/schema.ts';

/** An id of another form belongs to no upload of the node; the handlers refuse it. */
export const uploadParams = nodeInstanceParams.extend({
  uploadId: z
    .string()
    .meta({ description: 'From the address of the upload.', example: exampleValues.scenarioInstanceId }),
});

const version = { 'tus-resumable': textHeader('Version of the protocol.', tusVersion) };
const checksum = {
  'upload-checksum': textHeader(
    'Algorithm (`sha256`, `sha1`, `md5`) and Base64 of the digest of this body; checked before any of it is kept.',
    'sha256 KlhPUBAEkdyjsXEAwA5BcJsoIK7IrdFKdUaUOKwaoTk=',
  ),
};

export const tusHeaders = z.object(version);
export const creationHeaders = z.object({
  ...version,
  'upload-length': textHeader('Bytes of the whole upload.', '39'),
  'upload-metadata': textHeader(
    'Pairs of key and Base64: `identifier`, `contentType`, `contentEncoding`, `metadata` (a JSON object), each as the ' +
      'header of a plain upload. Other keys are ignored.',
    'identifier bGFwLTEy,contentType dGV4dC9jc3Y=',
  ),
  ...checksum,
});
export const pieceHeaders = z.object({
  ...version,
  'upload-offset': textHeader('Where the body begins: the offset of the last reply.', '0'),
  ...checksum,
});

export const supportedHeaders = {
  'tus-version': 'Supported versions.',
  'tus-max-size': 'The largest upload, in bytes.',
  'tus-extension': 'Supported extensions.',
  'tus-checksum-algorithm': 'Algorithms of `Upload-Checksum`.',
} as const;

export const offsetHeaders = {
  'upload-offset': 'Bytes that are stored.',
  'upload-expires': 'When the upload is removed if no further byte comes.',
} as const;
export const endHeaders = {
  'x-platform-upload-state': '`receiving`, `published`, or `queued` where the project queues.',
  'x-platform-output-id': 'Id of the output, once it is published.',
} as const;

/** Refusals of a request that may carry a piece. */
export const ofPieces = [
  'pieceChecksumMismatch',
  'malformedRequest',
  'requestTimeout',
  'bodyTooLarge',
  'unsupportedMediaType',
  'uploadBusy',
  'uploadNotFound',
  'tusVersionMissing',
] as const;

export const resumableUploadSchema = z
  .object({
    id: z.guid(),
    nodeInstanceId: z.int(),
    outputIdentifier: z.string().nullable().meta({ description: 'Null: the platform makes one.' }),
    sizeBytes: z.int(),
    offsetBytes: z.int().meta({ description: 'Bytes that are stored.' }),
    state: z
      .enum(['receiving', 'finishing', 'published', 'queued'])
      .meta({ description: '`finishing`: every byte is stored, and the output is being made.' }),
    outputId: z.int().nullable().meta({ description: 'Null until it is published.' }),
    expiresAt: timestampOut(),
  })
  .meta({
    id: 'ResumableUpload',
    example: {
      id: exampleValues.scenarioInstanceId,
      nodeInstanceId: exampleValues.inputNodeId,
      outputIdentifier: 'lap-12',
      sizeBytes: 39,
      offsetBytes: 39,
      state: 'published',
      outputId: exampleValues.outputId,
      expiresAt: exampleValues.processedAt,
    },
  });

/** An id of another form belongs to no upload; the handlers refuse it. */
export const ingestUploadParams = z.object({ pathOrId: uploadParams.shape.uploadId });

const secret = { 'x-ingest-secret': ingestHeaders.shape['x-ingest-secret'] };
export const ingestTusHeaders = tusHeaders.extend(secret);
export const ingestCreationHeaders = creationHeaders.extend(secret);
export const ingestPieceHeaders = pieceHeaders.extend(secret);

export const ingestEndHeaders = {
  ...endHeaders,
  'x-platform-session-id': 'Id of the session that was made or fed, once the ingest is performed.',
} as const;

export const ingestUploadSchema = resumableUploadSchema
  .extend({
    nodeInstanceId: z.int().nullable().meta({ description: 'Null until the ingest is performed.' }),
    sessionId: z.guid().nullable().meta({
      description: 'The session that was made or fed. Null until the ingest is performed.',
    }),
  })
  .meta({
    id: 'IngestUpload',
    example: {
      id: exampleValues.scenarioInstanceId,
      outputIdentifier: 'lap-12',
      sizeBytes: 39,
      offsetBytes: 39,
      state: 'published',
      outputId: exampleValues.outputId,
      expiresAt: exampleValues.processedAt,
      nodeInstanceId: exampleValues.inputNodeId,
      sessionId: exampleValues.sessionId,
    },
  });
