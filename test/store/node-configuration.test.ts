/** Configurations of nodes while runs are queued, held and retried: a run has one revision from its first claim on. */
import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { nodeStateCodes } from '../../domain/runs/node-state.ts';
import type { JsonObject } from '../../domain/text.ts';
import { findLineage } from '../../store/outputs/lineage.ts';
import { findDebugNode } from '../../store/run-views/debug-node.ts';
import { retryFailedRuns, retryRun } from '../../store/runs/operate-runs.ts';
import { releaseHeldTask } from '../../store/runs/release-claim.ts';
import { freezeSession } from '../../store/sessions/freeze-session.ts';
import {
  changeConfiguration,
  findConfiguration,
  listRevisions,
} from '../../store/sessions/node-configuration.ts';
import { databaseStage } from '../support/databases.ts';
import { type Graph, operatorId, stateOf, upload } from '../support/graph.ts';
import { broken, completed, operateWorld, unlucky } from './runs/operate-world.ts';

const { database } = await databaseStage(20);
const { setUp, acquire, tryTake, holderOf, end, write, finishTask, failedGraph, goOn, runsOf } =
  operateWorld(database);

const person = randomUUID();
const change = (graph: Graph, configuration: JsonObject, options: { rerun?: boolean; at?: number } = {}) =>
  changeConfiguration(database, {
    nodeInstanceId: graph.nodes.n1!,
    configuration,
    changedBy: person,
    isExpected: (revision) => options.at === undefined || options.at === revision,
    rerun: options.rerun ?? false,
  });
const configurationOf = (task: { readonly configuration: string }) => JSON.parse(task.configuration);
const all = { before: null, limit: 100 };

/** The template of the graph asks for an integer `laps` from now on. */
async function askForLaps(template: string): Promise<void> {
  await database.query(
    `update node_template set schema_revision = schema_revision + 1,
            configuration_schema = '{"properties": {"laps": {"type": "integer"}}, "required": ["laps"]}'
      where name = $1`,
    [template],
  );
}

describe('a run', () => {
  test('that is queued gets the newest configuration, and the one that was claimed keeps its own', async () => {
    const { template, graph } = await setUp({ maxAttempts: 9 });
    await upload(database, graph, 'input');
    expect(await change(graph, { laps: 2 })).toMatchObject({ outcome: 'saved', revision: 2 });
    const first = await acquire(template);
    expect(configurationOf(first)).toEqual({ laps: 2 });
    expect(await change(graph, { laps: 3 })).toMatchObject({ outcome: 'saved', revision: 3 });
    // Released, failed and lost: the same run, also after changes of the node's configuration.
    await releaseHeldTask(database, holderOf(first));
    const second = await acquire(template);
    expect([second.runId, configurationOf(second)]).toEqual([first.runId, { laps: 2 }]);
    await end(second, unlucky);
    expect(configurationOf((await findDebugNode(database, graph.nodes.n1!))!)).toEqual({ laps: 2 });
    await goOn(graph, first.runId);
    const third = await acquire(template);
    expect([third.attempt, configurationOf(third)]).toEqual([2, { laps: 2 }]);
    await write(graph, third, 'earlier');
    await end(third, completed);
    await upload(database, graph, 'input');
    const later = await acquire(template);
    expect(configurationOf(later)).toEqual({ laps: 3 });
    await write(graph, later, 'later');
    await end(later, completed);
    const outputs = await database.query<{ id: number }>(
      'select id from node_output where node_instance_id = $1 order by position',
      [graph.nodes.n1],
    );
    const lineages = await Promise.all(outputs.map(({ id }) => findLineage(database, id)));
    expect(lineages).toMatchObject([
      { outputIdentifier: 'earlier', configuration: '{"laps":2}', configurationRevision: 2 },
      { outputIdentifier: 'later', configuration: '{"laps":3}', configurationRevision: 3 },
    ]);
  });

  test('that failed keeps its own when it is retried, and a rerun is a new run with the new one', async () => {
    const { template, graph, runId } = await failedGraph();
    await change(graph, { laps: 2 });
    expect(await retryRun(database, runId, operatorId)).toMatchObject({ outcome: 'queued' });
    const retried = await acquire(template);
    expect([retried.runId, configurationOf(retried)]).toEqual([runId, {}]);
    await end(retried, broken);
    expect(await change(graph, { laps: 2 }, { rerun: true })).toMatchObject({
      outcome: 'saved',
      revision: 2,
    });
    const rerun = await acquire(template);
    expect([rerun.reason, configurationOf(rerun)]).toEqual(['reprocess', { laps: 2 }]);
    expect(rerun.runId).not.toBe(runId);
  });

  test('that an earlier version of the platform claimed keeps its own too', async () => {
    const { template, graph, runId } = await failedGraph();
    await database.query('update node_run set configuration_revision = null where id = $1', [runId]);
    await change(graph, { laps: 2 });
    await retryRun(database, runId, operatorId);
    expect(configurationOf(await acquire(template))).toEqual({});
  });

  test('that no runner ever got, since its configuration was refused, is retried with the new one', async () => {
    const { template, graph } = await setUp();
    await askForLaps(template);
    await upload(database, graph, 'input');
    expect(await stateOf(database, graph, 'n1')).toBe(nodeStateCodes.Failed);
    const [run] = await runsOf(graph);
    expect(await retryRun(database, run!.id, operatorId)).toMatchObject({ outcome: 'invalid-configuration' });
    expect(await change(graph, { laps: 'two' })).toMatchObject({
      outcome: 'invalid',
      issues: [{ path: '$.configuration.laps' }],
    });
    await change(graph, { laps: 2 });
    expect(await retryFailedRuns(database, graph.sessionId, operatorId)).toMatchObject({ retried: 1 });
    expect(configurationOf(await acquire(template))).toEqual({ laps: 2 });
  });

  test('with an earlier configuration is retried only if that one matches the present schema', async () => {
    const { template, graph, runId } = await failedGraph();
    await askForLaps(template);
    await change(graph, { laps: 2 });
    expect(await retryRun(database, runId, operatorId)).toMatchObject({ outcome: 'invalid-configuration' });
    expect(await change(graph, { laps: 2 }, { rerun: true })).toMatchObject({ outcome: 'saved' });
    expect(configurationOf(await acquire(template))).toEqual({ laps: 2 });
  });

  test('that is claimed while its configuration changes has one revision, and writes its outputs with it', async () => {
    const { template, graph } = await setUp();
    for (let round = 1; round <= 25; round++) {
      await upload(database, graph, 'input');
      const [task, changed] = await Promise.all([acquire(template), change(graph, { round })]);
      expect(changed).toMatchObject({ outcome: 'saved', revision: round + 1 });
      const seen = configurationOf(task).round ?? 0;
      expect([round - 1, round]).toContain(seen);
      const written = await write(graph, task);
      expect(written).toMatchObject({
        output: { configurationRevision: seen + 1, configuration: task.configuration },
      });
      await finishTask(graph, task);
    }
  });
});

describe('changes', () => {
  test('of several people at once for one revision: one is made, the others learn of it', async () => {
    const { graph } = await setUp();
    const results = await Promise.all(
      Array.from({ length: 10 }, (_, number) => change(graph, { number }, { at: 1 })),
    );
    expect(results.map(({ outcome }) => outcome).sort()).toEqual([...Array(9).fill('overtaken'), 'saved']);
    expect(results.find(({ outcome }) => outcome === 'overtaken')).toMatchObject({ revision: 2 });
    const saved = results.findIndex(({ outcome }) => outcome === 'saved');
    expect(await findConfiguration(database, graph.nodes.n1!)).toEqual({
      revision: 2,
      configuration: JSON.stringify({ number: saved }),
    });
    // Without an expected revision each is made, one after the other.
    const more = await Promise.all(Array.from({ length: 5 }, (_, number) => change(graph, { more: number })));
    expect(more.map((result) => 'revision' in result && result.revision).sort()).toEqual([3, 4, 5, 6, 7]);
  });

  test('are listed with who and when, newest first; an equal configuration is none', async () => {
    const { graph } = await setUp();
    const nodeId = graph.nodes.n1!;
    const first = { revision: 1, configuration: '{}', changedBy: null, changedAt: expect.any(Date) };
    expect(await listRevisions(database, nodeId, all)).toEqual([first]);
    await change(graph, { a: 1, b: { c: [2] } });
    expect(await change(graph, { b: { c: [2] }, a: 1 })).toMatchObject({ outcome: 'saved', revision: 2 });
    await change(graph, {});
    const revisions = (await listRevisions(database, nodeId, all))!;
    expect(revisions).toMatchObject([
      { revision: 3, configuration: '{}', changedBy: person },
      { revision: 2, configuration: '{"a":1,"b":{"c":[2]}}', changedBy: person },
      { revision: 1, configuration: '{}', changedBy: null },
    ]);
    const times = revisions.map(({ changedAt }) => changedAt.getTime());
    expect(times).toEqual(times.toSorted((a, b) => b - a));
    expect(await listRevisions(database, nodeId, { before: 3, limit: 1 })).toMatchObject([{ revision: 2 }]);
    expect(await listRevisions(database, nodeId, { before: 1, limit: 9 })).toEqual([]);
    expect(await listRevisions(database, 999_999_999, all)).toBeUndefined();
  });

  test('are refused in a frozen session, and of a node that is not there', async () => {
    const { graph } = await setUp();
    await freezeSession(database, graph.sessionId);
    expect(await change(graph, { laps: 2 })).toEqual({ outcome: 'frozen' });
    expect(await findConfiguration(database, graph.nodes.n1!)).toMatchObject({ revision: 1 });
    const missing = { ...graph, nodes: { n1: 999_999_999 } };
    expect(await change(missing, {})).toEqual({ outcome: 'node-missing' });
  });

  test('with a rerun that is refused are not made', async () => {
    const { graph } = await setUp();
    expect(await change(graph, { laps: 2 }, { rerun: true })).toEqual({ outcome: 'no-inputs' });
    expect(await findConfiguration(database, graph.nodes.n1!)).toEqual({ revision: 1, configuration: '{}' });
    expect(await listRevisions(database, graph.nodes.n1!, all)).toHaveLength(1);
  });

  test('with a rerun while a run is held make one run after it, with the new configuration', async () => {
    const { template, graph } = await setUp();
    await upload(database, graph, 'input');
    const held = await acquire(template);
    await change(graph, { laps: 2 }, { rerun: true });
    await change(graph, { laps: 3 }, { rerun: true });
    expect(await tryTake(template)).toBeUndefined();
    await finishTask(graph, held);
    const next = await acquire(template);
    expect([next.reason, configurationOf(next)]).toEqual(['reprocess', { laps: 3 }]);
    await finishTask(graph, next);
    expect(await tryTake(template)).toBeUndefined();
  });
});
