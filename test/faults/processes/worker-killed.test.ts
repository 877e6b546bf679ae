/** Workers that are killed or stopped in the middle of their work: others finish it, and nothing is done twice. */
import { describe, expect, test } from 'vitest';
import type { Failpoint } from '../../../store/connection/failpoint.ts';
import { eventually } from '../../support/eventually.ts';
import { expectOnlyReferredObjects, type FaultWorld, faultWorld } from '../fault-world.ts';
import { HttpRunner, outsideChain } from '../http-runner.ts';
import { expectNothingOpen, expectOnceEach, factsOf, graphEnds } from '../soak/graph-facts.ts';

const builtinFailpoints = ['claimed', 'task-output-stored', 'task-output-committed'] as const;
const [worlds, killedWorld, stoppedWorld] = await Promise.all([
  Promise.all(builtinFailpoints.map(() => faultWorld())),
  faultWorld(),
  faultWorld(),
]);

/** How the attempts of a node ended, oldest first. */
async function attemptsOf({ database }: FaultWorld, nodeId: number) {
  const rows = await database.query<{ outcome: string }>(
    `select a.outcome from node_attempt a join node_run r on r.id = a.run_id
      where r.node_instance_id = $1 order by r.created_at, a.number`,
    [nodeId],
  );
  return rows.map(({ outcome }) => outcome);
}

describe.concurrent('work goes on', () => {
  test.for(builtinFailpoints.map((failpoint, index) => [failpoint, worlds[index]!] as const))(
    'when the worker of built-in nodes is killed at %s',
    ([failpoint, world]) => killBuiltin(failpoint, world),
  );

  async function killBuiltin(failpoint: Failpoint, world: FaultWorld): Promise<void> {
    const { temporal, processes, database, client, platform } = world;
    const session = await client.newSession();
    for (const name of ['one', 'two'])
      await session.upload({ identifier: `${name}.csv`, bytes: 'time,speed\n0,1\n1,2\n' });
    await temporal.startWorker('workflows');
    const dying = await processes.startWorker('builtin', { failpoint });
    expect(await dying.ended).toBe('SIGKILL');
    await temporal.startWorker('builtin');
    const nodes = await session.settled();
    expect(nodes.map(({ state }) => state)).toEqual(['Succeeded', 'Succeeded', 'Succeeded']);
    const [uploads, recordings, dashboard] = await factsOf(database, session.id);
    expect([uploads, recordings]).toMatchObject([
      { outputs: 2, runs: 0 },
      { outputs: 2, runs: 1 },
    ]);
    expect(await attemptsOf(world, session.nodeId(1))).toEqual(['lost', 'completed']);
    // An output that was published before the kill is drawn at once, the second when it is there.
    expect(dashboard!.outputs).toBe(dashboard!.runs);
    expect(dashboard!.runs).toBeLessThanOrEqual(2);
    await expectNothingOpen(database, session.id);
    expect((await session.dashboard()).sources).toMatchObject([
      { name: 'one.csv', rowCount: 2 },
      { name: 'two.csv', rowCount: 2 },
    ]);
    await expectOnlyReferredObjects(platform, database);
  }

  test('when the worker of workflows is killed again and again', async () => {
    const { temporal, processes, database, client, api } = killedWorld;
    let worker = await processes.startWorker('workflows');
    const graphs = await Promise.all(Array.from({ length: 5 }, () => outsideChain(database, 3)));
    const runner = new HttpRunner(api.url, client.token);
    for (const [index, graph] of graphs.entries()) {
      await runner.upload(graph.nodes.input!, 'one');
      if (index === 2) worker.kill('SIGKILL');
    }
    // Runners need no worker: what follows an outcome is queued with it.
    for (const graph of graphs) expect((await runner.work(graph.template)).nodeName).toBe('n1');
    worker = await processes.startWorker('workflows');
    for (const graph of graphs.slice(0, 3)) await runner.work(graph.template);
    const last = await runner.acquire(graphs[0]!.template);
    expect((await runner.fail(last, 'No luck.')).status).toBe(200);
    worker.kill('SIGKILL');
    for (const graph of graphs.slice(3)) await runner.work(graph.template);
    await processes.startWorker('workflows');
    for (const graph of graphs) expect((await runner.work(graph.template)).nodeName).toBe('n3');
    for (const graph of graphs) {
      await graphEnds(database, graph.sessionId, 4);
      await expectOnceEach(database, graph.sessionId);
      await eventually(
        'the workflow ends',
        async () => (await temporal.statusOf(graph.sessionId)) === 'COMPLETED',
      );
    }
  });

  test('when the worker of built-in nodes pauses past its lease and continues: it writes nothing more', async () => {
    const world = stoppedWorld;
    const { temporal, processes, database, client, platform } = world;
    const session = await client.newSession();
    const names = Array.from({ length: 8 }, (_, index) => `${index}.csv`);
    for (const identifier of names) await session.upload({ identifier, bytes: 'time,speed\n0,1\n1,2\n' });
    await temporal.startWorker('workflows');
    const stopped = await processes.startWorker('builtin', {
      failpoint: 'task-output-committed',
      variables: { FAILPOINT_SIGNAL: 'SIGSTOP' },
    });
    await eventually('it has written its first output, and stops', async () => {
      const [, recordings] = await factsOf(database, session.id);
      return recordings!.outputs > 0;
    });
    await temporal.startWorker('builtin');
    const nodes = await session.settled();
    expect(nodes.map(({ state }) => state)).toEqual(['Succeeded', 'Succeeded', 'Succeeded']);
    const before = await factsOf(database, session.id);
    stopped.kill('SIGCONT');
    // It ended in order, so it has reported the task that it lost.
    stopped.kill('SIGTERM');
    expect(await stopped.ended).toBe(0);
    expect(await attemptsOf(world, session.nodeId(1))).toEqual(['lost', 'completed']);
    const after = await factsOf(database, session.id);
    expect(after).toEqual(before);
    expect(after[1]).toMatchObject({ outputs: names.length, runs: 1 });
    expect(after[2]!.outputs).toBe(after[2]!.runs);
    await expectNothingOpen(database, session.id);
    expect((await session.dashboard()).sources.map(({ name }) => name)).toEqual(names);
    await expectOnlyReferredObjects(platform, database);
  });
});
