/** Hosts of deployed runners that are stopped, killed or stand still, and runners that hang. */
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { startLeaseLoop } from '../../worker/lease-loop.ts';
import { eventually } from '../support/eventually.ts';
import { type HostStage, hostStage, lives, tellingModule } from './support.ts';

const [killed, still, stopped, hanging] = await Promise.all([
  hostStage(),
  hostStage(),
  hostStage(),
  hostStage(),
]);

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

const parentOf = (pid: number) => Number(/^PPid:\s+(\d+)/m.exec(readProc(pid, 'status'))?.[1]);

const untilOne = (stage: HostStage, runnerType: string, isIt: (pid: number) => boolean = () => true) =>
  eventually(`one process of ${runnerType} runs`, async () => {
    const [one] = (await stage.shown(runnerType))?.processes ?? [];
    const pids = pidsOf(stage, runnerType);
    return one?.state === 'running' && pids.length === 1 && isIt(pids[0]!)
      ? { pid: pids[0]!, ...one }
      : undefined;
  });

const isRevoked = async (stage: HostStage, tokenId: string | null) => {
  const [token] = await stage.database.query<{ revoked: boolean }>(
    'select revoked_at is not null as revoked from runner_token where id = $1',
    [tokenId],
  );
  return token!.revoked;
};

describe.concurrent('of two hosts', () => {
  test('one keeps a runner; when it is killed its process ends, and the other takes over', async () => {
    const stage = killed;
    const hosts = await Promise.all([stage.startHost(), stage.startHost()]);
    stage.write('telling.mjs', tellingModule);
    const names = ['one', 'two', 'three'];
    for (const name of names) await stage.publish(name, { entrypoint: 'telling.mjs' });
    const session = await stage.sessionOf('two');
    expect((await stage.work(session, 'before')).pid).toBe((await untilOne(stage, 'two')).pid);
    const before = await Promise.all(names.map((name) => untilOne(stage, name)));
    const host = hosts.find(({ pid }) => pid === parentOf(before[1]!.pid))!;
    host.kill('SIGKILL');
    const other = hosts.find(({ pid }) => pid !== host.pid)!;
    await eventually('its process ends by itself', () => !lives(before[1]!.pid));
    const after = await untilOne(stage, 'two', (pid) => parentOf(pid) === other.pid);
    expect(await isRevoked(stage, before[1]!.tokenId)).toBe(true);
    expect(after.tokenId).not.toBe(before[1]!.tokenId);
    expect((await stage.work(session, 'after')).pid).toBe(after.pid);
  });

  test('the one that stands still loses its runner to the other, and leaves it alone when it goes on', async () => {
    const stage = still;
    const hosts = await Promise.all([stage.startHost(), stage.startHost()]);
    stage.write('telling.mjs', tellingModule);
    await stage.publish('one', { entrypoint: 'telling.mjs' });
    const session = await stage.sessionOf('one');
    await stage.work(session, 'before');
    const before = await untilOne(stage, 'one');
    const host = hosts.find(({ pid }) => pid === parentOf(before.pid))!;
    const other = hosts.find(({ pid }) => pid !== host.pid)!;
    host.kill('SIGSTOP');
    // What the first one's process calls with is ended before the second one begins.
    const after = await untilOne(stage, 'one', (pid) => parentOf(pid) === other.pid);
    expect(await isRevoked(stage, before.tokenId)).toBe(true);
    host.kill('SIGCONT');
    await eventually('it knows', () => host.log().includes('this host keeps a deployed runner no more'));
    expect((await stage.work(session, 'after')).pid).toBe(after.pid);
    expect(await untilOne(stage, 'one')).toMatchObject({ pid: after.pid, tokenId: after.tokenId, starts: 1 });
  });
});

describe.concurrent('a host that is stopped', () => {
  test('lets its runners give back what they hold, ends those that hear nothing, and leaves nothing behind', async () => {
    const stage = stopped;
    const host = await stage.startHost({ SDK_RUNNERS_GRACE_SECONDS: '0' });
    stage.write(
      'waiting.mjs',
      tellingModule.replace('const text', 'await new Promise(() => {}); const text'),
    );
    stage.write(
      'deaf.mjs',
      `import { spawn } from 'node:child_process';
       ${tellingModule.replace(
         'const text',
         `console.error('child', spawn('/bin/sleep', ['600'], { stdio: 'ignore' }).pid);
          for (;;); const text`,
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

  test('is not started without a folder that is there', async () => {
    const { processes } = stopped;
    const host = processes.startScript('worker/runner-host/main.ts', { SDK_RUNNERS_DIR: '/nowhere/at/all' });
    expect(await host.ended).toBe(1);
    expect(host.log()).toBe('SDK_RUNNERS_DIR: there is no such folder.\n');
  });
});

test.concurrent('a runner that hangs past the time of its task is started anew, and the work is done', async () => {
  const stage = hanging;
  const host = await stage.startHost({ SDK_RUNNERS_HANG_SECONDS: '10' });
  const { workflows, log } = stage.api.composed.services;
  const leases = startLeaseLoop(stage.database, workflows, log);
  try {
    stage.write('hanging.mjs', tellingModule.replace('const text', 'while (task.attempt === 1); const text'));
    await stage.publish('hanging', { entrypoint: 'hanging.mjs' });
    await stage.database.query(`update node_template set timeout_seconds = 1 where name = 'hanging'`);
    const session = await stage.sessionOf('hanging');
    const work = stage.work(session, 'one');
    await eventually('its time is over, and the retry is made due as its workflow does', async () => {
      const rows = await stage.database.query(
        `update node_run set state = 'queued', due_at = null where state = 'waiting' returning 1`,
      );
      return rows.length === 1;
    });
    await work;
    expect((await stage.shown('hanging'))?.processes).toMatchObject([{ starts: 2 }]);
    expect(host.log().includes('it held no task and took none for 10 s')).toBe(true);
  } finally {
    await leases.stop();
  }
});
