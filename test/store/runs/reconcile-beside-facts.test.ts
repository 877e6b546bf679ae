import { expect, test } from 'vitest';
import type { Database } from '../../../store/connection/database.ts';
import { reconcileSession } from '../../../store/runs/reconcile-session.ts';
import { databaseStage } from '../../support/databases.ts';
import { chain, type Graph, makeGraph, upload } from '../../support/graph.ts';
import { runWorld } from './run-world.ts';

const { database } = await databaseStage(4);
const { ownTemplate } = runWorld(database);

/** The database, where a fact is committed before each of the first marks: after the read that the mark is for. */
function withFacts(graph: Graph, facts: number): Database {
  let left = facts;
  const query: Database['query'] = async (statement, parameters) => {
    if (/^\s*with marked as/.test(statement) && left > 0) {
      left -= 1;
      await upload(database, graph, 'input');
    }
    return database.query(statement, parameters);
  };
  return Object.assign(Object.create(database) as Database, { query });
}

async function newGraph(): Promise<Graph> {
  const graph = await makeGraph(database, chain(1, await ownTemplate()));
  await upload(database, graph, 'input');
  return graph;
}

const isClean = async ({ sessionId }: Graph) =>
  (
    await database.query<{ isClean: boolean }>(
      'select desired_version = observed_version as is_clean from session where id = $1',
      [sessionId],
    )
  )[0]!.isClean;

test('a fact that is committed during a reconcile, and notified nobody, is seen by it', async () => {
  const graph = await newGraph();
  expect(await reconcileSession(withFacts(graph, 1), graph.sessionId)).toMatchObject({ again: false });
  expect(await isClean(graph)).toBe(true);
});

test('while facts keep coming a reconcile asks for another one, and leaves the session marked for it', async () => {
  const graph = await newGraph();
  expect(await reconcileSession(withFacts(graph, 100), graph.sessionId)).toMatchObject({ again: true });
  expect(await isClean(graph)).toBe(false);
});
