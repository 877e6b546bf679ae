import { defineEntity, p } from '@mikro-orm/core';
import { createdAt } from './times.ts';

/** A system dashboard: a link of the sidebar, and the sessions that back it. */
const StaticDefinitionSchema = defineEntity({
  name: 'StaticDefinition',
  tableName: 'static_definition',
  properties: {
    id: p.bigint('number').primary(),
    code: p.text().unique(),
    title: p.text(),
    icon: p.text(),
    order: p.integer(),
    sectionCode: p.text(),
    sectionTitle: p.text(),
    /** 0 global, 1 for each project, 2 for each user. */
    scopeKind: p.smallint().$type<0 | 1 | 2>(),
    instances: () => p.oneToMany(StaticInstance).mappedBy('definition').orderBy({ id: 'asc' }),
    createdAt,
  },
});
export class StaticDefinition extends StaticDefinitionSchema.class {}
StaticDefinitionSchema.setClass(StaticDefinition);

const StaticInstanceSchema = defineEntity({
  name: 'StaticInstance',
  tableName: 'static_instance',
  properties: {
    id: p.bigint('number').primary(),
    definition: () => p.manyToOne(StaticDefinition).fieldName('static_id'),
    sessionId: p.uuid(),
    createdAt,
  },
});
export class StaticInstance extends StaticInstanceSchema.class {}
StaticInstanceSchema.setClass(StaticInstance);
