import { expect, test } from 'vitest';
import { lookupWithin } from '../../../store/connection/reach.ts';
import {
  accessOf,
  createDataSource,
  type DataSourceRow,
  type DataSourceWrite,
  deleteDataSource,
  ensurePlatformDataSource,
  findDataSourceByName,
  updateDataSource,
} from '../../../store/objects/data-sources.ts';
import { objectSettings, openObjectStore } from '../../../store/objects/object-store.ts';
import { ObjectStores } from '../../../store/objects/object-stores.ts';
import { SecretBox, SecretUnreadable } from '../../../store/objects/secrets.ts';
import { databaseStage } from '../../support/databases.ts';

const { database, platform } = await databaseStage(2);
const secrets = new SecretBox('a key of the tests that is long enough');
const access = {
  endpoint: 'http://127.0.0.1:9',
  region: 'eu-1',
  bucket: 'b',
  prefix: 'p',
  forcePathStyle: true,
  accessKeyId: 'id',
  secretAccessKey: 'a secret ü',
};

function saved(write: DataSourceWrite): DataSourceRow {
  if (write.outcome !== 'saved') throw new Error(write.outcome);
  return write.dataSource;
}

test('a secret comes back under its key and purpose, and is different text each time', () => {
  const text = secrets.encrypt('s', 'one');
  expect(secrets.encrypt('s', 'one')).not.toBe(text);
  expect(secrets.decrypt(text, 'one')).toBe('s');
  expect(() => secrets.decrypt(text, 'two')).toThrow(SecretUnreadable);
  expect(() => new SecretBox('another key that is long enough').decrypt(text, 'one')).toThrow(
    SecretUnreadable,
  );
  for (const damaged of ['', 'v1.', 'v2.abc', `${text.slice(0, -2)}AA`, text.slice(0, 20)])
    expect(() => secrets.decrypt(damaged, 'one')).toThrow(SecretUnreadable);
  expect(() => new SecretBox('short')).toThrow();
});

test('no key of a data source is stored in clear', async () => {
  const row = saved(await createDataSource(database, secrets, 'lab', access));
  expect(JSON.stringify(row)).not.toContain('a secret');
  expect(accessOf(row, { ...access, bucket: 'platform' }, secrets)).toEqual(access);
});

test('a changed data source gets a new client, an unchanged one keeps its own', async () => {
  const stores = new ObjectStores(objectSettings.parse(platform.environment));
  const before = saved(await createDataSource(database, stores.secrets, 'changing', access));
  const store = stores.of(before);
  expect(stores.of((await findDataSourceByName(database, 'changing'))!)).toBe(store);
  const after = saved(await updateDataSource(database, stores.secrets, before, { ...access, bucket: 'c' }));
  expect(after.id).toBe(before.id);
  expect(stores.of(after)).not.toBe(store);
  stores.close();
});

test('a change is refused when another came first since the data source was read, or it is gone', async () => {
  const read = saved(await createDataSource(database, secrets, 'contended', access));
  const other = saved(await updateDataSource(database, secrets, read, { ...access, prefix: 'q' }));
  const late = await updateDataSource(database, secrets, read, { ...access, region: 'eu-2' });
  expect(late).toEqual({ outcome: 'changed' });
  expect(await findDataSourceByName(database, 'contended')).toMatchObject({ prefix: 'q', region: 'eu-1' });
  await deleteDataSource(database, 'contended');
  expect(await updateDataSource(database, secrets, other, access)).toEqual({ outcome: 'missing' });
});

test('the data source of the platform shows where the environment places it, without keys', async () => {
  const first = await ensurePlatformDataSource(database, access);
  expect(first).toMatchObject({
    name: 'platform',
    kind: 's3',
    bucket: 'b',
    accessKeyId: null,
    secretCiphertext: null,
  });
  expect((await ensurePlatformDataSource(database, access)).updatedAt).toEqual(first.updatedAt);
  const moved = await ensurePlatformDataSource(database, { ...access, bucket: 'c' });
  expect([moved.id, moved.bucket]).toEqual([first.id, 'c']);
  expect(accessOf(first, access, secrets).secretAccessKey).toBe('a secret ü');
});

test('a host name with an internal or link-local address counts as unknown, also when it changes later', async () => {
  const leadsTo = (addresses: readonly string[], isList: boolean, inside = false) =>
    new Promise<string>((resolve) => {
      const found = addresses.map((address) => ({ address, family: 4 }));
      const answering = lookupWithin({ inside }, (_host, _options, done) =>
        done(null, isList ? found : (addresses[0] ?? ''), 4),
      );
      answering('store.example.org', { all: isList }, (error, address) =>
        resolve(error === null ? JSON.stringify(address) : String(error.code)),
      );
    });
  for (const isList of [true, false]) {
    expect(await leadsTo(['169.254.169.254'], isList, true)).toBe('ENOTFOUND');
    for (const address of ['169.254.169.254', '10.1.2.3', '127.0.0.1', '::1', '::ffff:192.168.1.1'])
      expect(await leadsTo([address], isList)).toBe('ENOTFOUND');
    expect(await leadsTo(['10.1.2.3'], isList, true)).toContain('10.1.2.3');
    expect(await leadsTo(['203.0.113.7'], isList)).toContain('203.0.113.7');
  }
  expect(await leadsTo(['203.0.113.7', 'fe80::1'], true, true)).toBe('ENOTFOUND');
  expect(await leadsTo(['203.0.113.7', '172.20.0.1'], true)).toBe('ENOTFOUND');
});

test('the failure of a store says what it answered, also where the answer has no text', async () => {
  const reasons = {
    'answered with status 403': { secretAccessKey: 'not the one' },
    'answered with status 404': { bucket: 'no-such-bucket' },
    'did not answer': { endpoint: 'http://127.0.0.1:9' },
  };
  for (const [reason, wrong] of Object.entries(reasons)) {
    const store = openObjectStore({ ...platform.s3, prefix: '', forcePathStyle: true, ...wrong });
    await expect(store.probe()).rejects.toThrow(`The object store failed: it ${reason}.`);
    store.close();
  }
});
