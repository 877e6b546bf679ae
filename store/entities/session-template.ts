import { defineEntity, p } from '@mikro-orm/core';
import { times } from './times.ts';

/** The template that projects and ingests refer to; written by store/registry/session-templates.ts. */
const SessionTemplateSchema = defineEntity({
  name: 'SessionTemplate',
  tableName: 'session_template',
  properties: {
    id: p.bigint('number').primary(),
    name: p.text().unique(),
    templateVersion: p.text(),
    description: p.text(),
    configuration: p.text(),
    ...times,
  },
});
export class SessionTemplate extends SessionTemplateSchema.class {}
SessionTemplateSchema.setClass(SessionTemplate);
