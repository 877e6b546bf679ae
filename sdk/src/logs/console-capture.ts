/** Copies what the code of a run prints into the log of that run; it is printed all the same. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { format } from 'node:util';
import type { RunLogLevel } from './log-entry.ts';

export type StreamName = 'stdout' | 'stderr';

/** Receives what one run prints. */
export interface Captured {
  printed(level: RunLogLevel, text: string): void;
  wrote(stream: StreamName, chunk: string | Uint8Array): void;
}

const context = new AsyncLocalStorage<Captured | undefined>();
const levels = { debug: 'debug', log: 'info', info: 'info', warn: 'warning', error: 'error' } as const;
let isInstalled = false;
/** While the console prints: its streams must not copy the same text again. */
let isPrinting = false;

/** Does work whose prints belong to a run, also those of what it starts and does not wait for. */
export function captured<T>(run: Captured, work: () => T): T {
  install();
  return context.run(run, work);
}

/** Does work whose prints belong to no run. */
export function uncaptured<T>(work: () => T): T {
  return context.run(undefined, work);
}

/** Once in a process: outside of runs everything prints as before. */
function install(): void {
  if (isInstalled) return;
  isInstalled = true;
  for (const name of Object.keys(levels) as (keyof typeof levels)[]) {
    const print = console[name];
    console[name] = (...values: unknown[]) => {
      const run = isPrinting ? undefined : context.getStore();
      if (run === undefined) return Reflect.apply(print, console, values);
      run.printed(levels[name], format(...values));
      isPrinting = true;
      try {
        Reflect.apply(print, console, values);
      } finally {
        isPrinting = false;
      }
    };
  }
  for (const name of ['stdout', 'stderr'] as const) {
    const stream = process[name];
    const write = stream.write;
    const copied = (...values: [string | Uint8Array]) => {
      const run = isPrinting ? undefined : context.getStore();
      const [chunk] = values;
      run?.wrote(name, chunk);
      return Reflect.apply(write, stream, values);
    };
    stream.write = copied;
  }
}
