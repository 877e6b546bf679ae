/** The healer's rounds: skipped sessions block no other, and one failure affects one session. */
import { randomUUID } from 'node:crypto';
import { pino } from 'pino';
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { acquireForgottenSessions } from '../../store/sessions/forgotten-sessions.ts';
import { healOnce } from '../../worker/healer.ts';
import type { WorkflowClient } from '../../workflows/client.ts';
import type { SessionRunInput } from '../../workflows/contract.ts';
import { databaseStage } from '../support/databases.ts';
import { platformState } from '../support/eventually.ts';
import { chain, makeGraph, outsideTemplate, upload } from '../support/graph.ts';
import { testWorkflows } from '../support/workflows.ts';

const { database, platform } = await databaseStage(8);
const temporalSide = await testWorkflows(platform.environment);
beforeEach(() => database.query(`update session set desired_version = observed_version, dirty_since = null`));

/** A method of the client, to be replaced in this test. */
function replaced<Name extends 'repair' | 'wake' | 'ping'>(workflows: WorkflowClient, name: Name) {
  const spy = vi.spyOn(workflows, name);
  onTestFinished(() => spy.mockRestore());
  return spy;
}

/** Sessions whose wake was lost, for so many minutes. */
async function forgotten(count: number, minutes: number, isFrozen = false): Promise<readonly string[]> {
  const graphs = await Promise.all(Array.from({ length: count }, () => makeGraph(database, chain(1))));
  const ids = graphs.map(({ sessionId }) => sessionId);
  await database.query(
    `update session set desired_version = observed_version + 1, dirty_since = now() - make_interval(mins => $2),
            frozen_at = case when $3 then now() end where id = any ($1)`,
    [ids, minutes, isFrozen],
  );
  return ids;
}

/** The id of a session whose built-in run has been queued for an hour. */
async function queuedBuiltin(): Promise<string> {
  const name = `builtin-${randomUUID()}`;
  await outsideTemplate(database, name, { runnerType: 'system' });
  const graph = await makeGraph(database, chain(1, name));
  await upload(database, graph, 'input');
  await database.query('update session set observed_version = desired_version where id = $1', [
    graph.sessionId,
  ]);
  await database.query(`update node_run set queue_time = now() - interval '1 hour' where session_id = $1`, [
    graph.sessionId,
  ]);
  return graph.sessionId;
}

const log = pino({ level: 'silent' });
const statusOf = (sessionId: string) => temporalSide.statusOf(sessionId).catch(() => 'none');

test('any number of frozen sessions does not keep others from being healed, and counts as no delay', async () => {
  await forgotten(60, 60, true);
  const [younger] = await forgotten(1, 1);
  const { sessionsWanted, wantedOldestSeconds } = await platformState(database);
  expect(sessionsWanted).toBe(1);
  expect(wantedOldestSeconds).toBeLessThan(30 * 60);
  await healOnce(database, temporalSide.workflows, log);
  expect(await statusOf(younger!)).toBe('RUNNING');
});

test('after an outage of Temporal one round notifies all waiting sessions, for any number', async () => {
  const ids = await forgotten(120, 1);
  await healOnce(database, temporalSide.workflows, log);
  const healed = await database.query(
    `select 1 from session where healed_at > now() - interval '5 minutes' and id = any ($1)`,
    [ids],
  );
  expect(healed).toHaveLength(ids.length);
  expect(new Set(await Promise.all(ids.slice(-20).map(statusOf)))).toEqual(new Set(['RUNNING']));
});

test('a session that its workflow reconciles soon is left to it, and healed when that is over', async () => {
  const [later, late] = await forgotten(2, 1);
  const reconcilesIn = (id: string, seconds: number) =>
    database.query('update session set next_reconcile_at = now() + make_interval(secs => $2) where id = $1', [
      id,
      seconds,
    ]);
  await reconcilesIn(later!, 20);
  await reconcilesIn(late!, -6);
  expect(await platformState(database)).toMatchObject({ sessionsWanted: 1 });
  await healOnce(database, temporalSide.workflows, log);
  expect([await statusOf(later!), await statusOf(late!)]).toEqual(['none', 'RUNNING']);
});

test('a session that cannot be healed does not block others', async () => {
  const ids = await forgotten(3, 1);
  let failed: string | undefined;
  const { workflows } = temporalSide;
  const repair = workflows.repair.bind(workflows);
  // As for a workflow that Temporal refuses.
  replaced(workflows, 'repair').mockImplementation(async (target) => {
    const { sessionId } = target.input as SessionRunInput;
    failed ??= sessionId;
    if (failed === sessionId) throw new Error('refused');
    return repair(target);
  });
  await healOnce(database, workflows, log);
  const healed = await Promise.all(ids.filter((id) => id !== failed).map(statusOf));
  expect(healed).toEqual(['RUNNING', 'RUNNING']);
});

test('a round ends at the first session when Temporal does not answer at all', async () => {
  await database.query(`update session set healed_at = '-infinity'`);
  await forgotten(3, 1);
  const { workflows } = temporalSide;
  const away = new Error('away');
  const repair = replaced(workflows, 'repair').mockRejectedValue(away);
  const wake = replaced(workflows, 'wake').mockRejectedValue(away);
  replaced(workflows, 'ping').mockRejectedValue(away);
  await expect(healOnce(database, workflows, log)).rejects.toThrow('away');
  expect(repair.mock.calls.length + wake.mock.calls.length).toBe(1);
});

test('a Temporal that needs long for each call gets one for each session in a round', async () => {
  await database.query(`update session set healed_at = '-infinity'`);
  const ids = await forgotten(60, 1);
  const now = performance.now.bind(performance);
  let passedMs = 0;
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => now() + passedMs);
  onTestFinished(() => clock.mockRestore());
  const repaired: string[] = [];
  replaced(temporalSide.workflows, 'repair').mockImplementation(async (target) => {
    repaired.push((target.input as SessionRunInput).sessionId);
    passedMs += 1_000;
    await database.query(
      `update session set healed_at = healed_at - interval '1 second' where id = any ($1)`,
      [ids],
    );
    return 'running';
  });
  await healOnce(database, temporalSide.workflows, log);
  expect(repaired.toSorted()).toEqual(ids.toSorted());
});

test('a built-in run that waits in a long queue has its workflow notified seldom once that waits for it', async () => {
  const [waiting, forgotten] = await Promise.all([queuedBuiltin(), queuedBuiltin()]);
  await database.query('update node_attempt set awaited = true where session_id = $1', [waiting]);
  const waits = { dirtySeconds: 5, dueSeconds: 5, builtinSeconds: 30, awaitedSeconds: 60, againSeconds: 10 };
  const acquiredAfter = async (seconds: number) => {
    await database.query('update session set healed_at = healed_at - make_interval(secs => $1)', [seconds]);
    const acquired = await acquireForgottenSessions(database, waits, 10);
    return new Map(acquired.map((one) => [one.sessionId, one.lateForSeconds]));
  };
  const first = await acquiredAfter(0);
  // A workflow that is only slow is not restarted for it: it is not late, its run waits.
  expect(first.get(waiting)).toBe(60);
  expect(first.get(forgotten)).toBeGreaterThan(300);
  expect([...(await acquiredAfter(20)).keys()]).toEqual([forgotten]);
  expect((await acquiredAfter(41)).size).toBe(2);
});
