/** kill -9 of API processes between any two stores: a caller that repeats the call at another process loses nothing. */
import { beforeAll, describe, expect, test } from 'vitest';
import type { Failpoint } from '../../../store/connection/failpoint.ts';
import { expectOnlyReferredObjects, faultWorld } from '../fault-world.ts';
import { HttpRunner, outsideChain } from '../http-runner.ts';
import { expectOnceEach, factsOf, graphEnds } from '../soak/graph-facts.ts';

const { platform, temporal, processes, database, api: living, client } = await faultWorld();
beforeAll(async () => {
  await temporal.startWorker('all');
});

/**
 * A runner that calls an API process which will die at the given place. It continues at a process that did not see
 * the earlier calls, as one that was just started.
 */
async function runnerOf(failpoint: Failpoint) {
  const api = await processes.startApi({ failpoint });
  const runner = new HttpRunner(api.url, client.token);
  return {
    runner,
    /** The call during which the process dies; the runner continues at the other one. */
    async diesDuring(call: Promise<unknown>) {
      await expect(call).rejects.toThrow('fetch failed');
      expect(await api.ended).toBe('SIGKILL');
      runner.url = living.url;
    },
  };
}

describe.concurrent('an API process is killed', () => {
  test('after the bytes of an upload are stored and before its row: the repeated upload is the only one', async () => {
    const session = await client.newSession();
    const { runner, diesDuring } = await runnerOf('upload-stored');
    const csv = 'time,speed\n0,1\n1,2\n';
    await diesDuring(runner.upload(session.nodeId(0), 'drive.csv', csv));
    expect((await factsOf(database, session.id))[0]).toMatchObject({ outputs: 0 });
    expect((await runner.upload(session.nodeId(0), 'drive.csv', csv)).status).toBe(201);
    await graphEnds(database, session.id, 3);
    await expectOnceEach(database, session.id);
  });

  test('after the commit of an upload and before the notification: the platform finds the upload', async () => {
    const session = await client.newSession();
    const { runner, diesDuring } = await runnerOf('upload-committed');
    const csv = 'time,speed\n0,1\n1,2\n';
    await diesDuring(runner.upload(session.nodeId(0), 'drive.csv', csv));
    await graphEnds(database, session.id, 3);
    await expectOnceEach(database, session.id);
    const again = await runner.upload(session.nodeId(0), 'drive.csv', csv);
    expect(again.status).toBe(200);
    expect((await session.settled()).map(({ state }) => state)).toEqual([
      'Succeeded',
      'Succeeded',
      'Succeeded',
    ]);
    expect((await factsOf(database, session.id))[0]).toMatchObject({ outputs: 1 });
    expect((await session.dashboard()).sources).toMatchObject([{ name: 'drive.csv', rowCount: 2 }]);
  });

  test('after the claim and before its reply: the same instance claims again and gets that very attempt', async () => {
    const graph = await outsideChain(database, 2);
    const { runner, diesDuring } = await runnerOf('claimed');
    await runner.upload(graph.nodes.input!, 'one');
    await diesDuring(runner.claim(graph.template));
    const task = await runner.acquire(graph.template);
    expect(task).toMatchObject({ nodeName: 'n1', attempt: 1 });
    await runner.finish(task);
    await runner.work(graph.template);
    await graphEnds(database, graph.sessionId, 3);
    await expectOnceEach(database, graph.sessionId);
  });

  for (const [failpoint, place, repeated] of [
    ['task-output-stored', 'after the bytes of an output are stored and before its row', 201],
    ['task-output-committed', 'after the commit of an output and before the reply', 200],
  ] as const) {
    test(`${place}: the runner writes it again, and there is one`, async () => {
      const graph = await outsideChain(database, 2);
      const { runner, diesDuring } = await runnerOf(failpoint);
      await runner.upload(graph.nodes.input!, 'one');
      const task = await runner.acquire(graph.template);
      await diesDuring(runner.write(task, 'result'));
      expect((await runner.write(task, 'result')).status).toBe(repeated);
      expect((await runner.complete(task)).status).toBe(200);
      await runner.work(graph.template);
      await graphEnds(database, graph.sessionId, 3);
      await expectOnceEach(database, graph.sessionId);
    });
  }

  test('after the commit of a completion and before the reply: the repeated call gets the same answer', async () => {
    const graph = await outsideChain(database, 2);
    const { runner, diesDuring } = await runnerOf('end-committed');
    await runner.upload(graph.nodes.input!, 'one');
    const task = await runner.acquire(graph.template);
    await runner.write(task, 'result');
    await diesDuring(runner.complete(task));
    const answer = { taskId: task.taskId, outcome: 'completed', nodeState: 'Succeeded', followUp: false };
    for (let time = 0; time < 2; time++)
      expect(await runner.complete(task)).toEqual({ status: 200, body: answer });
    await runner.work(graph.template);
    await graphEnds(database, graph.sessionId, 3);
    await expectOnceEach(database, graph.sessionId);
  });
});

test('after all faults and a sweep the store has only referenced objects', async () => {
  await expectOnlyReferredObjects(platform, database);
});
