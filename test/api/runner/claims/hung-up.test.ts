import { expect, test } from 'vitest';
import { aStatementWaits, eventually } from '../../../support/eventually.ts';
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
