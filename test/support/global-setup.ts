import { chmodSync, mkdtempSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
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
  const dataDir = temporaryDataFolder();
  const stack = await startStack({ dataDir, log: (line) => console.error(line), temporary: true });
  project.provide('stackEnvironment', stack.environment);
  project.provide('stackFolder', dataDir);
  project.provide('isStackShared', false);
  return async () => {
    await stack.stop();
    await removeData(dataDir);
  };
}

/** A new empty data folder; PostgreSQL's user can pass it when the tests run as root. */
export function temporaryDataFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), FOLDER_PREFIX));
  if (process.getuid?.() === 0) chmodSync(folder, 0o711);
  return folder;
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
    await removeData(folder).catch(() => undefined);
  }
}

/** A younger one may belong to a test run that has not acquired its lock yet. */
function isOlderThanAMinute(folder: string): boolean {
  const made = statSync(folder, { throwIfNoEntry: false })?.birthtimeMs;
  return made !== undefined && Date.now() - made > 60_000;
}
