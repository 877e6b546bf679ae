import {
  accessSync,
  chmodSync,
  constants,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statfsSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { makeDataFolder, readOrMakeKeys } from '../../local/data-folder.ts';
import { removeData, startStack } from '../../local/stack.ts';
import { dropAbandonedDatabases } from './template.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** How to reach the servers of this test run. */
    stackEnvironment: Record<string, string>;
    /** The servers' data folder. */
    stackFolder: string;
    /** True when other test runs use the same servers, so that everything made must be removed again. */
    isStackShared: boolean;
  }
}

const FOLDER_PREFIX = 'sdp-test-';
const MEMORY = '/dev/shm';
/** Several times what the databases of a test run need. */
const MEMORY_BYTES = 8 * 1024 ** 3;
const isRoot = process.getuid?.() === 0;

/** Gives every test file one set of real servers: those of TEST_STACK_DIR, else new ones in a temporary folder. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const shared = process.env.TEST_STACK_DIR;
  if (shared !== undefined && shared !== '') {
    const environment = sharedEnvironment(shared);
    await dropAbandonedDatabases(environment);
    project.provide('stackEnvironment', environment);
    project.provide('stackFolder', shared);
    project.provide('isStackShared', true);
    return async () => undefined;
  }
  await removeAbandonedStacks();
  const dataDir = temporaryServersFolder();
  const stack = await startStack({ dataDir, log: (line) => console.error(line), temporary: true });
  project.provide('stackEnvironment', stack.environment);
  project.provide('stackFolder', dataDir);
  project.provide('isStackShared', false);
  return async () => {
    await stack.stop();
    await removeServersFolder(dataDir);
  };
}

/** A new empty data folder; PostgreSQL's user can pass it when the tests run as root. */
export function temporaryDataFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), FOLDER_PREFIX));
  if (isRoot) chmodSync(folder, 0o711);
  return folder;
}

/**
 * A new data folder for servers, whose database is in memory where there is room. Each test file makes and drops a
 * database, and with its 300 files a disk's file system takes up to a fifth of the suite's processor time.
 */
export function temporaryServersFolder(): string {
  const dataDir = temporaryDataFolder();
  if (!hasRoomInMemory()) return dataDir;
  makeDataFolder(dataDir);
  readOrMakeKeys(dataDir);
  const folder = memoryFolderOf(dataDir);
  mkdirSync(folder);
  // PostgreSQL's user makes its folder there.
  if (isRoot) chmodSync(folder, 0o777);
  writeFileSync(join(dataDir, 'postgres.json'), JSON.stringify({ folder }));
  return dataDir;
}

/** Removes a folder of `temporaryServersFolder`. Throws while a live process holds it. */
export async function removeServersFolder(dataDir: string): Promise<void> {
  await removeData(dataDir);
  rmSync(memoryFolderOf(dataDir), { recursive: true, force: true });
}

const memoryFolderOf = (dataDir: string) => join(MEMORY, basename(dataDir));

function hasRoomInMemory(): boolean {
  try {
    const { bavail, bsize } = statfsSync(MEMORY);
    accessSync(MEMORY, constants.W_OK);
    return Math.min(bavail * bsize, process.availableMemory()) >= MEMORY_BYTES;
  } catch {
    return false;
  }
}

function sharedEnvironment(folder: string): Record<string, string> {
  const file = join(folder, 'environment.json');
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Record<string, string>;
  } catch {
    throw new Error(
      `TEST_STACK_DIR: ${file} is not there. Start it by: node local/bootstrap.mjs stack --data-dir ${folder}`,
    );
  }
}

/** A test run that was killed outright leaves servers and a folder; the next one removes them. */
async function removeAbandonedStacks(): Promise<void> {
  for (const name of readdirSync(tmpdir())) {
    const folder = join(tmpdir(), name);
    if (!name.startsWith(FOLDER_PREFIX) || !isOlderThanAMinute(folder)) continue;
    // Refused while its own test run lives.
    await removeServersFolder(folder).catch(() => undefined);
  }
}

/** A younger one may belong to a test run that has not acquired its lock yet. */
function isOlderThanAMinute(folder: string): boolean {
  const made = statSync(folder, { throwIfNoEntry: false })?.birthtimeMs;
  return made !== undefined && Date.now() - made > 60_000;
}
