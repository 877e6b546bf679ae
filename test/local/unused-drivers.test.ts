import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';

const file = new URL('../../local/prepare/unused-drivers.mjs', import.meta.url);
const { removeUnusedDrivers }: Drivers = await import(file.href);
interface Drivers {
  readonly removeUnusedDrivers: (module: string, folder: string) => boolean;
}
const gateway = 'github.com/versity/versitygw';
const main = 'cmd/versitygw/main.go';
const commands = (names: readonly string[]) =>
  `package main\n\nvar commands = []*cli.Command{\n${names.map((name) => `\t\t${name}Command(),\n`).join('')}}\n`;

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sdp-drivers-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function write(name: string, text: string): string {
  const path = join(folder, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  return path;
}

test('a driver is taken out of the list of commands with its file, once', () => {
  const path = write(main, commands(['posix', 'azure', 'admin', 'test']));
  const azure = write('cmd/versitygw/azure.go', 'package main\n');
  expect(removeUnusedDrivers('go.temporal.io/server', folder)).toBe(false);
  expect(removeUnusedDrivers(gateway, folder)).toBe(true);
  expect(readFileSync(path, 'utf8')).toBe(commands(['posix', 'admin']));
  expect(existsSync(azure)).toBe(false);
  expect(removeUnusedDrivers(gateway, folder)).toBe(false);
});

test('files that may only be read, as Go leaves them, are changed by a person who is not root', () => {
  const path = write(main, commands(['posix', 'azure', 'test']));
  chmodSync(path, 0o444);
  const program = join(folder, 'unused-drivers.mjs');
  copyFileSync(file, program);
  const identity = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
  for (const place of [folder, dirname(path), path])
    if (identity.uid !== undefined) chownSync(place, identity.uid, identity.gid);
  const call = `import { removeUnusedDrivers } from ${JSON.stringify(program)};
    removeUnusedDrivers(${JSON.stringify(gateway)}, ${JSON.stringify(folder)});`;
  execFileSync(process.execPath, ['--input-type=module', '-e', call], identity);
  expect(readFileSync(path, 'utf8')).toBe(commands(['posix']));
});

test('a version of a server that reads otherwise stays as it is', () => {
  const path = write(main, commands(['posix', 's3']));
  const azure = write('cmd/versitygw/azure.go', 'package main\n');
  expect(removeUnusedDrivers(gateway, folder)).toBe(false);
  expect(readFileSync(path, 'utf8')).toBe(commands(['posix', 's3']));
  expect(existsSync(azure)).toBe(true);
});
