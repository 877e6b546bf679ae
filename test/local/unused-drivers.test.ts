import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';

const file = new URL('../../local/prepare/unused-drivers.mjs', import.meta.url);
const { modulesWithDrivers, removeUnusedDrivers }: Drivers = await import(file.href);
interface Drivers {
  readonly modulesWithDrivers: readonly string[];
  readonly removeUnusedDrivers: (folderOf: (module: string) => string) => boolean;
}
const main = 'cmd/versitygw/main.go';
const commands = (names: readonly string[]) =>
  `package main\n\nvar commands = []*cli.Command{\n${names.map((name) => `\t\t${name}Command(),\n`).join('')}}\n`;

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sdp-drivers-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function write(module: string, name: string, text: string): string {
  const path = join(folder, module, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  return path;
}

const remove = () => removeUnusedDrivers((module) => join(folder, module));

test('a driver is taken out of the list of commands with its file, once', () => {
  const path = write('github.com/versity/versitygw', main, commands(['posix', 'azure', 'admin', 'test']));
  const azure = write('github.com/versity/versitygw', 'cmd/versitygw/azure.go', 'package main\n');
  expect(remove()).toBe(true);
  expect(readFileSync(path, 'utf8')).toBe(commands(['posix', 'admin']));
  expect(existsSync(azure)).toBe(false);
  expect(remove()).toBe(false);
});

test('a version of a server that reads otherwise stays as it is', () => {
  const written = modulesWithDrivers.map((module) => write(module, main, commands(['posix', 's3'])));
  const azure = write('github.com/versity/versitygw', 'cmd/versitygw/azure.go', 'package main\n');
  expect(remove()).toBe(false);
  for (const path of written) expect(readFileSync(path, 'utf8')).toBe(commands(['posix', 's3']));
  expect(existsSync(azure)).toBe(true);
});
