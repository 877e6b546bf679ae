/** Hosts of deployed runners that are stopped, killed or stalled, and runners that hang. */
import { readdirSync, readFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { describe, expect, test } from 'vitest';
import { startLeaseLoop } from '../../worker/lease-loop.ts';
import { eventually } from '../support/eventually.ts';
import type { TestProcess } from '../support/processes.ts';
import { type HostStage, hostStage, lives, reportingModule } from './support.ts';

// Fifteen seconds of silence are waited for, on machines that may do much else.
const [killed, still, stopped, hanging] = await Promise.all([
  hostStage(),
  hostStage(),
  hostStage(),
  hostStage(),
]);

/** Blocks like an endless computation, but uses no processor time. */
const block = 'Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)';

/** Living processes of a runner type, of this test's platform. */
function pidsOf(stage: HostStage, runnerType: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      const words = readProc(pid, 'cmdline').split('\0');
      return (
        words.some((word) => word.startsWith(stage.folder)) && words.includes(`deployed.${runnerType}.1`)
      );
    });
}

/** Empty for a process that is gone or was not yet collected. */
function readProc(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return '';
  }
}

/** The folders of the runners of a host. */
const temporaryFolders = (host: number) =>
  readdirSync(tmpdir()).filter((name) => name.startsWith(`sdp-runner-${hostname()}-${host}-`));

const parentOf = (pid: number) => Number(/^PPid:\s+(\d+)/m.exec(readProc(pid, 'status'))?.[1]);

function untilOne(stage: HostStage, runnerType: string, isIt: (pid: number) => boolean = () => true) {
  const look = async () => {
    const [one] = (await stage.shown(runnerType))?.processes ?? [];
    const [pid, ...others] = pidsOf(stage, runnerType);
    const isAlone = pid !== undefined && others.length === 0;
    return one?.state === 'running' && isAlone && isIt(pid) ? { pid, ...one } : undefined;
  };
  return eventually(`one process of ${runnerType} runs`, look);
}

const isRevoked = async (stage: HostStage, tokenId: string | null) => {
  const [token] = await stage.database.query<{ revoked: boolean }>(
    'select revoked_at is not null as revoked from runner_token where id = $1',
    [tokenId],
  );
  return token!.revoked;
};

describe.concurrent('of two hosts', () => {
  test('one runs a runner; when the host is killed its process ends, and the other host replaces it', async () => {
    const stage = killed;
    const hosts = await Promise.all([stage.startHost(), stage.startHost()]);
    stage.write('telling.mjs', reportingModule);
    const names = ['one', 'two'];
    for (const name of names) await stage.publish(name, { entrypoint: 'telling.mjs' });
    const session = await stage.sessionOf('two');
    expect((await stage.work(session, 'before')).pid).toBe((await untilOne(stage, 'two')).pid);
    const before = await Promise.all(names.map((name) => untilOne(stage, name)));
    const host = hosts.find(({ pid }) => pid === parentOf(before[1]!.pid))!;
    expect(temporaryFolders(host.pid)).not.toEqual([]);
    host.kill('SIGKILL');
    const other = hosts.find(({ pid }) => pid !== host.pid)!;
    await eventually('its process ends by itself', () => !lives(before[1]!.pid));
    const after = await untilOne(stage, 'two', (pid) => parentOf(pid) === other.pid);
    expect(await isRevoked(stage, before[1]!.tokenId)).toBe(true);
    expect(after.tokenId).not.toBe(before[1]!.tokenId);
    expect((await stage.work(session, 'after')).pid).toBe(after.pid);
    // The next host on the machine removes what the killed one could not.
    await stage.startHost();
    expect(temporaryFolders(host.pid)).toEqual([]);
    expect(temporaryFolders(other.pid)).not.toEqual([]);
  });

  test('the one that stalls loses its runner to the other, and does not interfere when it continues', async () => {
    const stage = still;
    const hosts = await Promise.all([stage.startHost(), stage.startHost()]);
    stage.write('telling.mjs', reportingModule);
    await stage.publish('one', { entrypoint: 'telling.mjs' });
    const session = await stage.sessionOf('one');
    await stage.work(session, 'before');
    const before = await untilOne(stage, 'one');
    const host = hosts.find(({ pid }) => pid === parentOf(before.pid))!;
    const other = hosts.find(({ pid }) => pid !== host.pid)!;
    host.kill('SIGSTOP');
    // The token of the first one's process is revoked before the second one begins.
    const after = await untilOne(stage, 'one', (pid) => parentOf(pid) === other.pid);
    expect(await isRevoked(stage, before.tokenId)).toBe(true);
    host.kill('SIGCONT');
    await eventually('it knows', () =>
      host.log().includes('a deployed runner is no longer assigned to this host'),
    );
    expect((await stage.work(session, 'after')).pid).toBe(after.pid);
    const { pid, tokenId } = await untilOne(stage, 'one');
    expect([pid, tokenId]).toEqual([after.pid, after.tokenId]);
  });
});

describe.concurrent('a host that is stopped', () => {
  test('lets its runners release their tasks, ends unresponsive ones, and leaves nothing behind', async () => {
    const stage = stopped;
    const host = await stage.startHost({
      SDK_RUNNERS_GRACE_SECONDS: '0',
      SDK_RUNNERS_ALLOW: 'child-process',
    });
    stage.write(
      'waiting.mjs',
      reportingModule.replace('const text', 'await new Promise(() => {}); const text'),
    );
    stage.write(
      'deaf.mjs',
      `import { spawn } from 'node:child_process';
       ${reportingModule.replace(
         'const text',
         `console.error('child', spawn('/bin/sleep', ['600'], { stdio: 'ignore' }).pid);
          ${block}; const text`,
       )}`,
    );
    await stage.publish('waiting', { entrypoint: 'waiting.mjs' });
    await stage.publish('deaf', { entrypoint: 'deaf.mjs' });
    for (const name of ['waiting', 'deaf']) await stage.send(await stage.sessionOf(name), 'held');
    const child = await eventually('both work', async () => {
      const { body } = await stage.call('GET', '/api/v2/admin/runners');
      const busy = body.runners.filter((one: { task: unknown }) => one.task !== null);
      return busy.length === 2 && /"msg":"child (\d+)"/.exec(host.log())?.[1];
    });
    const pids = [...pidsOf(stage, 'waiting'), ...pidsOf(stage, 'deaf'), Number(child)];
    expect(pids.filter(lives)).toHaveLength(3);
    host.kill('SIGTERM');
    expect(await host.ended).toBe(0);
    expect(pids.filter(lives)).toEqual([]);
    expect(await stage.database.query('select 1 from deployed_runner')).toEqual([]);
    expect(await stage.database.query('select 1 from runner_token where revoked_at is null')).toEqual([]);
    await eventually('both tasks are given back, and no attempt is counted', async () => {
      const rows = await stage.database.query(
        `select r.state, r.attempt, c.ending from node_run r join node_claim c on c.run_id = r.id order by c.ending`,
      );
      expect(rows).toEqual([
        { state: 'queued', attempt: 1, ending: 'release' },
        { state: 'queued', attempt: 1, ending: 'token-ended' },
      ]);
      return true;
    });
  });

  test('is not started without an existing folder', async () => {
    const { processes } = stopped;
    const host = processes.startScript('worker/runner-host/main.ts', { SDK_RUNNERS_DIR: '/nowhere/at/all' });
    expect(await host.ended).toBe(1);
    expect(host.log()).toBe('SDK_RUNNERS_DIR: the folder does not exist.\n');
  });
});

describe.concurrent('a runner that computes without end', () => {
  const endless = reportingModule.replace('const text', `if (task.attempt === 1) ${block}; const text`);
  let host: Promise<TestProcess> | undefined;
  const start = () => {
    host ??= hanging.startHost({ SDK_RUNNERS_HANG_SECONDS: '10' });
    return host;
  };

  test('past the time limit of its task is restarted, and the work is completed', async () => {
    const stage = hanging;
    const { log } = await start();
    const { log: quiet } = stage.api.composed.services;
    const leases = startLeaseLoop(stage.database, quiet);
    try {
      stage.write('endless.mjs', endless);
      await stage.publish('endless', { entrypoint: 'endless.mjs' });
      const allow = (seconds: number | null) =>
        stage.database.query(`update node_template set timeout_seconds = $1 where name = 'endless'`, [
          seconds,
        ]);
      await allow(1);
      const work = stage.work(await stage.sessionOf('endless'), 'one');
      await eventually('its time is over', async () => {
        const rows = await stage.database.query(
          `select 1 from node_claim c join node_run r on r.id = c.run_id
            where r.template_name = 'endless' and c.ended_at is not null`,
        );
        return rows.length === 1;
      });
      await allow(null);
      await eventually('the retry is made due as its workflow does', async () => {
        const rows = await stage.database.query(
          `update node_run set state = 'queued', due_at = null where state = 'waiting' returning 1`,
        );
        return rows.length === 1;
      });
      await work;
      // A machine that stalls may have had it restarted once more.
      await eventually(
        'that is reported',
        async () => ((await stage.shown('endless'))?.processes[0]?.starts ?? 0) >= 2,
      );
      expect(log().includes('it held no task and claimed none for 10 s')).toBe(true);
    } finally {
      await leases.stop();
    }
  });

  test('on a cancelled run is restarted, and the node ends as cancelled', async () => {
    const stage = hanging;
    const { log } = await start();
    stage.write('cancelled.mjs', endless);
    await stage.publish('cancelled', { entrypoint: 'cancelled.mjs' });
    const session = await stage.sessionOf('cancelled');
    await stage.send(session, 'one');
    const [run] = await eventually('it works', async () => {
      const rows = await stage.database.query<{ id: string }>(
        `select id from node_run where node_instance_id = $1 and state = 'held'`,
        [session.node],
      );
      return rows.length === 1 && rows;
    });
    expect((await stage.call('POST', `/api/v2/admin/node-runs/${run!.id}/cancel`)).status).toBe(202);
    await eventually('the node ends', async () => {
      const { body } = await stage.call('GET', `/api/v2/session/${session.sessionId}/node-instances`);
      expect(body.nodeInstances[1]).toMatchObject({ state: 'Failed', statusDetails: 'cancelled' });
      return true;
    });
    expect(log().includes('it continued a cancelled task for 10 s')).toBe(true);
  });
});
