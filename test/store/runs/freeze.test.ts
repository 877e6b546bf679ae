import { expect, test } from 'vitest';
import type { RunnerIdentity } from '../../../store/runners/holder.ts';
import { claimOrder } from '../../../store/runs/claim-order.ts';
import {
  type ClaimedTask,
  claimNext,
  claimRun,
  registerAndClaim,
  registerClaim,
} from '../../../store/runs/claims.ts';
import { endTask } from '../../../store/runs/end-task.ts';
import { checkQueue, queueListener } from '../../../store/runs/queue.ts';
import { reconcileSession } from '../../../store/runs/reconcile-session.ts';
import { acquireForgottenSessions } from '../../../store/sessions/forgotten-sessions.ts';
import { freezeSession, isRunFrozen, unfreezeSession } from '../../../store/sessions/freeze-session.ts';
import { publishUpload } from '../../../store/uploads/publish-upload.ts';
import { databaseStage } from '../../support/databases.ts';
import {
  chain,
  changesBy,
  claim,
  finish,
  type Graph,
  makeGraph,
  outsideTemplate,
  stateOf,
  upload,
} from '../../support/graph.ts';

const { database } = await databaseStage(20);

let runners = 0;
/** An instance that holds nothing yet. */
function newRunner(): RunnerIdentity {
  runners += 1;
  return { holder: 'token', instanceId: `runner-${runners}` };
}
let templates = 0;
async function ownTemplate(options: Parameters<typeof outsideTemplate>[2] = {}): Promise<string> {
  templates += 1;
  await outsideTemplate(database, `freeze-${templates}`, options);
  return `freeze-${templates}`;
}
const leaseSeconds = 30;

async function runOf(graph: Graph, node: string) {
  const [run] = await database.query<{ id: string; state: string; attempt: number }>(
    `select id, state, attempt from node_run where node_instance_id = $1 order by created_at desc limit 1`,
    [graph.nodes[node]],
  );
  return run!;
}

test('no kind of claim gets a task of a frozen session, and every kind gets it afterwards', async () => {
  let runner = newRunner();
  const ways: Array<(template: string, graph: Graph) => Promise<ClaimedTask | undefined>> = [
    async (template) => {
      const { claimSeq } = await registerClaim(database, runner);
      return claimNext(database, runner, { claimSeq, templates: [template], leaseSeconds });
    },
    async (template) => {
      const { claimSeq } = await registerClaim(database, runner);
      return claimNext(database, runner, { claimSeq, templates: ['none', template], leaseSeconds });
    },
    async (template) => (await registerAndClaim(database, runner, { template, leaseSeconds })).task,
    async (_, graph) => {
      const { id, attempt } = await runOf(graph, 'n1');
      return claimRun(database, runner, { runId: id, attempt, leaseSeconds });
    },
  ];
  for (const claimIt of ways) {
    runner = newRunner();
    const template = await ownTemplate();
    const graph = await makeGraph(database, chain(1, template));
    await upload(database, graph, 'input');
    await freezeSession(database, graph.sessionId);
    expect(await claimIt(template, graph)).toBeUndefined();
    expect(await isRunFrozen(database, (await runOf(graph, 'n1')).id)).toBe(true);
    await unfreezeSession(database, graph.sessionId);
    const task = await claimIt(template, graph);
    expect(task?.nodeName).toBe('n1');
    await endTask(
      database,
      { ...runner, taskId: task!.taskId },
      { kind: 'fail', category: 'validation', reason: 'x' },
      { digest: 'd', jitter: 0 },
    );
  }
});

test('waiting claims are not notified of tasks of frozen sessions, and are notified after the unfreeze', async () => {
  const template = await ownTemplate();
  const graph = await makeGraph(database, chain(1, template));
  await upload(database, graph, 'input');
  await freezeSession(database, graph.sessionId);
  const heard: string[] = [];
  let connected = () => {};
  const isConnected = new Promise<void>((resolve) => {
    connected = resolve;
  });
  const listener = queueListener(database, {
    ready: (name) => heard.push(name),
    runnersChanged: () => {},
    connected: () => connected(),
    lost: () => {},
  });
  listener.start();
  await isConnected;
  expect((await checkQueue(listener, [template], [])).ready).toEqual([]);
  await unfreezeSession(database, graph.sessionId);
  expect((await checkQueue(listener, [template], [])).ready).toEqual([template]);
  expect(heard).toContain(template);
  await listener.stop();
});

test('a held task may finish; what it makes possible waits for the unfreezing', async () => {
  const runner = newRunner();
  const template = await ownTemplate();
  const graph = await makeGraph(database, chain(2, template));
  await upload(database, graph, 'input');
  const task = await claim(database, runner, template);
  await freezeSession(database, graph.sessionId);
  const ended = await finish(database, runner, graph, task!);
  expect(ended).toMatchObject({ kind: 'ended', reply: { outcome: 'completed' } });
  expect(await stateOf(database, graph, 'n2')).toBe(5);
  expect(await claim(database, runner, template)).toBeUndefined();
  const changes = await changesBy(database, () => unfreezeSession(database, graph.sessionId));
  expect(changes).toMatchObject([{ session: { sessionId: graph.sessionId } }]);
  expect(await stateOf(database, graph, 'n2')).toBe(5);
  expect((await claim(database, runner, template))?.nodeName).toBe('n2');
});

test('a task that is released or fails in a frozen session stays unclaimed until the unfreeze', async () => {
  for (const end of [{ kind: 'release' }, { kind: 'fail', category: 'error', reason: 'x' }] as const) {
    const runner = newRunner();
    const template = await ownTemplate();
    const graph = await makeGraph(database, chain(1, template));
    await upload(database, graph, 'input');
    const task = await claim(database, runner, template);
    await freezeSession(database, graph.sessionId);
    await endTask(database, { ...runner, taskId: task!.taskId }, end, { digest: 'd', jitter: 0 });
    // The time of a retry comes.
    await database.query(`update node_run set due_at = now() where session_id = $1 and due_at is not null`, [
      graph.sessionId,
    ]);
    const look = await reconcileSession(database, graph.sessionId);
    expect(look?.due).toBeNull();
    expect(await claim(database, runner, template)).toBeUndefined();
    await unfreezeSession(database, graph.sessionId);
    expect((await claim(database, runner, template))?.nodeName).toBe('n1');
  }
});

test('built-in nodes of a frozen session are not started', async () => {
  await ownTemplate({ runnerType: 'system' });
  const graph = await makeGraph(database, chain(1, `freeze-${templates}`));
  await upload(database, graph, 'input');
  await freezeSession(database, graph.sessionId);
  expect((await reconcileSession(database, graph.sessionId))?.start).toEqual([]);
  await unfreezeSession(database, graph.sessionId);
  expect((await reconcileSession(database, graph.sessionId))?.start).toMatchObject([
    { nodeName: 'n1', builtin: true },
  ]);
});

test('the unfreeze notifies a workflow that reconciles later, when it has a built-in run to start or a retry to time', async () => {
  const outside = await ownTemplate();
  const builtin = 'builtin-unfrozen';
  await outsideTemplate(database, builtin, { runnerType: 'system' });
  for (const other of [builtin, await ownTemplate()]) {
    const graph = await makeGraph(database, [
      { name: 'input', parents: [] },
      { name: 'outside', parents: ['input'], template: outside },
      { name: 'other', parents: ['input'], template: other },
    ]);
    await upload(database, graph, 'input');
    if (other !== builtin) {
      const runner = newRunner();
      const task = (await claim(database, runner, other))!;
      const failure = { kind: 'fail', category: 'error', reason: 'x' } as const;
      await endTask(database, { ...runner, taskId: task.taskId }, failure, { digest: 'x', jitter: 0 });
    }
    await freezeSession(database, graph.sessionId);
    // The workflow has seen all of it, and relies on its timer for the outside run: a long one, as beside many sessions.
    await reconcileSession(database, graph.sessionId);
    await database.query(
      `update session set next_reconcile_at = clock_timestamp() + interval '1 hour' where id = $1`,
      [graph.sessionId],
    );
    const changes = await changesBy(database, () => unfreezeSession(database, graph.sessionId));
    expect(changes).toMatchObject([{ wake: true, isUrgent: other === builtin }]);
  }
});

test('freezing and unfreezing race with claims, uploads and ends: nothing is claimed while frozen, nothing is lost', async () => {
  const template = await ownTemplate();
  const graph = await makeGraph(database, chain(1, template));
  let runs = 0;
  for (let round = 0; round < 30; round++) {
    const instance = newRunner();
    await Promise.all([
      publish(graph),
      freezeSession(database, graph.sessionId),
      claim(database, instance, template).then(async (task) => {
        if (!task) return;
        runs += 1;
        await finish(database, instance, graph, task);
      }),
    ]);
    expect(await claim(database, newRunner(), template)).toBeUndefined();
    await unfreezeSession(database, graph.sessionId);
    for (;;) {
      const next = newRunner();
      const task = await claim(database, next, template);
      if (!task) break;
      runs += 1;
      await finish(database, next, graph, task);
    }
    const [node] = await database.query<{ behind: boolean }>(
      `select n.consumed_position < p.newest_position as behind
         from node_instance n join node_instance p on p.id = any (n.parent_ids) where n.id = $1`,
      [graph.nodes.n1],
    );
    expect(node?.behind ?? false).toBe(false);
  }
  expect(runs).toBeGreaterThan(0);
});

/** An upload that a frozen session may refuse. */
async function publish(graph: Graph): Promise<void> {
  const objectKey = `outputs/${crypto.randomUUID()}`;
  await database.query('insert into pending_object (object_key, data_source_id) values ($1, $2)', [
    objectKey,
    graph.dataSourceId,
  ]);
  await publishUpload(database, {
    nodeInstanceId: graph.nodes.input!,
    dataSourceId: graph.dataSourceId,
    objectKey,
    outputIdentifier: null,
    contentType: null,
    contentEncoding: null,
    sizeBytes: 1,
    sha256: null,
    etag: 'e',
    metadata: null,
  });
}

test('frozen sessions do not crowd out others at the healer', async () => {
  await ownTemplate({ runnerType: 'system' });
  for (let count = 0; count < 3; count++) {
    const graph = await makeGraph(database, chain(1, `freeze-${templates}`));
    await upload(database, graph, 'input');
    await reconcileSession(database, graph.sessionId);
    if (count < 2) await freezeSession(database, graph.sessionId);
    await reconcileSession(database, graph.sessionId);
    await database.query(`update node_run set queue_time = now() - interval '1 hour' where session_id = $1`, [
      graph.sessionId,
    ]);
    if (count < 2) continue;
    const waits = {
      dirtySeconds: 3_600,
      dueSeconds: 3_600,
      builtinSeconds: 30,
      awaitedSeconds: 60,
      againSeconds: 10,
    };
    const taken = await acquireForgottenSessions(database, waits, 1);
    expect(taken.map((session) => session.sessionId)).toEqual([graph.sessionId]);
  }
});

test('the claim of one template uses its index, for any frozen sessions', async () => {
  const rows = await database.transaction(async (tx) => {
    // A table of a few rows is rather read whole.
    await tx.query('set local enable_seqscan = off');
    return tx.query<{ 'QUERY PLAN': string }>(
      `explain select r.id from node_run r where r.state = 'queued' and not r.frozen and r.template_name = 'x'
        order by ${claimOrder('r')} limit 1 for update skip locked`,
    );
  });
  expect(rows.map((row) => row['QUERY PLAN']).join('\n')).toContain('node_run_claim_order');
});
