/** Shipped templates and small files of our own, for tests of routes. */
import { builtinNodes, shippedTemplate } from '../../activities/builtin/nodes.ts';
import type { Database } from '../../store/connection/database.ts';
import { seedBuiltins } from '../../store/registry/builtins.ts';

/** The part of the platform's start that runs before it serves. */
export async function ship(database: Database): Promise<void> {
  await seedBuiltins(database, { nodes: builtinNodes, template: shippedTemplate });
}

export const inputNode = (Name: string) => ({
  Name,
  NodeTemplateName: 'input-node',
  DefaultConfiguration: { dataSourceName: 'platform' },
  Parents: [] as string[],
});
export const tabularNode = (Name: string, ...Parents: string[]) => ({
  Name,
  NodeTemplateName: 'system-tabular-to-dataservice',
  DefaultConfiguration: { inputFormat: 'csv' },
  Parents,
});

/** A template definition file. */
export const templateFile = (Name: string, Nodes: readonly object[], extra: object = {}) => ({
  $schema: 'https://example.org/session-template.json',
  TemplateVersion: '1',
  Name,
  Description: `${Name} of the tests`,
  Configuration: { note: Name },
  Nodes,
  ...extra,
});
