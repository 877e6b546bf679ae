import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const POLL_MILLISECONDS = 200;
const TURN_MILLISECONDS = 5_000;

/** When the process began, in clock ticks since the machine booted (Linux); undefined where that cannot be read. */
export function processStart(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
  } catch {
    return undefined;
  }
}

/** True while the very process that wrote `{pid, startTime}` lives; a reused pid has another start time. */
export function isSameProcess(owner) {
  if (!Number.isInteger(owner?.pid) || owner.pid <= 0) return false;
  try {
    process.kill(owner.pid, 0);
  } catch (error) {
    if (error.code !== 'EPERM') return false;
  }
  const start = processStart(owner.pid);
  return start === undefined || owner.startTime === undefined || start === owner.startTime;
}

function readOwner(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return undefined;
  }
}

/**
 * Runs `work` while this process holds `file`; waits for another live holder and takes over from a dead one.
 * `onWait` is called once with the holder's pid when it has to wait.
 */
export async function withFileLock(file, work, onWait) {
  mkdirSync(dirname(file), { recursive: true });
  const me = JSON.stringify({ pid: process.pid, startTime: processStart(process.pid) });
  let hasReported = false;
  for (;;) {
    try {
      writeFileSync(file, me, { flag: 'wx' });
      break;
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
    }
    const owner = readOwner(file);
    if (isDead(file, owner)) {
      if (removeDeadLock(file)) continue;
    } else if (!hasReported && owner !== undefined) {
      hasReported = true;
      onWait?.(owner.pid);
    }
    await sleep(POLL_MILLISECONDS);
  }
  try {
    return await work();
  } finally {
    rmSync(file, { force: true });
  }
}

/** A file without content is being written at this moment; one that stays so was left by a crash. */
function isDead(file, owner) {
  return owner === undefined ? ageMilliseconds(file) > TURN_MILLISECONDS : !isSameProcess(owner);
}

/**
 * Removes a lock whose holder is gone. Two processes may find the same dead holder at once; without the folder that
 * only one of them can make, the slower would remove the lock that the faster has just taken.
 */
function removeDeadLock(file) {
  const turn = `${file}.turn`;
  try {
    mkdirSync(turn);
  } catch {
    if (ageMilliseconds(turn) > TURN_MILLISECONDS) rmSync(turn, { recursive: true, force: true });
    return false;
  }
  try {
    if (isDead(file, readOwner(file))) rmSync(file, { force: true });
  } finally {
    rmSync(turn, { recursive: true, force: true });
  }
  return true;
}

function ageMilliseconds(path) {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat === undefined ? 0 : Date.now() - stat.mtimeMs;
}
