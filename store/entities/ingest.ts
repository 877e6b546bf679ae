import { defineEntity, p } from '@mikro-orm/core';
import type { CreationBehaviour, IngestDataType } from '../../domain/outputs/managed-ingest.ts';
import { DataSource } from './data-source.ts';
import { Project } from './project.ts';
import { SessionTemplate } from './session-template.ts';
import { times } from './times.ts';

/** An upload URL bound to a project, a session template and an input node. */
const IngestSchema = defineEntity({
  name: 'Ingest',
  tableName: 'ingest',
  properties: {
    id: p.bigint('number').primary(),
    /** Segments joined by slashes, without one at either end. */
    urlPath: p.text().unique(),
    project: () => p.manyToOne(Project),
    sessionTemplate: () => p.manyToOne(SessionTemplate),
    /** Name of an Input node of the template. */
    inputNode: p.text(),
    /** Where the bytes go. */
    dataSource: () => p.manyToOne(DataSource),
    creationBehaviour: p.text().$type<CreationBehaviour>(),
    ingestDataType: p.text().fieldName('data_type').$type<IngestDataType>(),
    allowAnonymous: p.boolean(),
    /** The keyed digest of the secret, and its last four characters. */
    secretDigest: p.blob().$type<Buffer>(),
    secretHint: p.text(),
    /** Owner of the sessions that it makes. */
    createdBy: p.uuid(),
    createdByKey: p.text(),
    ...times,
  },
});
export class Ingest extends IngestSchema.class {}
IngestSchema.setClass(Ingest);
