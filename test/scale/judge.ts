/** Compares the answers that callers got with the rows of the database once nothing runs. */
import { expect } from 'vitest';
import { nodeStateCodes } from '../../domain/runs/node-state.ts';
import type { Database } from '../../store/connection/database.ts';
import type { LoadResult } from './load.ts';

/** Acknowledged uploads exist, live events named every output, and each run was done once without a lost attempt. */
export async function expectNothingLost(database: Database, result: LoadResult): Promise<void> {
  expect(result.uploaded.length).toBeGreaterThan(20);
  expect(result.completed.length).toBeGreaterThan(10);
  const [lost] = await database.query<{ ids: number[] | null }>(
    `select array_agg(id) as ids from unnest($1::bigint[]) as given (id)
      where not exists (select 1 from node_output o where o.id = given.id and o.position is not null)`,
    [result.uploaded],
  );
  expect(lost!.ids).toBeNull();
  expect(new Set(result.completed).size).toBe(result.completed.length);
  const runs = await database.query<{ id: string }>(
    `select r.id from node_run r join node_instance n on n.id = r.node_instance_id
       join node_template t on t.id = n.node_template_id where t.runner_type = 'outside-runner'`,
  );
  expect([...result.completed].sort()).toEqual(runs.map(({ id }) => id).sort());
  const attempts = await database.query<{ outcome: string; count: number }>(
    'select outcome, count(*) from node_attempt group by 1',
  );
  // A worker that stops may release a task, which does not count as an attempt.
  expect(attempts.filter(({ outcome }) => !['completed', 'released'].includes(outcome))).toEqual([]);
  const failed = await database.query('select id, name, state from node_instance where state <> $1', [
    nodeStateCodes.Succeeded,
  ]);
  expect(failed).toEqual([]);
  expect(await unreported(database, result.reported)).toEqual([]);
}

/** Published outputs of the followed sessions of which no live event came. */
export async function unreported(
  database: Database,
  reported: ReadonlyMap<string, ReadonlySet<number>>,
): Promise<number[]> {
  const rows = await database.query<{ id: number; sessionId: string }>(
    'select id, session_id from node_output where session_id = any ($1::uuid[]) and position is not null order by id',
    [[...reported.keys()]],
  );
  return rows.filter(({ id, sessionId }) => !reported.get(sessionId)!.has(id)).map(({ id }) => id);
}
