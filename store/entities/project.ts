import { defineEntity, p } from '@mikro-orm/core';
import { PlatformUser } from './platform-user.ts';
import { SessionTemplate } from './session-template.ts';
import { createdAt } from './times.ts';

/** A project holds sessions (contract: Project). */
const ProjectSchema = defineEntity({
  name: 'Project',
  tableName: 'project',
  properties: {
    id: p.bigint('number').primary(),
    /** 16 lower-case hexadecimal digits, random. */
    hexId: p.text().unique(),
    title: p.text(),
    description: p.text(),
    icon: p.text(),
    owner: () => p.manyToOne(PlatformUser),
    defaultSessionTemplate: () => p.manyToOne(SessionTemplate).strictNullable(),
    queuedIngestion: p.boolean(),
    /** Null keeps sessions for ever. */
    retentionDays: p.integer().strictNullable(),
    /** Paths into the metadata of sessions that lists show. */
    pinnedMetadata: p.array().columnType('text[]'),
    /** Each step moves its runs by a minute of waiting. */
    priority: p.smallint(),
    createdAt,
  },
});
export class Project extends ProjectSchema.class {}
ProjectSchema.setClass(Project);
