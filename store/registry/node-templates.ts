/** What can be run: features, their runner types and node templates (contract: Manifest checks; decisions 10). */
import { isDeepStrictEqual } from 'node:util';
import {
  checkManifest,
  featureNameOf,
  type Manifest,
  type ManifestCheck,
  type Registered,
} from '../../domain/runners/manifest.ts';
import type { EntrypointPlaces, Runtime } from '../../domain/runners/manifest-runner-types.ts';
import type { KnownNodeTemplate, NodeTemplateType } from '../../domain/templates/template-file.ts';
import { advisoryLocks } from '../connection/advisory-locks.ts';
import { noteAudited } from '../connection/audit-scope.ts';
import type { Database, Queryable, Tx } from '../connection/database.ts';
import { declareConcurrencyLimits, settleLimits } from './concurrency-limits.ts';

export interface RegisteredNodeTemplate extends KnownNodeTemplate {
  /** Rises with every change of the schema. */
  readonly schemaRevision: number;
}

/** The node templates with these names, by name, with the fields that checks and runs need. */
export async function findNodeTemplates(
  database: Queryable,
  names: readonly string[],
): Promise<Map<string, RegisteredNodeTemplate>> {
  const rows = await database.query<RegisteredNodeTemplate & { readonly name: string }>(
    `select name, type, configuration_schema, schema_revision, retired
       from node_template where name = any ($1::text[])`,
    [names],
  );
  return new Map(rows.map((row) => [row.name, row]));
}

/** What is already registered, as far as it matters for a manifest of this feature. */
async function loadRegistered(database: Queryable, featureName: string | null): Promise<Registered> {
  const [feature] = await database.query<{ version: string; manifest: unknown }>(
    'select version, manifest from feature where name = $1',
    [featureName],
  );
  const runnerTypes = await database.query<{ name: string; featureName: string | null; retired: boolean }>(
    'select name, feature_name, retired from runner_type order by name',
  );
  const nodeTemplates = await database.query<{
    name: string;
    featureName: string | null;
    type: NodeTemplateType;
    retired: boolean;
  }>('select name, feature_name, type, retired from node_template order by name');
  return {
    featureVersion: feature?.version ?? null,
    manifest: feature?.manifest ?? null,
    runnerTypes: new Map(runnerTypes.map(({ name, ...rest }) => [name, rest])),
    nodeTemplates: new Map(nodeTemplates.map(({ name, ...rest }) => [name, rest])),
  };
}

/** Checks a manifest against what is registered and changes nothing. */
export async function validateManifest(
  database: Queryable,
  body: unknown,
  entrypoints: EntrypointPlaces,
): Promise<ManifestCheck> {
  return checkManifest(body, await loadRegistered(database, featureNameOf(body)), entrypoints);
}

/**
 * Publishes a manifest, all of it or nothing: items that the feature no longer lists are retired, items that it lists
 * again are restored. The checks run outside the lock, since schemas take time; when the registry changed meanwhile
 * they run again.
 */
export async function publishManifest(
  database: Database,
  body: unknown,
  options: { readonly publishedBy: string; readonly entrypoints: EntrypointPlaces },
): Promise<ManifestCheck> {
  for (;;) {
    const before = await loadRegistered(database, featureNameOf(body));
    const check = checkManifest(body, before, options.entrypoints);
    const { manifest } = check;
    if (manifest === null) return check;
    const changedLimits = await database.transaction(async (tx) => {
      await tx.query('select pg_advisory_xact_lock($1)', [advisoryLocks.registry]);
      if (!isDeepStrictEqual(await loadRegistered(tx, manifest.feature.name), before)) return undefined;
      return await writeManifest(tx, manifest, options.publishedBy);
    });
    if (changedLimits === undefined) continue;
    await settleLimits(database, changedLimits);
    return check;
  }
}

/**
 * Only the fields of a manifest are saved: the caller may have sent others.
 * @returns the names whose limit has changed
 */
async function writeManifest(tx: Tx, manifest: Manifest, publishedBy: string): Promise<string[]> {
  const { feature, runnerTypes, nodeTemplates } = manifest;
  noteAudited(feature.name);
  await tx.query(
    `insert into feature (name, version, manifest, published_by) values ($1, $2, $3::jsonb, $4)
     on conflict (name) do update
        set version = excluded.version, manifest = excluded.manifest, published_by = excluded.published_by,
            published_at = clock_timestamp()`,
    [feature.name, feature.version, JSON.stringify(manifest), publishedBy],
  );
  await saveRunnerTypes(tx, runnerTypes, feature.name);
  await saveNodeTemplates(tx, nodeTemplates, feature.name);
  await tx.query(
    'update node_template set retired = true where feature_name = $1 and not retired and name <> all ($2::text[])',
    [feature.name, nodeTemplates.map((item) => item.name)],
  );
  await tx.query(
    'update runner_type set retired = true where feature_name = $1 and not retired and name <> all ($2::text[])',
    [feature.name, runnerTypes.map((item) => item.name)],
  );
  const ofTypes = await declareConcurrencyLimits(tx, 'runnerType', runnerTypes);
  return [...ofTypes, ...(await declareConcurrencyLimits(tx, 'nodeTemplate', nodeTemplates))];
}

interface RunnerTypeValues {
  readonly name: string;
  readonly runtime: Runtime;
  readonly entrypoint: string | null;
  readonly description: string;
}

/** Writes runner types as they are now declared; `featureName` null: the platform's own. */
export async function saveRunnerTypes(
  tx: Queryable,
  runnerTypes: readonly RunnerTypeValues[],
  featureName: string | null,
): Promise<void> {
  await tx.query(
    `insert into runner_type (name, runtime, entrypoint, description, feature_name)
     select v.*, $5 from unnest($1::text[], $2::text[], $3::text[], $4::text[]) as v
     on conflict (name) do update
        set runtime = excluded.runtime, entrypoint = excluded.entrypoint, description = excluded.description,
            retired = false`,
    [
      runnerTypes.map((item) => item.name),
      runnerTypes.map((item) => item.runtime),
      runnerTypes.map((item) => item.entrypoint),
      runnerTypes.map((item) => item.description),
      featureName,
    ],
  );
}

/** Writes node templates as they are now declared; `featureName` null: the platform's own. */
export async function saveNodeTemplates(
  tx: Queryable,
  nodeTemplates: Manifest['nodeTemplates'],
  featureName: string | null,
): Promise<void> {
  const schemas = nodeTemplates.map((item) => JSON.stringify(item.configurationSchema));
  await tx.query(
    `insert into node_template
            (name, runner_type, type, description, configuration_schema, configuration_schema_text, trigger,
             incremental, reprocess, max_attempts, timeout_seconds, lease_seconds, feature_name)
     select v.*, $13
       from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::jsonb[], $6::text[], $7::text[],
                   $8::boolean[], $9::text[], $10::int[], $11::int[], $12::int[]) as v
     on conflict (name) do update
        set runner_type = excluded.runner_type, type = excluded.type, description = excluded.description,
            configuration_schema = excluded.configuration_schema,
            configuration_schema_text = excluded.configuration_schema_text, trigger = excluded.trigger,
            schema_revision = node_template.schema_revision
              + (node_template.configuration_schema is distinct from excluded.configuration_schema)::int,
            incremental = excluded.incremental, reprocess = excluded.reprocess, max_attempts = excluded.max_attempts,
            timeout_seconds = excluded.timeout_seconds, lease_seconds = excluded.lease_seconds, retired = false`,
    [
      nodeTemplates.map((item) => item.name),
      nodeTemplates.map((item) => item.runnerType),
      nodeTemplates.map((item) => item.type),
      nodeTemplates.map((item) => item.description),
      schemas,
      schemas,
      nodeTemplates.map((item) => item.trigger),
      nodeTemplates.map((item) => item.incremental),
      nodeTemplates.map((item) => item.reprocess),
      nodeTemplates.map((item) => item.maxAttempts),
      nodeTemplates.map((item) => item.timeoutSeconds),
      nodeTemplates.map((item) => item.leaseSeconds),
      featureName,
    ],
  );
}
