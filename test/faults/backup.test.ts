/** A base backup of a running platform and a later copy of the bucket are restored to an empty platform. */
import { execFile } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import {
  GetObjectCommand,
  HeadObjectCommand,
  PutObjectCommand,
  paginateListObjectsV2,
} from '@aws-sdk/client-s3';
import pg from 'pg';
import { afterAll, expect, test } from 'vitest';
import { removeData, type Stack, startStack } from '../../local/stack.ts';
import { Database } from '../../store/connection/database.ts';
import { findOrphans } from '../../store/objects/orphans.ts';
import { RecordingClient } from '../activities/recording-session.ts';
import { startTestApi } from '../support/api.ts';
import { makeBucket, s3Client } from '../support/bucket.ts';
import { temporaryDataFolder } from '../support/global-setup.ts';
import { testWorkflows } from '../support/workflows.ts';
import { faultWorld } from './fault-world.ts';
import { HttpRunner, outsideChain } from './http-runner.ts';
import { expectNothingOpen, graphEnds } from './soak/graph-facts.ts';

const { platform, temporal, database, api, client } = await faultWorld({ ownStack: true });
const source = platform.stack!;
const target = temporaryDataFolder();
let restored: Stack | undefined;
afterAll(async () => {
  await restored?.stop();
  await removeData(target);
});

const run = promisify(execFile);
/** PostgreSQL's own folder below a data folder. */
const postgresFolder = (dataDir: string) => {
  const { folder } = JSON.parse(readFileSync(join(dataDir, 'postgres.json'), 'utf8')) as { folder: string };
  return resolve(dataDir, folder);
};

/** Files that are removed during the copy are restored by the write-ahead log. */
async function copyWhileItChanges(from: string, to: string): Promise<void> {
  await run('cp', ['-a', from, to]).catch((error: { stderr: string }) => {
    const others = error.stderr
      .split('\n')
      .filter((line) => line !== '' && !/No such file or directory/.test(line));
    if (others.length > 0) throw error;
  });
}

/** PostgreSQL's low-level base backup, as the manual has it; the folder's owner must be the one who starts it again. */
async function baseBackup(data: string, to: string, meanwhile: () => Promise<void>): Promise<void> {
  const backup = new pg.Client(platform.databaseUrl);
  await backup.connect();
  try {
    await backup.query(`select pg_backup_start('test', fast => true)`);
    for (const name of readdirSync(data)) {
      if (/^(postmaster\.(pid|opts)|pg_wal|pg_replslot)$/.test(name)) continue;
      await copyWhileItChanges(join(data, name), to);
    }
    await meanwhile();
    const { rows } = await backup.query('select labelfile from pg_backup_stop(wait_for_archive => false)');
    writeFileSync(join(to, 'backup_label'), rows[0].labelfile);
  } finally {
    await backup.end();
  }
  // What was written from the beginning to the end of the copy.
  await copyWhileItChanges(join(data, 'pg_wal'), to);
  mkdirSync(join(to, 'pg_replslot'), { mode: 0o700 });
  const { uid, gid } = statSync(data);
  for (const name of ['backup_label', 'pg_replslot']) chownSync(join(to, name), uid, gid);
}

async function copyBucket(to: Record<string, string>): Promise<void> {
  const Bucket = platform.s3.bucket;
  const [from, into] = [s3Client(platform.environment), s3Client(to)];
  for await (const page of paginateListObjectsV2({ client: from }, { Bucket })) {
    for (const { Key = '' } of page.Contents ?? []) {
      const { Body } = await from.send(new GetObjectCommand({ Bucket, Key }));
      await into.send(
        new PutObjectCommand({ Bucket, Key, Body: (await Body?.transformToByteArray()) ?? '' }),
      );
    }
  }
  from.destroy();
  into.destroy();
}

test('nothing acknowledged before the end of the backup is lost, and unfinished runs continue to their end', async () => {
  const workers = await Promise.all([temporal.startWorker('workflows'), temporal.startWorker('builtin')]);
  const csv = 'time,speed\n0,1\n1,2\n';
  const runner = new HttpRunner(api.url, client.token);
  const ended = await client.newSession();
  await ended.upload({ identifier: 'one.csv', bytes: csv });
  await ended.settled();
  const held = await outsideChain(database, 2);
  await runner.upload(held.nodes.input!, 'one');
  const task = await runner.acquire(held.template);
  // From here on no worker runs built-in nodes, so that a graph is open.
  await workers[1]!.stop();
  const open = await client.newSession();
  await open.upload({ identifier: 'one.csv', bytes: csv });

  const busy = await outsideChain(database, 1);
  const acknowledged: { id: number; text: string }[] = [];
  let isOver = false;
  const load = (async () => {
    while (!isOver) {
      const text = `a\n${acknowledged.length}\n`;
      const sent = await runner.upload(busy.nodes.input!, `upload-${acknowledged.length}`, text);
      expect(sent.status).toBe(201);
      acknowledged.push({ id: sent.body.id, text });
    }
  })();
  const data = join(postgresFolder(source.dataDir), 'data');
  const folder = join(target, 'postgres');
  const owner = statSync(data);
  mkdirSync(join(folder, 'data'), { recursive: true, mode: 0o700 });
  for (const path of [folder, join(folder, 'data')]) {
    chownSync(path, owner.uid, owner.gid);
    chmodSync(path, 0o700);
  }
  let before = 0;
  await baseBackup(data, join(folder, 'data'), async () => {
    before = acknowledged.length;
  });
  expect(before).toBeGreaterThan(0);

  // An empty installation with the old keys: a new object store, and an empty Temporal.
  copyFileSync(join(source.dataDir, 'keys.json'), join(target, 'keys.json'));
  writeFileSync(join(target, 'postgres.json'), JSON.stringify({ folder: 'postgres' }));
  restored = await startStack({ dataDir: target, log: () => undefined, temporary: true });
  await makeBucket(restored.environment, platform.s3.bucket);
  await copyBucket(restored.environment);
  isOver = true;
  await load;
  await workers[0]!.stop();

  const databaseUrl = new URL(restored.environment.DATABASE_URL!);
  databaseUrl.pathname = new URL(platform.databaseUrl).pathname;
  const environment = {
    ...platform.environment,
    ...restored.environment,
    DATABASE_URL: databaseUrl.href,
    S3_BUCKET: platform.s3.bucket,
  };
  const [restoredApi, restoredDatabase, restoredTemporal] = await Promise.all([
    startTestApi(environment),
    Database.open({ databaseUrl: databaseUrl.href, poolSize: 4 }),
    testWorkflows(environment),
  ]);
  try {
    expect((await restoredTemporal.operator.workflow.count()).count).toBe(0);
    // Passwords and tokens from before the backup.
    const again = await RecordingClient.signIn(restoredApi.url, platform.administrator);
    for (const { id, text } of acknowledged.slice(0, before)) {
      const read = await fetch(`${restoredApi.url}/api/v2/node-instance/outputs/${id}/data`, {
        headers: { authorization: `Bearer ${client.token}` },
      });
      expect([read.status, await read.text()]).toEqual([200, text]);
    }
    await restoredTemporal.startWorker('all');
    // As if the healer's pauses were over.
    await restoredDatabase.query(
      `update node_run set queue_time = queue_time - interval '1 minute' where state <> 'done'`,
    );
    runner.url = restoredApi.url;
    await runner.finish(task);
    await runner.work(held.template);
    await graphEnds(restoredDatabase, held.sessionId, 3);
    open.movedTo(again);
    expect((await open.settled()).map(({ state }) => state)).toEqual(Array(3).fill('Succeeded'));
    await expectNothingOpen(restoredDatabase, open.id);
    ended.movedTo(again);
    expect((await ended.progress()).map(({ state }) => state)).toEqual(Array(3).fill('Succeeded'));

    const rows = await restoredDatabase.query<{ key: string }>(
      'select distinct object_key as key from node_output',
    );
    const bucket = s3Client(environment);
    for (const { key } of rows)
      await bucket.send(new HeadObjectCommand({ Bucket: platform.s3.bucket, Key: key }));
    bucket.destroy();
    // Objects of uploads after the backup: nothing refers to them, and retention can find them.
    const { objects } = restoredApi.composed.services;
    let [after, count]: [string | null, number] = [null, 0];
    do {
      const page = await findOrphans(restoredDatabase, objects, {
        after,
        olderThanSeconds: -60,
        remove: null,
      });
      [after, count] = [page.next, count + page.orphans];
    } while (after !== null);
    expect(count).toBeGreaterThan(0);
  } finally {
    await restoredTemporal.stop();
    await restoredApi.stop();
    await restoredDatabase.close();
  }
});
