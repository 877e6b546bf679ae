/** Where an output comes from: read from what its run recorded when it completed. */
import type { Database } from '../connection/database.ts';

interface LineageInput {
  readonly outputId: number;
  readonly nodeInstanceId: number;
  readonly outputIdentifier: string;
  readonly sizeBytes: number;
  readonly sha256: string | null;
  /** Not consumed before this run; else what that parent had published last. */
  readonly isNew: boolean;
}

interface RunLineage {
  readonly nodeTemplate: {
    readonly name: string;
    readonly runnerType: string;
    readonly feature: string | null;
    readonly featureVersion: string | null;
  };
  readonly runner: {
    readonly kind: 'runner' | 'account' | 'built-in';
    readonly instanceId: string;
    readonly label: string | null;
    readonly version: string | null;
  };
  readonly inputs: readonly LineageInput[];
}

export interface OutputLineage {
  readonly outputId: number;
  readonly outputIdentifier: string;
  readonly sessionId: string;
  readonly nodeInstanceId: number;
  readonly nodeName: string;
  readonly nodeTemplate: string;
  readonly runnerType: string;
  /** JSON text, as of when the output was written. */
  readonly configuration: string;
  readonly configurationRevision: number;
  readonly sizeBytes: number;
  readonly sha256: string | null;
  readonly createdAt: Date;
  /** Null for uploads. */
  readonly run: {
    readonly id: string;
    readonly reason: string;
    readonly attempt: number;
    readonly maxAttempts: number;
    readonly endedAt: Date | null;
    readonly outcome: string | null;
    /** Null until the run has completed. */
    readonly lineage: RunLineage | null;
  } | null;
}

type Flat = Omit<OutputLineage, 'run'> & {
  readonly runId: string | null;
  readonly reason: string;
  readonly attempt: number;
  readonly maxAttempts: number;
  readonly endedAt: Date | null;
  readonly outcome: string | null;
  readonly lineage: RunLineage | null;
};

/** Undefined when there is no such published output. */
export async function findLineage(database: Database, outputId: number): Promise<OutputLineage | undefined> {
  const [row] = await database.query<Flat>(
    `select o.id as output_id, o.output_identifier, n.session_id,
            n.id as node_instance_id, n.name as node_name, t.name as node_template, t.runner_type,
            o.configuration, o.configuration_revision, o.size_bytes, o.sha256, o.created_at, r.id as run_id,
            r.reason, r.attempt, r.max_attempts, r.ended_at, r.outcome, r.lineage
       from node_output o join node_instance n on n.id = o.node_instance_id
       join node_template t on t.id = n.node_template_id left join node_run r on r.id = o.run_id
      where o.id = $1 and o.position is not null`,
    [outputId],
  );
  if (row === undefined) return undefined;
  const { runId, reason, attempt, maxAttempts, endedAt, outcome, lineage, ...output } = row;
  if (runId === null) return { ...output, run: null };
  return { ...output, run: { id: runId, reason, attempt, maxAttempts, endedAt, outcome, lineage } };
}

/** The names of node instances, by id. */
export async function nodeNames(
  database: Database,
  nodeInstanceIds: readonly number[],
): Promise<ReadonlyMap<number, string>> {
  const rows = await database.query<{ id: number; name: string }>(
    'select id, name from node_instance where id = any ($1::bigint[])',
    [nodeInstanceIds],
  );
  return new Map(rows.map(({ id, name }) => [id, name]));
}
