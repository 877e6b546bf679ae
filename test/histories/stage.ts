/** The platform of the scenarios, and their common steps. */
import { Readable } from 'node:stream';
import type { Client } from '@temporalio/client';
import type { Database } from '../../store/connection/database.ts';
import { ensurePlatformDataSource } from '../../store/objects/data-sources.ts';
import { newOutputKey } from '../../store/objects/object-store.ts';
import type { ObjectStores } from '../../store/objects/object-stores.ts';
import { publishUpload } from '../../store/uploads/publish-upload.ts';
import type { WorkflowClient } from '../../workflows/client.ts';
import { sessionWorkflowId } from '../../workflows/contract.ts';
import { eventually } from '../support/eventually.ts';
import { chain, claim, finish, type Graph, makeGraph, outsideTemplate, upload } from '../support/graph.ts';

export const runner = { holder: 'token', instanceId: 'runner' };
export const taskQueue = 'recorded';
export interface Stage {
  readonly database: Database;
  readonly objects: ObjectStores;
  readonly workflows: WorkflowClient;
  readonly operator: Client;
}

/** Drives one session until its workflow ends: that of its graph, unless it names another. */
export type Scenario = (
  stage: Stage,
) => Promise<{ readonly sessionId: string; readonly workflowId?: string | undefined }>;

export async function outside(stage: Stage, length: number): Promise<Graph & { readonly template: string }> {
  const template = `outside-${Math.random()}`;
  await outsideTemplate(stage.database, template);
  return { ...(await makeGraph(stage.database, chain(length, template))), template };
}

export async function begin(stage: Stage, graph: Graph): Promise<void> {
  await upload(stage.database, graph, 'input');
}

export function acquire(stage: Stage, template: string) {
  return eventually('a task', () => claim(stage.database, runner, template));
}

export async function finishNext(stage: Stage, graph: Graph & { readonly template: string }): Promise<void> {
  await finish(stage.database, runner, graph, await acquire(stage, graph.template));
}

export const handleOf = (stage: Stage, graph: Graph) =>
  stage.operator.workflow.getHandle(sessionWorkflowId(graph.sessionId));

export function untilAwaited(stage: Stage, graph: Graph) {
  return eventually('the wait', async () => {
    const { raw } = await handleOf(stage, graph).describe();
    return (raw.pendingActivities?.length ?? 0) > 0;
  });
}

export function builtinGraph(stage: Stage): Promise<Graph> {
  return makeGraph(stage.database, [
    { name: 'input', parents: [] },
    { name: 'recording', parents: ['input'], template: 'system-tabular-to-dataservice' },
    { name: 'dashboard', parents: ['recording'], template: 'system-next-dimension' },
  ]);
}

/** Publishes a small table with its bytes, without a notification. */
export async function publishTable({ database, objects }: Stage, graph: Graph) {
  const dataSource = await ensurePlatformDataSource(database, objects.platformAccess);
  const objectKey = newOutputKey();
  await database.query('insert into pending_object (object_key, data_source_id) values ($1, $2)', [
    objectKey,
    dataSource.id,
  ]);
  const bytes = Readable.from([Buffer.from('time,speed\n0,1\n1,2\n')]);
  const stored = await objects.of(dataSource).put(objectKey, bytes, { signal: AbortSignal.timeout(100_000) });
  return await publishUpload(database, {
    ...stored,
    nodeInstanceId: graph.nodes.input!,
    dataSourceId: dataSource.id,
    objectKey,
    outputIdentifier: 'drive.csv',
    contentType: 'text/csv',
    contentEncoding: null,
    metadata: null,
  });
}
