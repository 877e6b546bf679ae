import { writeFileSync } from 'node:fs';

const everyMs = 10_000;

/** A file that is there as soon as the process works, and written anew as long as its event loop turns. */
export function touchRegularly(file: string): void {
  const write = () => writeFileSync(file, `${process.pid}\n`);
  write();
  setInterval(write, everyMs).unref();
}
