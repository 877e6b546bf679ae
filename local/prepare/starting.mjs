import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isSameProcess, processStart } from './file-lock.mjs';
import { cacheRoot, checkout } from './places.mjs';
import { say } from './progress.mjs';

const POLL_MILLISECONDS = 200;

/** The data folder that a command without further settings uses. */
export function dataFolder() {
  return resolve(process.env.DATA_DIR || join(checkout, '.data'));
}

/** Outside the data folder: a first start makes that folder only after it has installed and built everything. */
function markFile(dataDir) {
  const name = createHash('sha256').update(dataDir).digest('hex').slice(0, 16);
  return join(cacheRoot(), 'starts', `${name}.json`);
}

/** Marks that this process starts the platform on the folder, from its first step until it ends. */
export function markStarting(dataDir) {
  if (isStarting(dataDir)) return;
  const file = markFile(dataDir);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, JSON.stringify({ pid: process.pid, startTime: processStart(process.pid) }));
  process.on('exit', () => rmSync(file, { force: true }));
}

/** Whether a start on the folder is under way or done. A mark whose process has ended was left by a kill. */
export function isStarting(dataDir) {
  try {
    return isSameProcess(JSON.parse(readFileSync(markFile(dataDir), 'utf8')));
  } catch {
    return false;
  }
}

/**
 * Waits until a start on the folder is ready: the API answers a moment before the address file is written.
 * Returns at once when it is ready, or when nothing is starting.
 */
export async function waitForStart(dataDir) {
  let isReported = false;
  while (!existsSync(join(dataDir, 'running.json')) && isStarting(dataDir)) {
    if (!isReported) say('Waiting until `npm start` is ready ...');
    isReported = true;
    await sleep(POLL_MILLISECONDS);
  }
}
