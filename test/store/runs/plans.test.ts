/** The statements of a node run read rows by index, however many other runs and outputs there are. */
import { randomUUID } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import { Database } from '../../../store/connection/database.ts';
import { changeConcurrencyLimit } from '../../../store/registry/concurrency-limits.ts';
import { findNodeRuns } from '../../../store/run-views/find-runs.ts';
import { listQueues } from '../../../store/run-views/queues.ts';
import { renewLease } from '../../../store/runners/lease.ts';
import { claimNext, registerClaim } from '../../../store/runs/claims.ts';
import { endTask } from '../../../store/runs/end-task.ts';
import { listNodeRuns } from '../../../store/runs/node-runs.ts';
import { reconcileSession } from '../../../store/runs/reconcile-session.ts';
import { rejectInput } from '../../../store/runs/rejections.ts';
import { requestReprocess } from '../../../store/runs/reprocess.ts';
import { listInputs } from '../../../store/runs/task-inputs.ts';
import { writeWatermark } from '../../../store/runs/watermark.ts';
import { databaseStage } from '../../support/databases.ts';
import { chain, claim, finish, makeGraph, upload, writeOne } from '../../support/graph.ts';
import { copyRows, copySession, readBy, readUntilClosed } from '../../support/rows-read.ts';
import { completed, runWorld } from './run-world.ts';

const { database } = await databaseStage(4);
const { ownTemplate, runner } = runWorld(database);
const fresh = await databaseStage(1);

/** Sessions beside the one that is measured, each with the rows of a run that has ended. */
const others = 4_000;
/** Rows of one table, by all statements of one round. A scan of any of them would read {@link others} at the least. */
const maxRowsRead = 1_500;

const tooMuch = (read: Record<string, number>) =>
  Object.fromEntries(Object.entries(read).filter(([, rows]) => rows > maxRowsRead));

let template: string;
beforeAll(async () => {
  template = await ownTemplate();
  const ended = await makeGraph(database, chain(1, template));
  await upload(database, ended, 'input');
  await finish(database, runner('a'), ended, (await claim(database, runner('a'), template))!);
  await copySession(database, ended, others);
});

test('a node run, whatever its end, reads no table from end to end', async () => {
  const incremental = await ownTemplate({ incremental: true });
  // A plan is made at the first use, and some tables are filled by it.
  const graphs = await Promise.all(Array.from({ length: 7 }, () => makeGraph(database, chain(2, template))));
  const followed = await Promise.all(
    Array.from({ length: 7 }, () => makeGraph(database, chain(1, incremental))),
  );
  const read = await readBy(database, async (own) => {
    for (const graph of graphs) {
      await upload(own, graph, 'input', 'a');
      await upload(own, graph, 'input', 'a');
      for (let node = 0; node < 2; node++) {
        const task = (await claim(own, runner('a'), template))!;
        const held = (await renewLease(own, { ...runner('a'), taskId: task.taskId }))!;
        for (const mode of ['all', 'latest', 'since-watermark'] as const)
          await listInputs(own, held, { mode, afterPosition: 0, limit: 10, cap: 10 });
        await finish(own, runner('a'), graph, task);
        await reconcileSession(own, graph.sessionId);
      }
      await requestReprocess(own, graph.nodes.n2!, null);
      const again = (await claim(own, runner('a'), template))!;
      await endTask(
        own,
        { ...runner('a'), taskId: again.taskId },
        { kind: 'fail', category: 'error', reason: 'x' },
        { digest: 'x', jitter: 0 },
      );
    }
    for (const graph of followed) {
      const { output } = await upload(own, graph, 'input');
      await upload(own, graph, 'input');
      const task = (await claim(own, runner('a'), incremental))!;
      await rejectInput(
        own,
        { ...runner('a'), taskId: task.taskId },
        {
          inputId: output.id,
          category: 'validation',
          reason: 'x',
        },
      );
      await writeOne(own, runner('a'), graph, task);
      await writeWatermark(own, { ...runner('a'), taskId: task.taskId }, output.id, {});
      await endTask(
        own,
        { ...runner('a'), taskId: task.taskId },
        { ...completed, outcome: 'no-output' },
        { digest: 'x', jitter: 0 },
      );
    }
  });
  expect(tooMuch(read)).toEqual({});
});

test('runs that failed, or are open, are found without those that went well', async () => {
  const page = { number: 1, size: 50 };
  const read = await readBy(database, async (own) => {
    for (const state of ['failed', 'cancelled', 'queued', 'held', 'waiting'] as const) {
      await findNodeRuns(own, { states: [state] }, page);
      await listNodeRuns(own, { states: [state] }, page);
    }
    await listNodeRuns(own, { states: [] }, page);
  });
  expect(tooMuch(read)).toEqual({});
});

test('queues are listed without what ended earlier than an hour ago', async () => {
  await database.query(
    `update node_claim set ended_at = ended_at - interval '2 hours' where ended_at is not null`,
  );
  await database.query('analyze node_claim');
  const read = await readBy(database, async (own) => void (await listQueues(own, 50)));
  expect(tooMuch(read)).toEqual({});
});

test('a node run reads nothing of other sessions, though none had open runs when statistics were collected', async () => {
  const graph = await makeGraph(database, chain(2, template));
  await database.query(
    `update node_run set state = 'queued', outcome = null, ended_at = null, template_name = 'elsewhere'
      where template_name = $1 and node_instance_id > 1000000`,
    [template],
  );
  const read = await readBy(database, async (own) => {
    await upload(own, graph, 'input', 'a');
    for (let node = 0; node < 2; node++)
      await finish(own, runner('a'), graph, (await claim(own, runner('a'), template))!);
    await reconcileSession(own, graph.sessionId);
  });
  expect(tooMuch(read)).toEqual({});
});

test('a claim under a limit reads the first tasks of its template, and not the queue of the platform', async () => {
  const limited = await ownTemplate();
  const noMoreThanFive = { max: 5, perProject: null, perSession: null };
  await changeConcurrencyLimit(
    database,
    { name: limited, kind: 'nodeTemplate' },
    noMoreThanFive,
    randomUUID(),
  );
  const graphs = await Promise.all(Array.from({ length: 3 }, () => makeGraph(database, chain(1, limited))));
  for (const graph of graphs) await upload(database, graph, 'input');
  const read = await readBy(database, async (own) => {
    for (const [place] of graphs.entries()) {
      const holder = runner(`limited-${place}`);
      const { claimSeq } = await registerClaim(own, holder);
      const request = { claimSeq, templates: [limited], leaseSeconds: 30, isLimited: () => true };
      expect((await claimNext(own, holder, request))?.nodeTemplate).toBe(limited);
    }
  });
  expect(tooMuch(read)).toEqual({});
});

test('a claim under a limit does not read the queue of a project that holds all of its places', async () => {
  const limited = await ownTemplate();
  await changeConcurrencyLimit(
    database,
    { name: limited, kind: 'nodeTemplate' },
    { max: null, perProject: 1, perSession: null },
    randomUUID(),
  );
  const full = await makeGraph(database, chain(1, limited));
  await upload(database, full, 'input');
  await copySession(database, full, others);
  const behind = await makeGraph(database, chain(1, limited));
  await upload(database, behind, 'input');
  const claimed: (number | undefined)[] = [];
  const read = await readBy(database, async (own) => {
    for (const place of [0, 1]) {
      const holder = runner(`behind-${place}`);
      const { claimSeq } = await registerClaim(own, holder);
      const request = { claimSeq, templates: [limited], leaseSeconds: 30, isLimited: () => true };
      claimed.push((await claimNext(own, holder, request))?.projectId);
    }
  });
  expect(claimed).toEqual([full.projectId, behind.projectId]);
  expect(tooMuch(read)).toEqual({});
});

test('a connection does not go on as it planned while the tables were empty', async () => {
  const { databaseUrl } = fresh.platform;
  const { ownTemplate, runner } = runWorld(fresh.database);
  const template = await ownTemplate();
  await fresh.database.query('analyze');
  const own = await Database.open({ databaseUrl, poolSize: 1 });
  const nodeRun = async () => {
    const graph = await makeGraph(fresh.database, chain(1, template));
    await upload(own, graph, 'input');
    const task = (await claim(own, runner('a'), template))!;
    await renewLease(own, { ...runner('a'), taskId: task.taskId });
    await finish(own, runner('a'), graph, task);
    await reconcileSession(own, graph.sessionId);
    return graph;
  };
  const first = await nodeRun();
  await copyRows(fresh.database, first, others);
  for (let sent = 0; sent < 1_000; sent++) await own.query('select $1::int', [sent]);
  const read = await readUntilClosed(fresh.database, own, async () => void (await nodeRun()));
  expect(tooMuch(read)).toEqual({});
});
