import { defineEntity, p } from '@mikro-orm/core';
import type { LayoutScope } from '../../domain/recordings/layout-scope.ts';
import type { JsonObject } from '../../domain/text.ts';
import { times } from './times.ts';

/** How a dashboard is laid out. */
const DashboardLayoutSchema = defineEntity({
  name: 'DashboardLayout',
  tableName: 'dashboard_layout',
  properties: {
    id: p.bigint('number').primary(),
    name: p.text(),
    scope: p.text().$type<LayoutScope>(),
    /** Who made it; one of scope `mine` is theirs alone. */
    ownerId: p.uuid(),
    projectId: p.bigint('number').nullable(),
    sessionTemplateId: p.bigint('number').nullable(),
    /** Names and keys of the channels that its panels draw. */
    channels: p.array().columnType('text[]'),
    layout: p.json().$type<JsonObject>(),
    /** Counts its changes from 1. */
    revision: p.integer().default(1),
    ...times,
  },
});
export class DashboardLayout extends DashboardLayoutSchema.class {}
DashboardLayoutSchema.setClass(DashboardLayout);
