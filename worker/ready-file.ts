import { writeFileSync } from 'node:fs';

const everyMs = 10_000;

/** A file that exists as soon as the process works, and is rewritten as long as its event loop runs. */
export function touchRegularly(file: string): void {
  const write = () => writeFileSync(file, `${process.pid}\n`);
  write();
  setInterval(write, everyMs).unref();
}
