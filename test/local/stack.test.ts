import { type ChildProcess, spawn } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { DeleteObjectCommand, GetObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import pg from 'pg';
import { afterAll, expect, inject, onTestFinished, test, vi } from 'vitest';
import { rememberedPorts } from '../../local/ports.ts';
import { isAlive, type ProcessIdentity, readIdentity } from '../../local/process-identity.ts';
import { removeData, type Stack, type StackOptions, startStack } from '../../local/stack.ts';
import { s3Client } from '../support/bucket.ts';
import { temporaryDataFolder } from '../support/global-setup.ts';

const runStack = fileURLToPath(new URL('../../local/run-stack.ts', import.meta.url));
const isRoot = process.getuid?.() === 0;
const folders: string[] = [];

afterAll(async () => {
  await Promise.all(folders.map(removeData));
});

function newFolder(): string {
  const folder = temporaryDataFolder();
  folders.push(folder);
  return folder;
}

async function start(dataDir: string, options: Partial<StackOptions> = {}): Promise<Stack> {
  const stack = await startStack({ dataDir, log: () => undefined, temporary: true, ...options });
  onTestFinished(() => stack.stop());
  return stack;
}

async function query(url: string, statement: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(statement)).rows;
  } finally {
    await client.end();
  }
}

function serversOf(dataDir: string): ProcessIdentity[] {
  const folder = join(dataDir, 'run');
  return readdirSync(folder)
    .map((name) => readIdentity(join(folder, name)))
    .filter((identity) => identity !== undefined);
}

async function startedElsewhere(
  dataDir: string,
): Promise<{ child: ChildProcess; environment: Record<string, string> }> {
  const file = join(dataDir, 'environment.json');
  rmSync(file, { force: true });
  const child = spawn(process.execPath, [runStack, '--data-dir', dataDir], { stdio: 'ignore' });
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  await vi.waitUntil(() => existsSync(file), { timeout: 100_000 });
  return { child, environment: JSON.parse(readFileSync(file, 'utf8')) as Record<string, string> };
}

async function killed(child: ChildProcess): Promise<void> {
  const gone = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGKILL');
  await gone;
}

async function putObject(environment: Record<string, string>, key: string): Promise<void> {
  const s3 = s3Client(environment);
  await s3.send(new PutObjectCommand({ Bucket: environment.S3_BUCKET, Key: key, Body: `bytes of ${key}` }));
  s3.destroy();
}

async function readObject(environment: Record<string, string>, key: string): Promise<string | undefined> {
  const s3 = s3Client(environment);
  const { Body } = await s3.send(new GetObjectCommand({ Bucket: environment.S3_BUCKET, Key: key }));
  const text = await Body?.transformToString();
  s3.destroy();
  return text;
}

async function deleteObject(environment: Record<string, string>, key: string): Promise<void> {
  const s3 = s3Client(environment);
  await s3.send(new DeleteObjectCommand({ Bucket: environment.S3_BUCKET, Key: key }));
  s3.destroy();
}

/** A port that another program has taken meanwhile is replaced. */
const withoutPorts = (environment: Record<string, string>) =>
  Object.fromEntries(
    Object.entries(environment).map(([name, value]) => [name, value.replace(/(127\.0\.0\.1):\d+/, '$1')]),
  );

test('what was stored survives kill -9 of the start and of everything, and no process of an earlier start is left', async () => {
  const dataDir = newFolder();
  const first = await startedElsewhere(dataDir);
  await query(first.environment.DATABASE_URL ?? '', 'CREATE TABLE kept AS SELECT 42 AS answer');
  await putObject(first.environment, 'outputs/kept');
  const orphans = serversOf(dataDir);
  expect(orphans).toHaveLength(3);
  await killed(first.child);
  expect(orphans.filter(isAlive)).toHaveLength(3);

  // The servers outlived their start: the next one ends exactly them and starts its own.
  const second = await startedElsewhere(dataDir);
  expect(orphans.filter(isAlive)).toEqual([]);
  const servers = serversOf(dataDir);
  await killed(second.child);
  for (const { pid } of servers) process.kill(pid, 'SIGKILL');

  const third = await start(dataDir);
  expect(withoutPorts(third.environment)).toEqual(withoutPorts(first.environment));
  expect(await query(third.environment.DATABASE_URL ?? '', 'SELECT answer FROM kept')).toEqual([
    { answer: 42 },
  ]);
  expect(await readObject(third.environment, 'outputs/kept')).toBe('bytes of outputs/kept');
  const last = serversOf(dataDir);
  await third.stop();
  expect(last.filter(isAlive)).toEqual([]);
});

test.skipIf(!isRoot)("a copy of a data folder that has become root's serves what was stored", async () => {
  const [dataDir, copy] = [newFolder(), newFolder()];
  const before = await start(dataDir);
  const url = before.environment.DATABASE_URL!;
  await query(url, 'create table kept (word text); insert into kept values ($$stays$$)');
  await before.stop();
  cpSync(dataDir, copy, { recursive: true });
  expect(statSync(join(copy, 'postgres', 'data')).uid).toBe(0);
  const { environment } = await start(copy);
  expect(await query(environment.DATABASE_URL!, 'select word from kept')).toEqual([{ word: 'stays' }]);
});

test('one data folder serves one start at a time, and the refusal names the other start and the remedy', async () => {
  const dataDir = newFolder();
  const stack = await start(dataDir, { external: externalServers() });
  const refusal = `The data folder ${dataDir} is in use by another start (process ${process.pid}).`;
  await expect(startStack({ dataDir, log: () => undefined })).rejects.toThrow(refusal);
  await stack.stop();
  await (await start(dataDir, { external: externalServers() })).stop();
});

test('a port in use is reported before any server is started', async () => {
  const blocker = createServer();
  await new Promise<void>((resolve) => blocker.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    blocker.close();
  });
  const { port } = blocker.address() as { port: number };
  const dataDir = newFolder();
  const { databaseUrl: _embedded, ...external } = externalServers();
  const attempt = startStack({ dataDir, log: () => undefined, external, ports: { postgres: port } });
  await expect(attempt).rejects.toThrow(`POSTGRES_PORT: port ${port} is in use by another program.`);
  expect(serversOf(dataDir)).toEqual([]);
});

test("the caller's own servers replace embedded ones", async () => {
  const external = externalServers();
  const dataDir = newFolder();
  const stack = await start(dataDir, { external });
  expect(stack.environment).toMatchObject({
    DATABASE_URL: external.databaseUrl,
    TEMPORAL_ADDRESS: external.temporalAddress,
    S3_ENDPOINT: external.objectStore.endpoint,
    S3_BUCKET: external.objectStore.bucket,
  });
  expect(stack).toMatchObject({ postgres: undefined, temporal: undefined, objectStore: undefined });
  expect(serversOf(dataDir)).toEqual([]);
});

test('a database is migrated while the other servers start; a failure of that ends the start and all servers', async () => {
  const dataDir = newFolder();
  let answered: Record<string, unknown>[] = [];
  const attempt = startStack({
    dataDir,
    log: () => undefined,
    temporary: true,
    async onDatabase({ environment, roles }) {
      expect(environment.TOKEN_KEY).not.toBe('');
      answered = await query(roles?.owner ?? '', 'SELECT current_user AS "user"');
      throw new Error('not migrated');
    },
  });
  await expect(attempt).rejects.toThrow('not migrated');
  expect(answered).toEqual([{ user: 'sdp_migrate' }]);
  expect(serversOf(dataDir).filter(isAlive)).toEqual([]);
});

test('what needs no Temporal starts while Temporal does, knows its address, and ends the start when it fails', async () => {
  const dataDir = newFolder();
  let address: string | undefined;
  const attempt = startStack({
    dataDir,
    log: () => undefined,
    temporary: true,
    async onStorage({ environment }) {
      address = environment.TEMPORAL_ADDRESS;
      expect(await query(environment.DATABASE_URL ?? '', 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
      await putObject(environment, 'outputs/early');
      throw new Error('no API');
    },
  });
  await expect(attempt).rejects.toThrow('no API');
  expect(address).toBe(`127.0.0.1:${rememberedPorts(dataDir).temporal}`);
  expect(serversOf(dataDir).filter(isAlive)).toEqual([]);
});

test("a caller's database that does not answer is named with its fault", async () => {
  const external = { ...externalServers(), databaseUrl: 'postgresql://nobody@127.0.0.1:1/none' };
  const attempt = startStack({ dataDir: newFolder(), log: () => undefined, external });
  await expect(attempt).rejects.toThrow(/^DATABASE_URL: the database does not answer: .*ECONNREFUSED/);
});

test('a server that dies is restarted at the same address; Temporal can be wiped', async () => {
  const stack = await start(newFolder());
  const { postgres, temporal, objectStore } = stack;
  const before = [postgres?.pid, temporal?.pid, objectStore?.pid];
  for (const part of [postgres, temporal, objectStore]) part?.kill('SIGKILL');
  await Promise.all([postgres, temporal, objectStore].map((part) => part?.untilReady()));
  const after = [postgres?.pid, temporal?.pid, objectStore?.pid];
  expect(after.every((pid, index) => pid !== undefined && pid !== before[index])).toBe(true);
  expect(await query(stack.environment.DATABASE_URL ?? '', 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  await putObject(stack.environment, 'outputs/again');
  await deleteObject(stack.environment, 'outputs/again');
  await temporal?.wipe();
  const page = await fetch(`${stack.environment.TEMPORAL_UI_URL}/api/v1/namespaces/default`);
  expect(page.status).toBe(200);
  // A server that was stopped on purpose stays stopped.
  await temporal?.stop();
  expect(temporal?.pid).toBeUndefined();
});

test.runIf(isRoot)(
  'as root, data below a private folder work too: the database lies where its user can reach it',
  async () => {
    const home = newFolder();
    const dataDir = join(home, 'private', 'data');
    mkdirSync(join(home, 'private'), { mode: 0o700 });
    const { databaseUrl: _embedded, ...external } = externalServers();
    const stack = await start(dataDir, { external });
    const { folder } = JSON.parse(readFileSync(join(dataDir, 'postgres.json'), 'utf8')) as { folder: string };
    expect(folder.startsWith(home)).toBe(false);
    expect(await query(stack.environment.DATABASE_URL ?? '', 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    await stack.stop();
    await removeData(dataDir);
    expect(existsSync(folder)).toBe(false);
  },
);

test.skipIf(!isRoot)('a copy that names the database folder of a running start leaves it alone', async () => {
  const [home, copy] = [newFolder(), newFolder()];
  const dataDir = join(home, 'private', 'data');
  mkdirSync(join(home, 'private'), { mode: 0o700 });
  const { child, environment } = await startedElsewhere(dataDir);
  for (const file of ['keys.json', 'postgres.json']) cpSync(join(dataDir, file), join(copy, file));
  await expect(startStack({ dataDir: copy, log: () => undefined })).rejects.toThrow(
    /postgres\.json names the database folder .*, which another start uses \(process \d+\)/,
  );
  expect(await query(environment.DATABASE_URL ?? '', 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  await killed(child);
  await removeData(dataDir);
});

/** The servers of this test run, as external servers. */
function externalServers() {
  const environment = inject('stackEnvironment');
  const value = (name: string) => environment[name] ?? '';
  return {
    databaseUrl: value('DATABASE_URL'),
    temporalAddress: value('TEMPORAL_ADDRESS'),
    objectStore: {
      endpoint: value('S3_ENDPOINT'),
      region: value('S3_REGION'),
      bucket: value('S3_BUCKET'),
      accessKeyId: value('S3_ACCESS_KEY_ID'),
      secretAccessKey: value('S3_SECRET_ACCESS_KEY'),
    },
  };
}
