/** Sessions with a graph, written straight into the database: for tests below the routes. */

import { randomUUID } from 'node:crypto';
import type { SessionChange } from '../../domain/sessions/session-change.ts';
import type { Database } from '../../store/connection/database.ts';
import type { RunnerIdentity } from '../../store/runners/holder.ts';
import type { ClaimedTask } from '../../store/runs/claims.ts';
import { claimNext, registerClaim } from '../../store/runs/claims.ts';
import { endTask } from '../../store/runs/end-task.ts';
import { writeTaskOutput } from '../../store/runs/task-outputs.ts';
import { type PublishResult, publishUpload } from '../../store/uploads/publish-upload.ts';
import { writePendingRow } from './pending-row.ts';

export interface GraphNode {
  readonly name: string;
  readonly parents: readonly string[];
  /** Name of a node template; `input` by default where there are no parents, else `outside`. */
  readonly template?: string;
}

export interface Graph {
  readonly sessionId: string;
  readonly projectId: number;
  /** Node instance ids by node name. */
  readonly nodes: Readonly<Record<string, number>>;
  readonly dataSourceId: number;
}

export interface TemplateOptions {
  readonly incremental?: boolean;
  readonly trigger?: 'all' | 'any';
  readonly maxAttempts?: number;
  readonly leaseSeconds?: number;
  readonly timeoutSeconds?: number;
  readonly runnerType?: string;
}

/** Registers a node template of its own outside runner type, or changes it. */
export async function outsideTemplate(
  database: Database,
  name: string,
  options: TemplateOptions = {},
): Promise<void> {
  const runnerType = options.runnerType ?? 'outside-runner';
  await database.query(`insert into runner_type (name, runtime) values ($1, $2) on conflict do nothing`, [
    runnerType,
    runnerType === 'system' ? 'system' : 'external',
  ]);
  await database.query(
    `insert into node_template (name, runner_type, type, trigger, incremental, max_attempts, lease_seconds, timeout_seconds)
     values ($1, $2, 'Processing', $3, $4, $5, $6, $7)
     on conflict (name) do update set trigger = excluded.trigger, incremental = excluded.incremental,
       max_attempts = excluded.max_attempts, lease_seconds = excluded.lease_seconds, timeout_seconds = excluded.timeout_seconds`,
    [
      name,
      runnerType,
      options.trigger ?? 'all',
      options.incremental ?? false,
      options.maxAttempts ?? 3,
      options.leaseSeconds ?? null,
      options.timeoutSeconds ?? null,
    ],
  );
}

async function base(database: Database): Promise<{ projectId: number; dataSourceId: number }> {
  await database.query(
    `insert into runner_type (name, runtime) values ('system', 'system'), ('outside-runner', 'external')
     on conflict do nothing`,
  );
  await database.query(
    `insert into node_template (name, runner_type, type)
     values ('input', 'system', 'Input'), ('outside', 'outside-runner', 'Processing') on conflict do nothing`,
  );
  const [user] = await database.query<{ id: number }>(
    `insert into platform_user (external_id, type) values ($1, 'Administrator') returning id`,
    [randomUUID()],
  );
  const [project] = await database.query<{ id: number }>(
    `insert into project (hex_id, title, owner_id) values ($1, 'Test', $2) returning id`,
    [randomUUID(), user!.id],
  );
  await database.query(`insert into data_source (name) values ('platform') on conflict do nothing`);
  const [source] = await database.query<{ id: number }>(`select id from data_source where name = 'platform'`);
  return { projectId: project!.id, dataSourceId: source!.id };
}

/** Makes a session with these nodes; parents must come before their children. */
export async function makeGraph(database: Database, nodes: readonly GraphNode[]): Promise<Graph> {
  const { projectId, dataSourceId } = await base(database);
  const [template] = await database.query<{ id: number }>(
    `insert into session_template (name, configuration) values ($1, '{}') returning id`,
    [`template-${randomUUID()}`],
  );
  const sessionId = randomUUID();
  await database.query(
    `insert into session (id, name, email_identifier, email_key, session_template_id, project_id, user_id)
     values ($1, 'Session', 'anon:x', 'anon:x', $2, $3, $4)`,
    [sessionId, template!.id, projectId, randomUUID()],
  );
  const ids: Record<string, number> = {};
  for (const [ordinal, node] of nodes.entries()) {
    const templateName = node.template ?? (node.parents.length === 0 ? 'input' : 'outside');
    const [row] = await database.query<{ id: number }>(
      `insert into node_instance (session_id, ordinal, name, node_template_id, configuration, parent_ids)
       select $1, $2, $3, t.id, '{}', $5::bigint[] from node_template t where t.name = $4 returning id`,
      [sessionId, ordinal, node.name, templateName, node.parents.map((parent) => ids[parent])],
    );
    ids[node.name] = row!.id;
  }
  await database.query(
    `update node_instance p
        set child_ids = array(
              select c.id from node_instance c where c.session_id = $1 and p.id = any (c.parent_ids) order by c.id)
      where p.session_id = $1`,
    [sessionId],
  );
  return { sessionId, projectId, nodes: ids, dataSourceId };
}

/** A chain of `length` outside nodes n1, n2 ... below the input node `input`. */
export function chain(length: number, template = 'outside'): GraphNode[] {
  const nodes: GraphNode[] = [{ name: 'input', parents: [] }];
  for (let index = 1; index <= length; index++) {
    nodes.push({ name: `n${index}`, parents: [index === 1 ? 'input' : `n${index - 1}`], template });
  }
  return nodes;
}

/** Publishes an output whose bytes are never read. */
export async function upload(
  database: Database,
  graph: Graph,
  node: string,
  outputIdentifier: string | null = null,
): Promise<Extract<PublishResult, { outcome: 'created' | 'replaced' }>> {
  const result = await publishUpload(database, {
    nodeInstanceId: graph.nodes[node]!,
    ...(await storedObject(database, graph)),
    outputIdentifier,
  });
  if (result.outcome === 'created' || result.outcome === 'replaced') return result;
  throw new Error(`The upload was not published: ${result.outcome}.`);
}

/** Claims the next task of a template for an instance; undefined when there is none. */
export async function claim(
  database: Database,
  identity: RunnerIdentity,
  template = 'outside',
): Promise<ClaimedTask | undefined> {
  const { claimSeq } = await registerClaim(database, identity);
  return claimNext(database, identity, { claimSeq, templates: [template], leaseSeconds: 300 });
}

/** Writes one output for a held task. */
export async function writeOne(
  database: Database,
  identity: RunnerIdentity,
  graph: Graph,
  task: ClaimedTask,
  outputIdentifier: string | null = randomUUID(),
  watermarkInputId?: number,
) {
  const object = await storedObject(database, graph);
  return writeTaskOutput(
    database,
    { ...identity, taskId: task.taskId },
    { ...object, outputIdentifier },
    watermarkInputId,
  );
}

/** Writes an output and completes the task. */
export async function finish(database: Database, identity: RunnerIdentity, graph: Graph, task: ClaimedTask) {
  await writeOne(database, identity, graph, task);
  const end = { kind: 'complete', outcome: 'completed', hasMore: false } as const;
  return endTask(database, { ...identity, taskId: task.taskId }, end, { digest: 'completed', jitter: 0 });
}

export async function storedObject(database: Database, graph: Graph) {
  const objectKey = `outputs/${randomUUID()}`;
  await writePendingRow(database, objectKey, graph.dataSourceId);
  return {
    dataSourceId: graph.dataSourceId,
    objectKey,
    contentType: 'text/csv',
    contentEncoding: null,
    sizeBytes: 1,
    sha256: null,
    etag: 'etag',
    metadata: null,
  };
}

/** The stored state code of a node. */
export async function stateOf(database: Database, graph: Graph, node: string): Promise<number> {
  const [row] = await database.query<{ state: number }>('select state from node_instance where id = $1', [
    graph.nodes[node],
  ]);
  return row!.state;
}

/** What the commits of `work` announce. */
export async function changesBy(database: Database, work: () => Promise<unknown>): Promise<SessionChange[]> {
  const changes: SessionChange[] = [];
  const before = database.onSessionChanged;
  database.onSessionChanged = (change) => void changes.push(change);
  try {
    await work();
    return changes;
  } finally {
    database.onSessionChanged = before;
  }
}

/** Who retries and cancels in tests that do not sign in. */
export const operatorId = '0198f2b0-0000-7000-8000-000000000001';
