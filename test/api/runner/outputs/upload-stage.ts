/** Tasks that upload in parts, and what the sweeper leaves of them. */
import { expect } from 'vitest';
import { ask } from '../../../support/api.ts';
import type { RunnerStage } from '../../../support/runner.ts';
import { bucketContents, sweepAll, taskUploads } from '../../../support/task-uploads.ts';

export function uploadStage(stage: RunnerStage) {
  const { api, database, people, platform } = stage;

  /** A held task of a node with a child below it. */
  async function held(inputs = 1, incremental = false) {
    const graph = await stage.chainOf(2, { incremental });
    const ids: number[] = [];
    for (let at = 0; at < inputs; at += 1) ids.push((await stage.upload(graph, 'input', `${at}`)).body.id);
    const runner = stage.runner();
    const task = await runner.acquire(graph.template);
    const uploads = taskUploads(api.url, people.Developer.token, runner.instanceId);
    return { graph, ids, runner, uploads, taskId: task.taskId as string, runId: task.runId as string };
  }

  /** The published outputs of a node. */
  async function listOf(nodeInstanceId: number | undefined) {
    const path = `/api/v2/node-instance/${nodeInstanceId}/outputs`;
    const answer = await ask(api.url, 'GET', path, { token: people.Developer.token });
    return answer.status === 404 ? [] : answer.body;
  }

  /** The keys of all objects of a task's uploads. */
  async function keysOf(taskId: string): Promise<string[]> {
    const rows = await database.query<{ key: string }>(
      'select object_key as key from task_upload where task_id = $1',
      [taskId],
    );
    return rows.map(({ key }) => key);
  }

  /** After a sweep only those of these objects remain to which outputs refer. */
  async function expectOnlyOutputs(keys: readonly string[], outputs: number): Promise<void> {
    await sweepAll(platform, database);
    const { objects, uploads } = await bucketContents(platform);
    const ours = (line: string) => keys.some((key) => line.startsWith(`${key} `));
    expect(uploads.filter(ours)).toEqual([]);
    expect(objects.filter(ours)).toHaveLength(outputs);
    const [row] = await database.query(
      `select (select count(*) from node_output where object_key = any ($1)) as outputs,
              (select count(*) from pending_object where object_key = any ($1)) as pending,
              (select count(*) from object_deletion where object_key = any ($1)) as deletions`,
      [keys],
    );
    expect(row).toEqual({ outputs, pending: 0, deletions: 0 });
  }

  return { held, listOf, keysOf, expectOnlyOutputs };
}

/** The header that names an output. */
export const named = (identifier: string) => ({ 'x-platform-output-identifier': identifier });
