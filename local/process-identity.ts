import { readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * The process that a pid meant when it was written. A pid alone is not enough: the system reuses it for another process
 * later. `startTime` is in clock ticks since boot, so `bootId` is needed too; both are empty when the system does not
 * provide them.
 */
export interface ProcessIdentity {
  pid: number;
  startTime: string;
  bootId: string;
}

const POLL_MILLISECONDS = 50;

/** The identity of a process that lives now. */
export function identityOf(pid: number): ProcessIdentity {
  return { pid, startTime: startTimeOf(pid), bootId: bootId() };
}

/** True while exactly that process lives. A zombie does not count. */
export function isAlive(identity: ProcessIdentity): boolean {
  if (!Number.isInteger(identity.pid) || identity.pid <= 0) return false;
  try {
    process.kill(identity.pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false;
  }
  const stat = statFields(identity.pid);
  if (stat === undefined) return true;
  return stat.state !== 'Z' && stat.startTime === identity.startTime && identity.bootId === bootId();
}

function startTimeOf(pid: number): string {
  return statFields(pid)?.startTime ?? '';
}

function statFields(pid: number): { state: string; startTime: string } | undefined {
  const text = readQuietly(`/proc/${pid}/stat`);
  if (text === undefined) return undefined;
  // The name in parentheses may hold blanks and parentheses itself, so the fields are counted after the last one.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return { state: fields[0] ?? '', startTime: fields[19] ?? '' };
}

function bootId(): string {
  return readQuietly('/proc/sys/kernel/random/boot_id')?.trim() ?? '';
}

function readQuietly(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

/** True when the process runs the program of that file name and its command line holds `mark` (a path of ours). */
export function runsProgram(pid: number, programName: string, mark: string): boolean {
  try {
    // A program replaced on disk while it runs is shown as "... (deleted)".
    const executable = basename(readlinkSync(`/proc/${pid}/exe`)).replace(/ \(deleted\)$/, '');
    return executable === programName && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(mark);
  } catch {
    return false;
  }
}

/** The note on a child, from which a later start can identify it with certainty and end it. */
export interface ChildNote extends ProcessIdentity {
  name: string;
  programName: string;
  /** A path that only this child has in its command line. */
  mark: string;
  stopSignal: NodeJS.Signals;
  stopSeconds: number;
}

/** Writes the note on a child that this process has just started. */
export function writeChildNote(
  file: string,
  pid: number,
  note: Omit<ChildNote, keyof ProcessIdentity>,
): void {
  writeFileSync(file, `${JSON.stringify({ ...identityOf(pid), ...note })}\n`, { mode: 0o600 });
}

/** The identity in a pid or lock file; undefined when there is none or it cannot be read. */
export function readIdentity(file: string): ProcessIdentity | undefined {
  const { pid, startTime, bootId: boot } = readObject(file);
  if (typeof pid !== 'number' || typeof startTime !== 'string' || typeof boot !== 'string') return undefined;
  return { pid, startTime, bootId: boot };
}

function readObject(file: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(readFileSync(file, 'utf8'));
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

/**
 * Ends the child that an earlier start left behind when it was killed, and waits until it is gone. A process that may
 * be another one is left alone. Returns the name of the child that was ended.
 */
export async function endOrphan(noteFile: string): Promise<string | undefined> {
  const identity = readIdentity(noteFile);
  if (identity === undefined) return undefined;
  const note = readObject(noteFile) as unknown as ChildNote;
  const isOurs = isAlive(identity) && runsProgram(identity.pid, note.programName, note.mark);
  if (isOurs) await endProcess(identity, note.stopSignal, note.stopSeconds);
  rmSync(noteFile, { force: true });
  return isOurs ? note.name : undefined;
}

/** Asks a process to end, ends it by force after `stopSeconds`, and resolves when it is gone. */
export async function endProcess(
  identity: ProcessIdentity,
  stopSignal: NodeJS.Signals,
  stopSeconds: number,
): Promise<void> {
  signalQuietly(identity.pid, stopSignal);
  // A stopped process handles no signal but these two.
  signalQuietly(identity.pid, 'SIGCONT');
  const deadline = Date.now() + stopSeconds * 1000;
  while (isAlive(identity)) {
    if (Date.now() > deadline) signalQuietly(identity.pid, 'SIGKILL');
    await sleep(POLL_MILLISECONDS);
  }
}

function signalQuietly(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It ended in between.
  }
}
