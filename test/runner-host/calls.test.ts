/** The environment and the calls of a host of deployed runners, and the API's answers to callers. */
import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { HeldProcess } from '../../domain/runners/runner-host.ts';
import { ask, startTestApi, tokenOf } from '../support/api.ts';
import { eventually } from '../support/eventually.ts';
import { tcpGate } from '../support/network/tcp-gate.ts';
import { hostStage, lives, reportingModule } from './support.ts';

const [working, many, away, refused, called, quiet] = await Promise.all([
  hostStage(),
  hostStage(),
  hostStage(),
  hostStage(),
  hostStage(),
  hostStage(),
]);

/** Ports of other processes to which a process has TCP connections. */
function remotePorts(pid: number): Set<number> {
  const inodes = readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
    try {
      return /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${fd}`))?.[1] ?? [];
    } catch {
      return [];
    }
  });
  const rows = ['tcp', 'tcp6'].flatMap((file) =>
    readFileSync(`/proc/${pid}/net/${file}`, 'utf8').split('\n').slice(1),
  );
  const own = rows.map((row) => row.trim().split(/\s+/)).filter((fields) => inodes.includes(fields[9]!));
  return new Set(own.map((fields) => Number.parseInt(fields[2]!.split(':')[1]!, 16)));
}

describe.concurrent('a host', () => {
  test('works without addresses of database and Temporal, with only its own key, and connects only to the API', async () => {
    const host = await working.startHost();
    working.write('telling.mjs', reportingModule);
    await working.publish('telling', { entrypoint: 'telling.mjs' });
    await working.work(await working.sessionOf('telling'), 'first');
    const names = readFileSync(`/proc/${host.pid}/environ`, 'utf8')
      .split('\0')
      .filter(Boolean)
      .map((line) => line.split('=')[0]!);
    expect(names.filter((name) => !/^SDK_RUNNERS_|^NODE_COMPILE_CACHE$/.test(name)).sort()).toEqual([
      'HOME',
      'PATH',
      'PORT',
      'RUNNER_HOST_KEY',
    ]);
    const ports = await eventually('it is connected', () => {
      const found = remotePorts(host.pid);
      return found.size > 0 && found;
    });
    expect([...ports]).toEqual([Number(new URL(working.api.url).port)]);
  });

  test('with more processes than one heartbeat may report keeps all of them, up to its limit', async () => {
    const names = ['one', 'two', 'three'];
    for (const name of names) await many.publish(name, { entrypoint: 'missing.mjs' });
    const host = await many.startHost({ SDK_RUNNERS_PROCESSES: '90', SDK_RUNNERS_MAX_PROCESSES: '230' });
    const reported = () =>
      many.database.query<{ hosts: number; processes: number }>(
        `select count(distinct host_id)::int as hosts, count(*)::int as processes from deployed_runner
          where message like 'missing.mjs is not in%' and held_until > clock_timestamp() + interval '5 seconds'`,
      );
    // Where the host gave up a call whose reply brought it processes, they are nobody's when their lease is over.
    const held = () =>
      many.database.query('select 1 from deployed_runner where held_until >= clock_timestamp()');
    await eventually('each is reported by its one host', async () => {
      const [seen] = await reported();
      return seen!.hosts === 1 && seen!.processes === 230 && (await held()).length === 230;
    });
    expect(host.log()).toContain('this host is full: SDK_RUNNERS_MAX_PROCESSES');
    expect(host.log()).not.toContain('is no longer assigned to this host');
    host.kill('SIGTERM');
    expect(await host.ended).toBe(0);
    expect(await held()).toEqual([]);
  });

  test('while the API is down keeps its processes running, resumes them afterwards, and can stop in time', async () => {
    const stage = away;
    const gate = await tcpGate(stage.api.url);
    const host = await stage.startHost({ SDK_RUNNERS_URL: gate.url, SDK_RUNNERS_GRACE_SECONDS: '0' });
    stage.write('telling.mjs', reportingModule);
    await stage.publish('telling', { entrypoint: 'telling.mjs' });
    const session = await stage.sessionOf('telling');
    const { pid } = await stage.work(session, 'before');
    gate.shut();
    await eventually('it says so', () => host.log().includes('the API cannot be reached'));
    expect(lives(pid)).toBe(true);
    gate.open();
    expect((await stage.work(session, 'after')).pid).toBe(pid);
    gate.stall();
    const stopping = performance.now();
    host.kill('SIGTERM');
    expect(await host.ended).toBe(0);
    expect(performance.now() - stopping).toBeLessThan(40_000);
    expect(lives(pid)).toBe(false);
  });

  test('with a wrong key is refused, logs it, and runs nothing', async () => {
    const stage = refused;
    await stage.publish('waiting', { entrypoint: 'missing.mjs' });
    const host = await stage.startHost({ RUNNER_HOST_KEY: 'w'.repeat(64) });
    await eventually('it says so', () => host.log().includes('both need the same RUNNER_HOST_KEY'));
    expect(await stage.database.query('select 1 from deployed_runner')).toEqual([]);
    await stage.startHost();
    await eventually(
      'one with the right key holds it',
      async () => (await stage.shown('waiting'))?.processes.length === 1,
    );
  });
});

describe.concurrent('the calls of hosts', () => {
  const key = working.api.composed.services.settings.RUNNER_HOST_KEY!;
  const path = '/api/v2/runner-host';
  const report = (hostId: string, processes: readonly object[] = [], room = 5) => ({
    hostId,
    processesPerType: 1,
    room,
    silentSeconds: 60,
    processes,
  });
  const of = (runnerType: string, hostId: string) => ({ runnerType, number: 1, hostId });
  const endOf = (runnerType: string, hostId: string) => ({
    hostId,
    processes: [{ runnerType, number: 1, isFinal: true }],
  });
  const bodies = {
    reconcile: report(randomUUID()),
    'process-starts': { ...of('none', randomUUID()), tokenId: null },
    'process-ends': endOf('none', randomUUID()),
  };
  const post = (name: keyof typeof bodies, json: unknown, token: string | undefined = key) =>
    ask(called.api.url, 'POST', `${path}/${name}`, { ...(token === '' ? {} : { token }), json });
  const reconcile = async (hostId: string, processes: readonly object[] = [], room = 5) => {
    const { status, body } = await post('reconcile', report(hostId, processes, room));
    expect([status, body]).toMatchObject([200, {}]);
    return body.processes as HeldProcess[];
  };

  test('require the key: 401 for every other credential, and if no key is set', async () => {
    const { username, password } = working.administrator;
    const person = await tokenOf(called.api.url, username, password);
    await called.publish('asking', { runtime: 'external' });
    const made = await called.call('POST', '/api/v2/admin/runner-tokens', { runnerTypes: ['asking'] });
    const { RUNNER_HOST_KEY, ...without } = called.environment;
    const closed = await startTestApi(without);
    try {
      for (const [name, json] of Object.entries(bodies) as [keyof typeof bodies, unknown][]) {
        expect((await post(name, json)).status, name).toBeLessThan(300);
        for (const token of [
          '',
          'w'.repeat(64),
          called.environment.AUTH_SERVICE_KEY!,
          person,
          made.body.token,
        ])
          expect((await post(name, json, token)).status, name).toBe(401);
        const answer = await ask(closed.url, 'POST', `${path}/${name}`, { token: RUNNER_HOST_KEY!, json });
        expect(answer.status, name).toBe(401);
      }
      // Nor does the key open any other route.
      expect((await ask(called.api.url, 'GET', '/projects', { token: key })).status).toBe(401);
    } finally {
      await closed.stop();
    }
  });

  test('of another form are 400', async () => {
    const wrong = [
      report('here'),
      report(randomUUID(), [], 1_001),
      report(randomUUID(), [], -1),
      { ...report(randomUUID()), processesPerType: 1e9 },
      { ...report(randomUUID()), silentSeconds: 1e300 },
      report(randomUUID(), [{ runnerType: 'x', number: 1, state: 'lost', message: '', starts: 0 }]),
      report(
        randomUUID(),
        Array(201).fill({ runnerType: 'x', number: 1, state: 'waiting', message: '', starts: 0 }),
      ),
      null,
    ];
    for (const json of wrong) expect([(await post('reconcile', json)).status, json]).toEqual([400, json]);
    for (const name of ['process-starts', 'process-ends'] as const)
      expect((await post(name, { runnerType: 'x', number: 0, hostId: randomUUID() })).status).toBe(400);
  });

  test('call a process silent no sooner than it was asked for, though it may be recorded seconds after it was seen', async () => {
    const { api, database } = quiet;
    const host = (name: string, json: object) =>
      ask(api.url, 'POST', `${path}/${name}`, { token: key, json });
    const hostId = randomUUID();
    await quiet.publish('quiet', { entrypoint: 'quiet.mjs' });
    const standing = { runnerType: 'quiet', number: 1, state: 'running', message: '', starts: 1 };
    const isSilent = async () =>
      (await host('reconcile', report(hostId, [standing]))).body.processes[0].isSilent;
    await host('reconcile', report(hostId));
    const { token } = (await host('process-starts', { ...of('quiet', hostId), tokenId: null })).body;
    expect(await isSilent()).toBe(true);
    const json = { instanceId: 'deployed.quiet.1', waitSeconds: 0 };
    const claimed = await ask(api.url, 'POST', '/api/v2/runner/tasks/claim', { token: token.value, json });
    expect(claimed.status).toBe(204);
    const recordedAgo = (seconds: number) =>
      database.query('update runner_instance set last_seen_at = now() - make_interval(secs => $1)', [
        seconds,
      ]);
    // What the API still holds of the claim is written first.
    await api.composed.services.runners.presence.flush();
    await recordedAgo(62);
    expect(await isSilent()).toBe(false);
    await recordedAgo(72);
    expect(await isSilent()).toBe(true);
  });

  test('return the token of a process once, to its host, and a lost reply requires a new token', async () => {
    const [first, second] = [randomUUID(), randomUUID()];
    await called.publish('shown', { entrypoint: 'shown.mjs' });
    const [held] = await reconcile(first);
    expect(held).toEqual({
      ...{ runnerType: 'shown', number: 1, entrypoint: 'shown.mjs', version: '1.0.0' },
      ...{ isWanted: true, isSilent: true, cancelledRunId: null },
    });
    expect(await reconcile(second)).toEqual([]);
    const start = async (hostId: string, tokenId: string | null) =>
      (await post('process-starts', { ...of('shown', hostId), tokenId })).body.token;
    expect(await start(second, null)).toBeNull();
    const given = await start(first, null);
    const whoami = (token: string) => ask(called.api.url, 'GET', '/api/v2/runner/whoami', { token });
    expect(await whoami(given.value)).toMatchObject({ status: 200, body: { runnerTypes: ['shown'] } });
    expect(await start(first, given.id)).toEqual({ id: given.id, value: null });
    expect(await start(second, given.id)).toBeNull();
    const anew = await start(first, null);
    expect(anew.id).not.toBe(given.id);
    expect([(await whoami(given.value)).status, (await whoami(anew.value)).status]).toEqual([401, 200]);
    // A host that does not hold the process ends nothing.
    expect((await post('process-ends', endOf('shown', second))).status).toBe(204);
    expect((await whoami(anew.value)).status).toBe(200);
    const standing = { runnerType: 'shown', number: 1, state: 'running', message: '', starts: 1 };
    expect(await reconcile(second, [standing], 0)).toEqual([]);
    await called.publish('shown', { entrypoint: 'other.mjs' }, '2.0.0');
    expect(await reconcile(first, [standing])).toMatchObject([{ runnerType: 'shown', isWanted: false }]);
    expect((await post('process-ends', endOf('shown', first))).status).toBe(204);
    expect((await whoami(anew.value)).status).toBe(401);
    expect(await reconcile(second)).toMatchObject([{ entrypoint: 'other.mjs', version: '2.0.0' }]);
  });
});
