/** Deployed runners from the manifest to the result: real processes under one host. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { hostStage, lives, reportingModule } from './support.ts';

// Many processes are started, on machines that may do much else.
const stage = await hostStage();
const { call, publish, sessionOf, shown, untilRuns, work, write } = stage;
const host = await stage.startHost({ SDK_RUNNERS_MEMORY_MB: '100', SDK_RUNNERS_MAX_PROCESSES: '40' });

const tokenOf = async (id: string | null) => {
  const { body } = await call('GET', '/api/v2/admin/runner-tokens');
  return body.find((token: { id: string }) => token.id === id);
};

/** Tries what a hijacked parser would try, and reports each result. */
const pryingModule = (secret: string) => `
import { execFileSync, fork } from 'node:child_process';
import { linkSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { Session } from 'node:inspector';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
const secret = ${JSON.stringify(secret)};
const host = process.ppid;
/** In a thread that has put the bounds of the process aside. */
const code = \`
const { parentPort, workerData: { secret, host } } = require('node:worker_threads');
const { readFileSync, readdirSync } = require('node:fs');
const { spawnSync } = require('node:child_process');
const code = (attempt) => { try { return String(attempt()); } catch (error) { return error.code; } };
parentPort.postMessage({
  secret: code(() => readFileSync(secret)),
  environ: code(() => readFileSync('/proc/' + host + '/environ')),
  fd: code(() => readdirSync('/proc/' + host + '/fd')),
  killed: code(() => process.kill(host, 'SIGUSR1')),
  spawned: spawnSync('/bin/cat', [secret], { env: {} }).status,
});\`;
const threads = () => new Promise((resolve, reject) => {
  const worker = new Worker(code, { eval: true, execArgv: [], env: {}, workerData: { secret, host } });
  worker.once('message', resolve).once('error', reject);
});
const tries = {
  file: () => readFileSync(secret, 'utf8'),
  link: () => symlinkSync(secret, join(tmpdir(), 'pointing')),
  above: () => readFileSync('../secret.json', 'utf8'),
  environ: () => readFileSync('/proc/' + host + '/environ', 'utf8'),
  maps: () => readFileSync('/proc/' + host + '/maps', 'utf8'),
  listed: () => readdirSync('/run'),
  write: () => writeFileSync(secret, 'mine'),
  remove: () => rmSync(secret),
  linked: () => linkSync(secret, join(tmpdir(), 'linked')),
  spawned: () => execFileSync('/bin/cat', [secret]),
  forked: () => fork(import.meta.filename),
  addon: () => process.dlopen({ exports: {} }, secret),
  inspector: () => new Session().connect(),
  temporary: () => { writeFileSync(join(tmpdir(), 'x'), 'mine'); return readFileSync(join(tmpdir(), 'x'), 'utf8'); },
  user: () => process.getuid(),
  threads,
};
export default async (task) => {
  for await (const input of task.inputs('latest')) {
    const found = {};
    for (const [name, attempt] of Object.entries(tries))
      try { found[name] = await attempt(); } catch (error) { found[name] = error.code ?? String(error); }
    await task.writeJson({ text: await input.text(), found });
  }
};`;

describe.concurrent('a deployed runner', () => {
  test('starts with its manifest, has its own token, and only three variables in its environment', async () => {
    write('telling.mjs', reportingModule);
    const published = await publish('telling', { entrypoint: 'telling.mjs' });
    expect([published.status, published.body.warnings]).toEqual([200, []]);
    const result = await work(await sessionOf('telling'), 'first');
    expect(result.names).toEqual(['SDP_RUNNER_TOKEN', 'SDP_URL', 'TMPDIR']);
    expect(result.flags).toContain('--max-old-space-size=100');
    const environment = readFileSync(`/proc/${result.pid}/environ`, 'utf8').split('\0').filter(Boolean);
    expect(environment.map((line) => line.split('=')[0]).sort()).toEqual(result.names);
    expect(environment).toContain(`SDP_URL=http://127.0.0.1:${new URL(stage.api.url).port}`);
    const { body } = await call('GET', '/api/v2/admin/runners?pageSize=100');
    const instance = body.runners.find(
      (one: { instanceId: string }) => one.instanceId === 'deployed.telling.1',
    );
    expect(instance).toMatchObject({ hosting: 'deployed', kind: 'token', runnerTypes: ['telling'] });
    const kept = await untilRuns('telling');
    expect(instance.tokenId).toBe(kept.tokenId);
    expect(await tokenOf(kept.tokenId)).toMatchObject({
      label: 'deployed: telling',
      runnerTypes: ['telling'],
      scopes: ['tasks'],
      createdBy: null,
      revoked: false,
    });
    const value = environment.find((line) => line.startsWith('SDP_RUNNER_TOKEN='))!.split('=')[1]!;
    expect(host.log()).toContain('claims tasks');
    expect(host.log()).not.toContain(value);
  });

  test('goes on when the code of an ended task has left calls behind', async () => {
    write(
      'leaving.mjs',
      `export default async (task) => {
        for await (const input of task.inputs('latest')) {
          await task.writeJson({ text: await input.text(), pid: process.pid });
        }
        void (async () => { for (;;) await task.previousOutput(); })();
      };`,
    );
    await publish('leaving', { entrypoint: 'leaving.mjs' });
    const session = await sessionOf('leaving');
    const { pid } = await work(session, 'first');
    expect(await work(session, 'second')).toMatchObject({ pid });
  });

  test('is refused files, variables, programs and debuggers of the platform by Node, and by the system where it is another user', async () => {
    const secret = join(stage.folder, '../secret.json');
    writeFileSync(secret, '{"key":"of the platform"}', { mode: 0o600 });
    write('prying.mjs', pryingModule(secret));
    await publish('prying', { entrypoint: 'prying.mjs' });
    const { found } = await work(await sessionOf('prying'), 'first');
    const { user, temporary, threads, ...refused } = found;
    expect(new Set(Object.values(refused))).toEqual(new Set(['ERR_ACCESS_DENIED', 'ERR_DLOPEN_DISABLED']));
    expect(temporary).toBe('mine');
    expect(readFileSync(secret, 'utf8')).toContain('of the platform');
    if (process.getuid?.() !== 0) return;
    // A thread can be started without the bounds of its process: there the system refuses.
    expect(user).toBe(64_123);
    expect(threads).toEqual({
      secret: 'EACCES',
      environ: 'EACCES',
      fd: 'EACCES',
      killed: 'EPERM',
      spawned: 1,
    });
  });

  test('that is killed is restarted, and completes the remaining tasks', async () => {
    write(
      'dying.mjs',
      reportingModule.replace(
        'const text',
        `if (task.attempt === 1 && task.nodeName === 'child') process.kill(process.pid, 'SIGKILL');
         const text`,
      ),
    );
    await publish('dying', { entrypoint: 'dying.mjs' });
    const session = await sessionOf('dying');
    const result = await work(session, 'one');
    const { tokenId } = await untilRuns('dying', 2);
    process.kill(result.pid, 'SIGKILL');
    expect(await untilRuns('dying', 3)).toMatchObject({ tokenId });
    const [run] = await stage.database.query(
      'select attempt, lost_count as lost from node_run where node_instance_id = $1',
      [session.node],
    );
    expect(run).toEqual({ attempt: 2, lost: 1 });
  });

  test('that is retired is stopped, and its token ended', async () => {
    write('retiring.mjs', reportingModule);
    await publish('retiring', { entrypoint: 'retiring.mjs' });
    const { pid } = await work(await sessionOf('retiring'), 'one');
    const { tokenId } = await untilRuns('retiring');
    const manifest = {
      manifestVersion: 1,
      feature: { name: 'retiring', version: '1.0.1', ownershipType: 'ThirdParty' },
      runnerTypes: [{ name: 'retiring-other', runtime: 'external' }],
    };
    expect((await call('POST', '/api/v2/admin/runner-manifests', manifest)).status).toBe(200);
    await eventually('it is gone', () => !lives(pid));
    await eventually('its token is ended', async () => (await tokenOf(tokenId)).revoked);
    await eventually('nothing is reported of it', async () => (await shown('retiring')) === undefined);
  });

  test('is replaced by the entrypoint of a newer version', async () => {
    write('old.mjs', reportingModule);
    write('new.mjs', reportingModule);
    await publish('replaced', { entrypoint: 'old.mjs' });
    const session = await sessionOf('replaced');
    const old = await work(session, 'one');
    await publish('replaced', { entrypoint: 'new.mjs' }, '2.0.0');
    await eventually('the old one is gone', () => !lives(old.pid));
    expect((await work(session, 'two')).pid).not.toBe(old.pid);
    await untilRuns('replaced', 1);
    expect(await shown('replaced')).toMatchObject({ entrypoint: 'new.mjs' });
  });

  test('whose token is revoked continues with a new one', async () => {
    // The argument of `defineRunner` may also be exported directly.
    write('revoked.mjs', reportingModule.replace('defineRunner({\n', '({\n'));
    await publish('revoked', { entrypoint: 'revoked.mjs' });
    const session = await sessionOf('revoked');
    await work(session, 'one');
    const { tokenId } = await untilRuns('revoked');
    expect((await call('DELETE', `/api/v2/admin/runner-tokens/${tokenId}`)).status).toBe(204);
    await work(session, 'two');
    expect((await untilRuns('revoked')).tokenId).not.toBe(tokenId);
  });

  test('may be exported as the mere function that works on a task', async () => {
    write(
      'function.ts',
      `export default async (task: { writeJson(value: unknown): Promise<unknown> }) => {
         await task.writeJson({ text: 'done' });
       };`,
    );
    await publish('function', { entrypoint: 'function.ts' });
    expect(await work(await sessionOf('function'), 'done')).toEqual({ text: 'done' });
  });

  test('that exceeds its memory limit is ended and restarted', async () => {
    write(
      'greedy.mjs',
      reportingModule.replace(
        'const text',
        `const kept = [];
         while (task.attempt === 1) kept.push(Array.from({ length: 100_000 }, Math.random));
         const text`,
      ),
    );
    await publish('greedy', { entrypoint: 'greedy.mjs' });
    const session = await sessionOf('greedy');
    await work(session, 'one');
    await untilRuns('greedy', 2);
    expect(host.log()).toMatch(/a deployed runner is down: it ended \(SIGABRT\)/);
    const [attempt] = await stage.database.query(
      `select a.details from node_attempt a join node_run r on r.id = a.run_id
        where r.node_instance_id = $1 and a.number = 1`,
      [session.node],
    );
    // Not that no call came: the author is to look for what ends the process.
    expect(attempt).toEqual({ details: 'The process of the runner is gone: it ended (SIGABRT).' });
  });

  test('that writes without end does not fill the log', async () => {
    write(
      'loud.mjs',
      `${reportingModule}\nfor (let n = 0; n < 20_000; n += 1) console.log('noise', n, 'hrt_');\n`,
    );
    await publish('loud', { entrypoint: 'loud.mjs' });
    await work(await sessionOf('loud'), 'one');
    expect(host.log().match(/noise/g)?.length ?? 0).toBeLessThanOrEqual(300);
    await eventually('that is reported', () =>
      host.log().includes('the runner writes too much; output was dropped'),
    );
  });
});
