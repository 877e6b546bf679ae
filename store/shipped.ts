/** What every installation has from its first start (decisions 11): built-in node templates and the shipped template. */
import type { TemplateFile } from '../domain/template-file.ts';
import type { JsonObject } from '../domain/text.ts';
import { advisoryLocks } from './advisory-locks.ts';
import { platformDataSourceName } from './data-sources.ts';
import type { Database } from './database.ts';
import { saveNodeTemplates, saveRunnerTypes } from './node-templates.ts';
import { importTemplateWithin } from './session-templates.ts';

/** The runner type of built-in nodes, which no token may hold or claim. */
export const systemRunnerType = 'system';

export const builtinNodes = {
  input: 'input-node',
  tabular: 'system-tabular-to-dataservice',
  dimension: 'system-next-dimension',
} as const;

/** `dataSourceName` decides where a node's bytes go; no built-in node demands it (decisions 8). */
const dataSourceName = {
  type: ['string', 'null'],
  maxLength: 255,
  description: 'Name of the data source that holds the outputs of this node.',
};
const nullableText = (maxLength: number, description: string) => ({
  type: ['string', 'null'],
  maxLength,
  description,
});
const nullableFlag = (description: string) => ({ type: ['boolean', 'null'], description });

/** Configuration of `input-node` as JSON Schema 2020-12. */
export const inputConfigurationJsonSchema = { type: 'object', properties: { dataSourceName } } as const;

/** Configuration of `system-next-dimension` as JSON Schema 2020-12 (contract: Node configuration keys shown). */
export const dimensionConfigurationJsonSchema = {
  type: 'object',
  properties: {
    dataSourceName,
    dashboardName: nullableText(255, 'Name of the dashboard. Default: the name of the node.'),
    dashboardVersion: nullableText(64, 'Version of the dashboard, for example `next`.'),
    autoCreateScenarioInstance: nullableFlag('Make one scenario instance for each scenario name.'),
    scenarioName: nullableText(255, 'Name of the scenario. Default: the name of the session.'),
    layoutFromParentOutput: nullableFlag("The parent's suggested layout comes before `layoutConfiguration`."),
    layoutConfiguration: {
      type: ['object', 'null'],
      description: 'A JSON layout document.',
    },
  },
} as const;

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
      nodeTemplateName: builtinNodes.input,
      defaultConfiguration: { dataSourceName: platformDataSourceName },
      parents: [],
    },
    {
      name: 'tabular-autodetect',
      nodeTemplateName: builtinNodes.tabular,
      defaultConfiguration: { inputFormat: 'auto', autoDetectTimeColumn: true, emitSuggestedLayout: true },
      parents: ['tabular-upload'],
    },
    {
      name: 'tabular-dashboard',
      nodeTemplateName: builtinNodes.dimension,
      defaultConfiguration: {
        dashboardName: 'Recording',
        dashboardVersion: 'next',
        layoutFromParentOutput: true,
      },
      parents: ['tabular-autodetect'],
    },
  ],
};

export interface ShippedOptions {
  /** Configuration schema of `system-tabular-to-dataservice`. */
  readonly tabularConfigurationSchema: JsonObject;
}

/**
 * Registers what is shipped. Called at every start, by any number of processes at once: node templates follow the
 * running version, the session template is made when it is missing and then belongs to the operator.
 */
export async function ensureShipped(database: Database, options: ShippedOptions): Promise<void> {
  await database.transaction(async (tx) => {
    await tx.query('select pg_advisory_xact_lock($1)', [advisoryLocks.shipped]);
    await tx.query('insert into data_source (name) values ($1) on conflict (name) do nothing', [
      platformDataSourceName,
    ]);
    await saveRunnerTypes(
      tx,
      [
        {
          name: systemRunnerType,
          runtime: 'system',
          entrypoint: null,
          description: 'Runs inside the platform.',
        },
      ],
      null,
    );
    await saveNodeTemplates(tx, builtinNodeTemplates(options), null);
    // Nobody has held it against the schemas: they are looked at when its first tasks are made.
    await importTemplateWithin(tx, shippedTemplate, new Map());
  });
}

function builtinNodeTemplates({ tabularConfigurationSchema }: ShippedOptions) {
  const common = {
    runnerType: systemRunnerType,
    trigger: 'all',
    incremental: false,
    reprocess: 'latest',
    maxAttempts: 3,
    timeoutSeconds: null,
    leaseSeconds: null,
  } as const;
  return [
    {
      ...common,
      name: builtinNodes.input,
      type: 'Input',
      description: 'Takes uploads.',
      configurationSchema: inputConfigurationJsonSchema,
    },
    {
      ...common,
      name: builtinNodes.tabular,
      type: 'Transform',
      description: 'Turns tables into columnar recordings.',
      configurationSchema: tabularConfigurationSchema,
      incremental: true,
    },
    {
      ...common,
      name: builtinNodes.dimension,
      type: 'Processing',
      description: 'Publishes the dashboard of its parent.',
      configurationSchema: dimensionConfigurationJsonSchema,
    },
  ] as const;
}
