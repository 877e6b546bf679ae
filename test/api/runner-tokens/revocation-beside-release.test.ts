import { afterAll, expect, test } from 'vitest';
import { startTestApi } from '../../support/api.ts';
import { connected } from '../../support/databases.ts';
import { eventually } from '../../support/eventually.ts';
import { upload } from '../../support/graph.ts';
import { runnerStage } from '../../support/runner.ts';
import { stretched } from '../../support/stretched.ts';
import { tokenStage } from './support.ts';

const stage = await runnerStage();
const { api, database, platform } = stage;
const second = await startTestApi(platform.environment);
afterAll(() => second.stop());
const apis = [api, second];
/** The time that the platform promises. */
const limitMs = 5_000;

const end = (tokenId: string) =>
  database.query('update runner_token set revoked_at = clock_timestamp() where id = $1', [tokenId]);

/** The release of the task hangs, with its session locked, for as long as `stalled` is open. */
async function hangingRelease(taskId: string) {
  const lock = 4711;
  const stalled = await connected(platform.databaseUrl);
  await stalled.query(`select pg_advisory_lock(${lock})`);
  await stalled.query(
    `create function hang() returns trigger language plpgsql as $$ begin
       while exists (select from pg_locks where locktype = 'advisory' and objid = ${lock}) loop
         perform pg_sleep(0.05);
       end loop;
       return new;
     end $$`,
  );
  await stalled.query(
    `create trigger hang before update on node_claim for each row
       when (new.task_id = '${taskId}' and new.ended_at is not null) execute function hang()`,
  );
  return stalled;
}

const waitingFor = async (event: string) =>
  (
    await database.query(
      'select 1 from pg_stat_activity where datname = current_database() and $1 in (wait_event, wait_event_type)',
      [event],
    )
  ).length;

test('a revoked token’s waiting claims are cut in time at each process while another token’s tasks cannot be released', async () => {
  const [held, waits] = [await tokenStage(stage), await tokenStage(stage)];
  await upload(database, held.graph, 'input');
  const task = await held.runner().acquire(held.graph.template);
  const waiting = apis.map(({ url }) => stage.runner({ token: waits.made.token, url }).claim([], 60));
  await eventually('they wait', () =>
    apis.every((one) => one.composed.services.runners.waiters.idleCount === 1),
  );
  const stalled = await hangingRelease(task.taskId);
  await end(held.made.id);
  await eventually('one process hangs in the release', async () => (await waitingFor('PgSleep')) > 0);
  await eventually('the other waits for it', async () => (await waitingFor('Lock')) > 0);
  await end(waits.made.id);
  const endedAtMs = performance.now();
  for (const answer of await Promise.all(waiting))
    expect([answer.status, answer.body.code]).toEqual([401, 'unauthorized']);
  expect(performance.now() - endedAtMs).toBeLessThan(stretched(limitMs));
  await stalled.end();
  expect((await stage.runner().claim(held.graph.template, 30)).body).toMatchObject({ attempt: 1 });
});
