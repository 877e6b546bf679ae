/** Runs of all states, the last made first, by what people look for. */

import { limits } from '../../domain/limits.ts';
import type { Database } from '../connection/database.ts';
import { firstIdAt } from '../connection/ids.ts';
import { Parameters } from '../connection/parameters.ts';
import {
  type NodeRunRow,
  nodeRunOf,
  placeConditions,
  type RunPlace,
  type RunRow,
  runColumns,
  runJoins,
  type ShownRunState,
  stateArms,
} from '../runs/node-runs.ts';

export interface RunSearch extends RunPlace {
  readonly projectId?: number | undefined;
  /** Made at this time or later, and before that time. */
  readonly from?: Date | undefined;
  readonly to?: Date | undefined;
  /** Empty: all. */
  readonly states: readonly ShownRunState[];
}

/** One page, and how many there are: counted no further than {@link limits.nodeRunsCounted}. */
export async function findNodeRuns(
  database: Database,
  search: RunSearch,
  page: { readonly number: number; readonly size: number },
): Promise<{ readonly rows: readonly NodeRunRow[]; readonly totalCount: number }> {
  const parameters = new Parameters();
  const where = conditions(search, parameters);
  const { states } = search;
  const arms =
    states.length === 0 ? [where] : stateArms(states, parameters).map((arm) => `${where} and ${arm}`);
  const offset = parameters.bind((page.number - 1) * page.size, 'bigint');
  const size = parameters.bind(page.size, 'bigint');
  const ofProject = search.projectId === undefined ? '' : 'join session s on s.id = r.session_id';
  const from = `from node_run r ${ofProject}`;
  // Ids are made in the order of time: the newest runs are found without a sort, in each arm by its own index.
  const picked = arms.map(
    (arm) => `(select r.id ${from} where ${arm} order by r.id desc limit ${offset} + ${size})`,
  );
  const counted = arms.map((arm) => `(select 1 ${from} where ${arm} limit ${limits.nodeRunsCounted})`);
  const { values } = parameters;
  const [rows, [total]] = await Promise.all([
    database.queryUnprepared<RunRow>(
      `select ${runColumns}
         from (select id from (${picked.join(' union all ')}) p order by id desc offset ${offset} limit ${size}) page
         join node_run r on r.id = page.id ${runJoins} order by r.id desc`,
      values,
    ),
    database.queryUnprepared<{ count: number }>(
      // The page's parameters are bound in both.
      `select count(*) as count from (select from (${counted.join(' union all ')}) y limit ${limits.nodeRunsCounted}) x
        where ${offset} is not null and ${size} is not null`,
      values,
    ),
  ]);
  return { rows: rows.map(nodeRunOf), totalCount: total?.count ?? 0 };
}

function conditions(search: RunSearch, parameters: Parameters): string {
  const { projectId, from, to } = search;
  const all = ['true', ...placeConditions(search, parameters)];
  if (projectId !== undefined) all.push(`s.project_id = ${parameters.bind(projectId, 'bigint')}`);
  if (from !== undefined) all.push(`r.id >= ${parameters.bind(firstIdAt(from), 'uuid')}`);
  if (to !== undefined) all.push(`r.id < ${parameters.bind(firstIdAt(to), 'uuid')}`);
  return all.join(' and ');
}
