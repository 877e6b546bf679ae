/** Processor time of the platform's parts, which shows their load even on a machine with other work. */
import { readdirSync, readFileSync } from 'node:fs';
import type { BenchPlatform } from './platform.ts';

const ticksPerSecond = 100;

/** Seconds used so far, by part. */
export function cpuSeconds(platform: BenchPlatform): Record<string, number> {
  const { stack } = platform;
  return {
    api: secondsOf(platform.pids('api')),
    worker: secondsOf(platform.pids('worker')),
    postgres: secondsOf(familyOf(stack.postgres?.pid ?? 0)),
    temporal: secondsOf([stack.temporal?.pid ?? 0]),
    s3: secondsOf([stack.objectStore?.pid ?? 0]),
    bench: process.cpuUsage().user / 1e6 + process.cpuUsage().system / 1e6,
  };
}

/** What was used since `before`, in milliseconds for each of `count` operations. */
export function printCpu(platform: BenchPlatform, before: Record<string, number>, count: number): void {
  const after = cpuSeconds(platform);
  const each = Object.entries(after).map(
    ([part, seconds]) => `${part} ${(((seconds - (before[part] ?? 0)) * 1_000) / count).toFixed(2)}`,
  );
  console.log(`    processor ms each: ${each.join('  ')}`);
}

/** Seconds of processes, each with its children; 0 for one that is gone. */
export const secondsWithChildren = (pids: readonly number[]) => secondsOf(pids.flatMap(familyOf));

/** PostgreSQL serves each connection by a separate process; those that have ended count with their parent. */
function familyOf(pid: number): number[] {
  const children = readdirSync('/proc').filter(
    (name) => /^\d+$/.test(name) && parentOf(Number(name)) === pid,
  );
  return [pid, ...children.map(Number)];
}

function parentOf(pid: number): number {
  return Number(fieldsOf(pid)?.[1] ?? -1);
}

function secondsOf(pids: readonly number[]): number {
  let ticks = 0;
  for (const pid of pids) {
    const fields = fieldsOf(pid);
    if (fields) ticks += Number(fields[11]) + Number(fields[12]) + Number(fields[13]) + Number(fields[14]);
  }
  return ticks / ticksPerSecond;
}

/** The fields of /proc/<pid>/stat after the command's name. */
function fieldsOf(pid: number): string[] | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return text.slice(text.lastIndexOf(')') + 2).split(' ');
  } catch {
    return undefined;
  }
}
