/** What features have published, with its present state (contract: Runner administration; decisions 10). */
import type { Manifest } from '../../domain/runners/manifest.ts';
import type { ManifestRuntime } from '../../domain/runners/manifest-runner-types.ts';
import type { Queryable } from '../connection/database.ts';

export interface FeatureRow {
  readonly name: string;
  readonly version: string;
  readonly publishedAt: Date;
  readonly runnerTypes: readonly {
    readonly name: string;
    readonly runtime: ManifestRuntime;
    readonly entrypoint: string | null;
    readonly description: string;
    readonly retired: boolean;
  }[];
  readonly nodeTemplates: readonly {
    readonly name: string;
    readonly runnerType: string;
    readonly type: string;
    readonly description: string;
    readonly retired: boolean;
  }[];
  readonly manifest: Manifest | null;
}

/**
 * Published features by name, at most `limit`.
 * @param withManifestOf the feature whose manifest is included
 */
export async function listFeatures(
  database: Queryable,
  limit: number,
  withManifestOf: string | null,
): Promise<FeatureRow[]> {
  return database.query<FeatureRow>(
    `select f.name, f.version, f.published_at,
            (select coalesce(jsonb_agg(jsonb_build_object('name', r.name, 'runtime', r.runtime,
                      'entrypoint', r.entrypoint, 'description', r.description, 'retired', r.retired)
                      order by r.retired, r.name), '[]')
               from runner_type r where r.feature_name = f.name) as runner_types,
            (select coalesce(jsonb_agg(jsonb_build_object('name', t.name, 'runnerType', t.runner_type,
                      'type', t.type, 'description', t.description, 'retired', t.retired)
                      order by t.retired, t.name), '[]')
               from node_template t where t.feature_name = f.name) as node_templates,
            case when f.name = $2 then f.manifest end as manifest
       from feature f
      order by f.name
      limit $1`,
    [limit, withManifestOf],
  );
}
