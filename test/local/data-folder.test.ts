/** The keys of a data folder. */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { lockDataFolder, makeDataFolder, readOrMakeKeys } from '../../local/data-folder.ts';

const folder = mkdtempSync(join(tmpdir(), 'sdp-keys-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('a folder of an earlier version gets the key of runner hosts at the next start, once, and keeps all others', () => {
  makeDataFolder(folder);
  const file = join(folder, 'keys.json');
  const { runnerHostKey, ...earlier } = readOrMakeKeys(folder);
  expect(runnerHostKey).toMatch(/^[0-9a-f]{64}$/);
  writeFileSync(file, JSON.stringify(earlier));
  const upgraded = readOrMakeKeys(folder);
  expect(upgraded).toEqual({ ...earlier, runnerHostKey: expect.stringMatching(/^[0-9a-f]{64}$/) });
  expect(readOrMakeKeys(folder)).toEqual(upgraded);
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(upgraded);
  expect(statSync(file).mode & 0o077).toBe(0);
  const { secretsKey, ...lacking } = upgraded;
  writeFileSync(file, JSON.stringify(lacking));
  expect(() => readOrMakeKeys(folder)).toThrow('has no "secretsKey"');
  rmSync(file);
  mkdirSync(file);
  expect(() => readOrMakeKeys(folder)).toThrow('cannot be read (EISDIR)');
});

test.each(['postgres.json', 'objects'])(
  'no keys are made for a folder that has data (%s) and has lost its own',
  (name) => {
    const lost = join(folder, `lost-${name}`);
    makeDataFolder(lost);
    mkdirSync(join(lost, name));
    expect(() => readOrMakeKeys(lost)).toThrow(`${join(lost, 'keys.json')} is missing`);
    expect(existsSync(join(lost, 'keys.json'))).toBe(false);
  },
);

test('a lock that another start is writing at this moment stays; one that was left empty is taken over', () => {
  makeDataFolder(join(folder, 'locked'));
  const file = join(folder, 'locked', 'lock');
  writeFileSync(file, '');
  expect(() => lockDataFolder(join(folder, 'locked'))).toThrow('another start is locking it');
  expect(readFileSync(file, 'utf8')).toBe('');
  const old = new Date(Date.now() - 60_000);
  utimesSync(file, old, old);
  const release = lockDataFolder(join(folder, 'locked'));
  expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ pid: process.pid });
  release();
  expect(existsSync(file)).toBe(false);
});
