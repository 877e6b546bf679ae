/**
 * What every installation has from the first start (decisions 11): built-in node templates and the shipped template.
 */
import type { Manifest } from '../../domain/runners/manifest.ts';
import { systemRunnerType } from '../../domain/runners/manifest-runner-types.ts';
import type { TemplateFile } from '../../domain/templates/template-file.ts';
import { advisoryLocks } from '../connection/advisory-locks.ts';
import type { Database } from '../connection/database.ts';
import { platformDataSourceName } from '../objects/data-sources.ts';
import { saveNodeTemplates, saveRunnerTypes } from './node-templates.ts';
import { importTemplateWithin } from './session-templates.ts';

type NodeTemplate = Manifest['nodeTemplates'][number];

/** Built-in nodes and the session template made of them. */
export interface BuiltinDefinitions {
  readonly nodes: readonly Pick<
    NodeTemplate,
    'name' | 'type' | 'description' | 'incremental' | 'configurationSchema'
  >[];
  readonly template: TemplateFile;
}

/**
 * Registers what is shipped. Called at every start, by any number of processes at once: node templates follow the
 * running version, the session template is made when it is missing and then belongs to the operator.
 */
export async function seedBuiltins(database: Database, shipped: BuiltinDefinitions): Promise<void> {
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
    await saveNodeTemplates(tx, shipped.nodes.map(asNodeTemplate), null);
    // It was not checked against the schemas: that happens when its first tasks are made.
    await importTemplateWithin(tx, shipped.template, new Map(), null);
  });
}

function asNodeTemplate(node: BuiltinDefinitions['nodes'][number]): NodeTemplate {
  return {
    ...node,
    runnerType: systemRunnerType,
    trigger: 'all',
    reprocess: 'latest',
    maxAttempts: 3,
    timeoutSeconds: null,
    leaseSeconds: null,
  };
}
