/** Which host holds a deployed runner, and the credential of its process. */
import { randomBytes, randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { publishManifest } from '../../store/registry/node-templates.ts';
import {
  acquireProcesses,
  assignToken,
  isTokenGood,
  listDeployable,
  listProcesses,
  releaseProcesses,
  removeAbandoned,
  saveProcesses,
} from '../../store/runners/deployed-runners.ts';
import { databaseStage } from '../support/databases.ts';

const { database } = await databaseStage(6);

/** False: another host holds it. */
const acquire = async (host: string, plan: Parameters<typeof acquireProcesses>[2][number]) =>
  (await acquireProcesses(database, host, [plan])).length === 1;

async function publish(feature: string, runnerTypes: readonly object[], version = '1.0.0') {
  const manifest = {
    manifestVersion: 1,
    feature: { name: feature, version, ownershipType: 'ThirdParty' },
    runnerTypes,
    nodeTemplates: [],
  };
  const check = await publishManifest(database, manifest, { publishedBy: randomUUID(), entrypoints: null });
  expect(check.errors).toEqual([]);
}

/** A runner type that is to run. */
async function deployable(name: string) {
  await publish(name, [{ name, runtime: 'sdk', entrypoint: 'one.mjs' }]);
  return { runnerType: name, entrypoint: 'one.mjs', version: '1.0.0', number: 1 };
}

const value = () => ({ value: '', digest: randomBytes(32), hint: 'abcd' });
const running = { state: 'running', message: '', starts: 1 } as const;
const silence = (name: string) =>
  database.query(`update deployed_runner set held_until = clock_timestamp() where runner_type = $1`, [name]);

test('only a published runner type of runtime sdk with an entrypoint that is not retired is started', async () => {
  await publish('several', [
    { name: 'several-sdk', runtime: 'sdk', entrypoint: 'a.mjs' },
    { name: 'several-bare', runtime: 'sdk' },
    { name: 'several-outside', runtime: 'external' },
    { name: 'several-retired', runtime: 'sdk', entrypoint: 'a.mjs' },
  ]);
  await publish('several', [{ name: 'several-sdk', runtime: 'sdk', entrypoint: 'b.mjs' }], '1.1.0');
  const wanted = (await listDeployable(database)).filter((one) => one.runnerType.startsWith('several'));
  expect(wanted).toEqual([{ runnerType: 'several-sdk', entrypoint: 'b.mjs', version: '1.1.0' }]);
});

test('of many concurrent hosts one acquires a process', async () => {
  const plan = await deployable('raced');
  const hosts = Array.from({ length: 12 }, () => randomUUID());
  const taken = await Promise.all(hosts.map((host) => acquire(host, plan)));
  expect(taken.filter(Boolean)).toHaveLength(1);
  const keep = (host: string) => saveProcesses(database, host, [{ ...plan, ...running }]);
  const kept = await Promise.all(hosts.map(keep));
  expect(kept.map((keys) => keys.length === 1)).toEqual(taken);
  expect(await listProcesses(database)).toContainEqual({ runnerType: 'raced', number: 1 });
});

test('the token of a process is valid while its host reports it, and ends when another host replaces it', async () => {
  const plan = await deployable('renewed');
  const [first, second] = [randomUUID(), randomUUID()];
  await acquire(first, plan);
  const token = (await assignToken(database, first, plan, value()))!;
  expect(await assignToken(database, second, plan, value())).toBeUndefined();
  const remaining = async () => {
    const [row] = await database.query<{ minutes: number }>(
      `select extract(epoch from expires_at - clock_timestamp())::float8 / 60 as minutes from runner_token where id = $1`,
      [token],
    );
    return row!.minutes;
  };
  expect(await remaining()).toBeGreaterThan(59);
  await database.query(
    `update runner_token set expires_at = clock_timestamp() + interval '20 minutes' where id = $1`,
    [token],
  );
  await saveProcesses(database, first, [{ ...plan, ...running }]);
  expect(await remaining()).toBeGreaterThan(59);
  expect(await acquire(second, plan)).toBe(false);
  await silence('renewed');
  expect(await acquire(second, plan)).toBe(true);
  expect(await isTokenGood(database, token)).toBe(false);
  expect(await saveProcesses(database, first, [{ ...plan, ...running }])).toEqual([]);
  expect(await assignToken(database, first, plan, value())).toBeUndefined();
  const next = (await assignToken(database, second, plan, value()))!;
  await releaseProcesses(database, first, [plan]);
  expect(await isTokenGood(database, next)).toBe(true);
  await releaseProcesses(database, second, [plan]);
  expect(await isTokenGood(database, next)).toBe(false);
});

test('a host that was silent continues with the processes that no other host acquired', async () => {
  const plan = await deployable('patient');
  const host = randomUUID();
  await acquire(host, plan);
  await silence('patient');
  expect(await saveProcesses(database, host, [{ ...plan, ...running }])).toHaveLength(1);
  expect(await acquire(randomUUID(), plan)).toBe(false);
});

test('processes of a retired runner at a silent host are removed, with their tokens', async () => {
  const plan = await deployable('left');
  const host = randomUUID();
  await acquire(host, plan);
  const token = (await assignToken(database, host, plan, value()))!;
  await publish('left', [{ name: 'left-other', runtime: 'external' }], '1.1.0');
  expect(await acquire(randomUUID(), { ...plan, number: 2 })).toBe(false);
  await removeAbandoned(database, 1);
  expect(await isTokenGood(database, token)).toBe(true);
  await silence('left');
  await removeAbandoned(database, 1);
  expect(await isTokenGood(database, token)).toBe(false);
  expect(await saveProcesses(database, host, [{ ...plan, ...running }])).toEqual([]);
});
