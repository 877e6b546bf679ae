/** A queued project with input nodes, and its acknowledged, queued and published uploads. */
import type { Database } from '../../../store/connection/database.ts';
import { eventually } from '../../support/eventually.ts';
import { type Graph, type GraphNode, makeGraph } from '../../support/graph.ts';

export interface PublishedOutput {
  readonly id: number;
  readonly identifier: string;
  readonly position: number;
  readonly objectKey: string;
  readonly objectOffset: number | null;
  readonly sizeBytes: number;
}

/** A session of a project with queued ingestion; every node without parents accepts uploads. */
export async function queuedGraph(
  database: Database,
  nodes: readonly GraphNode[] = [
    { name: 'input', parents: [] },
    { name: 'child', parents: ['input'] },
  ],
): Promise<Graph> {
  const graph = await makeGraph(database, nodes);
  await database.query(
    `update node_instance set configuration = '{"dataSourceName":"platform"}'
      where session_id = $1 and parent_ids = '{}'`,
    [graph.sessionId],
  );
  await setQueued(database, graph, true);
  return graph;
}

export async function setQueued(database: Database, graph: Graph, queued: boolean): Promise<void> {
  await database.query('update project set queued_ingestion = $2 where id = $1', [graph.projectId, queued]);
}

/** What is published of a node, oldest first. */
export async function publishedOf(database: Database, nodeId: number): Promise<PublishedOutput[]> {
  return database.query<PublishedOutput>(
    `select id, output_identifier as identifier, position, object_key,
            object_offset, size_bytes
       from node_output where node_instance_id = $1 and position is not null order by position`,
    [nodeId],
  );
}

export async function queuedCount(database: Database): Promise<number> {
  const [row] = await database.query<{ count: number }>('select count(*) as count from queued_upload');
  return row!.count;
}

export async function drained(database: Database): Promise<void> {
  await eventually('the queue is empty', async () => (await queuedCount(database)) === 0);
}
