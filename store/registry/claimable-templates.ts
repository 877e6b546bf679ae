/** Node templates as runners see them. */
import type { Runtime } from '../../domain/runners/manifest-runner-types.ts';
import type { NodeTemplateType } from '../../domain/templates/template-file.ts';
import type { Queryable } from '../connection/database.ts';
import { isUnderLimit } from '../runs/concurrency.ts';

export interface RunnerTemplate {
  readonly name: string;
  readonly type: NodeTemplateType;
  readonly runnerType: string;
  readonly runtime: Runtime;
  /** It is under a limit of tasks that are held at once. */
  readonly isLimited: boolean;
}

/** All registered node templates by name; retired ones too, because existing sessions still run them. */
export async function listRunnerTemplates(database: Queryable): Promise<RunnerTemplate[]> {
  return database.query<RunnerTemplate>(
    `select t.name, t.type, t.runner_type, r.runtime, ${isUnderLimit('t.name')} as is_limited
       from node_template t join runner_type r on r.name = t.runner_type order by t.name`,
  );
}

/** Names of the runner types with the runtime `external`, retired ones too. */
export async function listExternalTypeNames(database: Queryable): Promise<string[]> {
  const rows = await database.query<{ name: string }>(
    "select name from runner_type where runtime = 'external' order by name",
  );
  return rows.map((row) => row.name);
}
