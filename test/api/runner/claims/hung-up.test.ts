/** Claims whose callers hang up before the reply. */

import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { aStatementWaits, eventually } from '../../../support/eventually.ts';
import { upload } from '../../../support/graph.ts';
import { runnerStage } from '../../../support/runner.ts';

const stage = await runnerStage();

test('a claim whose caller hung up first releases no later task of the instance', async () => {
  const graph = await stage.chainOf(1);
  await stage.upload(graph, 'input', '1');
  const runner = stage.runner();
  const task = await runner.acquire(graph.template);
  const hungUp = new AbortController();
  let late: Promise<unknown> | undefined;
  await stage.database.transaction(async (tx) => {
    await tx.query('select 1 from runner_instance where instance_id = $1 for update', [runner.instanceId]);
    late = runner.claim(graph.template, 0, hungUp.signal).catch(() => 'gone');
    await aStatementWaits(stage.database);
    hungUp.abort();
    expect(await late).toBe('gone');
    // Of later calls the server answers after it has seen the end of the connection.
    for (let call = 0; call < 3; call += 1) await runner.call('GET', '/whoami');
  });
  await eventually('the late claim is over', async () => {
    const [row] = await stage.database.query<{ seq: number }>(
      'select claim_seq as seq from runner_instance where instance_id = $1',
      [runner.instanceId],
    );
    return row!.seq > 1;
  });
  await runner.write(task.taskId, 'x');
  const ended = await runner.end(task.taskId, 'complete', { outcome: 'completed' });
  expect(ended).toMatchObject({ status: 200, body: { nodeState: 'Succeeded' } });
});

const { api, database } = stage;

test('a claim whose caller has disconnected before the reply is undone completely', async () => {
  const graph = await stage.chainOf(1);
  const instanceId = randomUUID();
  const gone = new AbortController();
  const claimed = stage.runner({ instanceId }).claim(graph.template, 60, gone.signal);
  claimed.catch(() => undefined);
  await eventually('it waits', () => api.composed.services.runners.waiters.idleCount === 1);
  await database.transaction(async (tx) => {
    // The claim now waits for this row, in the middle of its statement.
    await tx.query('select 1 from runner_instance where instance_id = $1 for update', [instanceId]);
    await upload(database, graph, 'input');
    await aStatementWaits(database);
    gone.abort();
    await expect(claimed).rejects.toThrow();
  });
  const next = stage.runner();
  const answer = await next.claim(graph.template, 10);
  expect(answer.body).toMatchObject({ attempt: 1, reason: 'input' });
  const claims = await database.query<{ instanceId: string; ending: string | null }>(
    `select instance_id, ending from node_claim where run_id = $1 order by claimed_at`,
    [answer.body.runId],
  );
  expect(claims).toEqual([
    { instanceId, ending: 'undone' },
    { instanceId: next.instanceId, ending: null },
  ]);
});
