import { utimesSync, writeFileSync } from 'node:fs';
import { SettingsError } from '../domain/settings.ts';

/**
 * A file that exists as soon as the process works, and becomes new again as long as its event loop runs.
 * @throws SettingsError if it cannot be written at first
 */
export function touchRegularly(file: string, everyMs = 10_000): void {
  try {
    writeFileSync(file, `${process.pid}\n`);
  } catch (error) {
    throw new SettingsError([`READY_FILE: ${file} cannot be written: ${(error as Error).message}`]);
  }
  setInterval(() => renew(file), everyMs).unref();
}

/** A new time needs no room on a disk that is full. */
function renew(file: string): void {
  const now = new Date();
  try {
    utimesSync(file, now, now);
  } catch {
    try {
      writeFileSync(file, `${process.pid}\n`);
    } catch {
      // The age of the file shows it; the work goes on.
    }
  }
}
