/** The rows of a session after a fault: nothing may be lost, nothing doubled. */
import { expect } from 'vitest';
import type { Database } from '../../../store/connection/database.ts';
import { eventually } from '../../support/eventually.ts';

export interface NodeFacts {
  readonly node: string;
  /** Published outputs. */
  readonly outputs: number;
  readonly runs: number;
}

/** Outputs and runs of each node, in the order of the template. */
export async function factsOf(database: Database, sessionId: string): Promise<NodeFacts[]> {
  return database.query<NodeFacts>(
    `select n.name as node,
            (select count(*) from node_output o where o.node_instance_id = n.id and o.position is not null) as outputs,
            (select count(*) from node_run r where r.node_instance_id = n.id) as runs
       from node_instance n where n.session_id = $1 order by n.ordinal`,
    [sessionId],
  );
}

/** The facts of a graph in which every node ran once and has one output. */
export async function expectOnceEach(database: Database, sessionId: string): Promise<void> {
  const facts = await factsOf(database, sessionId);
  expect(facts).toEqual(facts.map(({ node }, index) => ({ node, outputs: 1, runs: index === 0 ? 0 : 1 })));
  await expectNothingOpen(database, sessionId);
}

/** No run, claim or staged output is left. */
export async function expectNothingOpen(database: Database, sessionId: string): Promise<void> {
  const [left] = await database.query(
    `select (select count(*) from node_run where session_id = $1 and state <> 'done') as runs,
            (select count(*) from node_claim c join node_run r on r.id = c.run_id
              where r.session_id = $1 and c.ended_at is null) as claims,
            (select count(*) from node_output where session_id = $1 and position is null) as staged`,
    [sessionId],
  );
  expect(left).toEqual({ runs: 0, claims: 0, staged: 0 });
}

/** Waits until the nodes have at least so many outputs and no run is open. */
export async function graphEnds(database: Database, sessionId: string, outputs: number): Promise<void> {
  let last: unknown;
  try {
    await eventually('the graph ends', async () => {
      const [row] = await database.query<{ outputs: number; open: number }>(
        `select (select count(*) from node_output where session_id = $1 and position is not null) as outputs,
                  (select count(*) from node_run where session_id = $1 and state <> 'done') as open`,
        [sessionId],
      );
      last = row;
      return row!.outputs >= outputs && row!.open === 0;
    });
  } catch (error) {
    throw new Error(`${(error as Error).message}, but: ${JSON.stringify(last)}`);
  }
}
