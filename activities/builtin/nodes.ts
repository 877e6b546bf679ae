/** All built-in nodes, and the template that every installation has of them (decisions 11). */
import type { TemplateFile } from '../../domain/templates/template-file.ts';
import { platformDataSourceName } from '../../store/objects/data-sources.ts';
import { dashboardNode } from './dashboard-node.ts';
import { inputNode } from './input-node.ts';
import type { BuiltinNode } from './node.ts';
import { tabularNode } from './tabular-node.ts';

export const builtinNodes: readonly BuiltinNode[] = [inputNode, tabularNode, dashboardNode];

/** The shipped template: an upload becomes a columnar recording, and that a dashboard. */
export const shippedTemplate: TemplateFile = {
  name: 'system-tabular-dashboard-autodetect-next',
  templateVersion: '1.0.0',
  description:
    'Upload a table (CSV, TSV, JSON, NDJSON or Parquet); its columns are found and drawn on a dashboard.',
  configuration: {},
  updateIfExists: false,
  nodes: [
    {
      name: 'tabular-upload',
      nodeTemplateName: inputNode.name,
      defaultConfiguration: { dataSourceName: platformDataSourceName },
      parents: [],
    },
    {
      name: 'tabular-autodetect',
      nodeTemplateName: tabularNode.name,
      defaultConfiguration: { inputFormat: 'auto', autoDetectTimeColumn: true, emitSuggestedLayout: true },
      parents: ['tabular-upload'],
    },
    {
      name: 'tabular-dashboard',
      nodeTemplateName: dashboardNode.name,
      defaultConfiguration: {
        dashboardName: 'Recording',
        dashboardVersion: 'next',
        layoutFromParentOutput: true,
      },
      parents: ['tabular-autodetect'],
    },
  ],
};
