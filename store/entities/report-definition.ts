import { defineEntity, p } from '@mikro-orm/core';
import type { ReportColumn, ReportCoverage, ReportFilter } from '../../domain/reports/report.ts';
import { times } from './times.ts';

const ReportDefinitionSchema = defineEntity({
  name: 'ReportDefinition',
  tableName: 'report_definition',
  properties: {
    key: p.text().primary(),
    name: p.text(),
    configurationKey: p.text().unique(),
    /** Prefix of the names of downloaded files. */
    fileName: p.text(),
    dimensionNameFilter: p.text(),
    covers: p.text().$type<ReportCoverage>(),
    isDefault: p.boolean(),
    columns: p.json().$type<readonly ReportColumn[]>(),
    filters: p.json().$type<readonly ReportFilter[]>(),
    /** Counts its changes from 1. */
    revision: p.integer().default(1),
    ...times,
  },
});
export class ReportDefinition extends ReportDefinitionSchema.class {}
ReportDefinitionSchema.setClass(ReportDefinition);
