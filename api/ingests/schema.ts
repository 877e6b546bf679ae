/** Wire forms of managed ingests (contract: Managed ingest; decisions 8). */
import { z } from 'zod';
import { exampleValues } from '../../domain/examples.ts';
import { limits } from '../../domain/limits.ts';
import { creationBehaviours, ingestDataTypes, isIngestPath } from '../../domain/outputs/managed-ingest.ts';
import { bodyId, nameText, pathId, timestampOut } from '../../http/schemas.ts';
import { platformDataSourceName } from '../../store/objects/data-sources.ts';
import { uploadHeaders } from '../node-instances/schema.ts';

export const ingestPath = () =>
  z
    .string({ error: 'urlPath must be text.' })
    .refine(isIngestPath, {
      error: 'urlPath must be 1 to 8 segments of a-z, 0-9, - and _, joined by slashes.',
    })
    .meta({
      type: 'string',
      pattern: '^[a-z0-9_-]+(/[a-z0-9_-]+){0,7}$',
      maxLength: 255,
      description: 'Path of the ingest: 1 to 8 segments of `a-z`, `0-9`, `-`, `_`.',
      example: 'track-1/laps',
    });
const behaviour = () =>
  z.enum(creationBehaviours, { error: 'creationBehaviour must be NewSession or LatestSession.' }).meta({
    description:
      'NewSession: each upload creates a session. LatestSession: an upload feeds the newest session of the project and template ' +
      'that is neither frozen nor closed, or creates one.',
  });
const dataType = () =>
  z.enum(ingestDataTypes, { error: 'ingestDataType must be Csv, Json, Binary or Any.' }).meta({
    description: 'The accepted Content-Types; others get 415.',
  });
const id = (name: string) =>
  z
    .number({ error: `${name} must be an id.` })
    .pipe(bodyId())
    .meta({ type: 'integer', minimum: 1 });
const allowAnonymous = () =>
  z.boolean({ error: 'allowAnonymous must be true or false.' }).meta({
    description: 'True: uploads need no secret. Use it for trials only.',
  });
const named = (field: string) =>
  nameText(
    limits.nameCharacters,
    `${field} must hold 1 to ${limits.nameCharacters} characters and no control characters.`,
  );
const dataSource = () =>
  named('dataSource').meta({
    description: 'Data source for the bytes. It overrides the node’s configuration.',
  });
const inputNode = () =>
  named('inputNode').meta({ description: 'Name of an Input node of the session template.' });

export const ingestParams = z.object({
  id: pathId().meta({ description: 'The managed ingest.', example: 5 }),
});

export const ingestHeaders = z.object({
  'x-ingest-secret': z.string().optional().meta({
    description: 'The secret of this ingest. It may be sent as bearer token instead.',
    example: 'his_...',
  }),
  ...uploadHeaders.shape,
});

const requestExample = {
  urlPath: 'track-1/laps',
  projectId: exampleValues.projectId,
  sessionTemplateId: exampleValues.templateId,
  inputNode: 'tabular-upload',
  dataSource: 'default',
  creationBehaviour: 'NewSession',
  ingestDataType: 'Csv',
  allowAnonymous: false,
};

export const newIngestSchema = z
  .object({
    urlPath: ingestPath(),
    projectId: id('projectId'),
    sessionTemplateId: id('sessionTemplateId'),
    inputNode: inputNode(),
    dataSource: dataSource().default(platformDataSourceName),
    creationBehaviour: behaviour().default('NewSession'),
    ingestDataType: dataType().default('Any'),
    allowAnonymous: allowAnonymous().default(false),
  })
  .meta({ id: 'IngestRequest', example: requestExample });

export const ingestChangeSchema = z
  .object({
    urlPath: ingestPath().nullish(),
    projectId: id('projectId').nullish(),
    sessionTemplateId: id('sessionTemplateId').nullish(),
    inputNode: inputNode().nullish(),
    dataSource: dataSource().nullish(),
    creationBehaviour: behaviour().nullish(),
    ingestDataType: dataType().nullish(),
    allowAnonymous: allowAnonymous().nullish(),
  })
  .meta({ id: 'IngestChange', example: requestExample });

const ingestExample = {
  ...requestExample,
  id: 5,
  url: '/ingest/track-1/laps',
  secretHint: '4xQ2',
  createdBy: exampleValues.userId,
};

export const ingestSchema = z
  .object({
    id: z.int(),
    urlPath: z.string(),
    url: z.string().meta({ description: 'Upload path.' }),
    projectId: z.int(),
    sessionTemplateId: z.int(),
    inputNode: z.string(),
    dataSource: z.string(),
    creationBehaviour: z.enum(creationBehaviours),
    ingestDataType: z.enum(ingestDataTypes),
    allowAnonymous: z.boolean(),
    secretHint: z.string().meta({ description: 'Last four characters of the secret.' }),
    createdBy: z.guid().meta({ description: 'The owner of the sessions.' }),
    createdAt: timestampOut(),
    updatedAt: timestampOut(),
  })
  .meta({ id: 'Ingest', example: ingestExample });

/** The only reply with the secret. */
export const ingestWithSecretSchema = ingestSchema
  .extend({ secret: z.string().meta({ description: 'Shown once.', example: 'his_...' }) })
  .meta({ id: 'IngestWithSecret', example: ingestExample });

export const ingestedSchema = z
  .object({
    status: z.literal('ok'),
    sessionId: z.guid(),
    nodeInstanceId: z.int(),
    nodeOutputId: z.int(),
  })
  .meta({
    id: 'Ingested',
    example: {
      sessionId: exampleValues.sessionId,
      nodeInstanceId: exampleValues.inputNodeId,
      nodeOutputId: exampleValues.outputId,
    },
  });
