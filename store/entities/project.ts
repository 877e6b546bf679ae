import { defineEntity, p } from '@mikro-orm/core';
import { PlatformUser } from './platform-user.ts';

/** A project holds sessions (contract: Project). The default template is kept as its id: lists join what they show. */
const ProjectSchema = defineEntity({
  name: 'Project',
  tableName: 'project',
  properties: {
    id: p.bigint('number').primary(),
    hexId: p.text().fieldName('hex_id').unique(),
    title: p.text(),
    description: p.text(),
    icon: p.text(),
    owner: () => p.manyToOne(PlatformUser).fieldName('owner_id').ref(),
    defaultSessionTemplateId: p.bigint('number').fieldName('default_session_template_id').nullable(),
    queuedIngestion: p.boolean().fieldName('queued_ingestion'),
    /** Null keeps sessions for ever. */
    retentionDays: p.integer().fieldName('retention_days').nullable(),
    createdAt: p
      .datetime()
      .fieldName('created_at')
      .onCreate(() => new Date()),
  },
});
export class Project extends ProjectSchema.class {}
ProjectSchema.setClass(Project);
