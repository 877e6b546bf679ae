/** Memory of processes, as Linux reports it. */
import { readFileSync, writeFileSync } from 'node:fs';

/** Makes the kernel forget the largest size so far (Linux; elsewhere the figure is that of the whole run). */
export function forgetPeak(pid: number): void {
  try {
    writeFileSync(`/proc/${pid}/clear_refs`, '5');
  } catch {}
}

export function memoryMebibytes(pid: number, field: 'VmHWM' | 'VmRSS'): number {
  const line = readFileSync(`/proc/${pid}/status`, 'utf8').match(new RegExp(`${field}:\\s+(\\d+) kB`));
  return Math.round(Number(line?.[1] ?? 0) / 1024);
}
