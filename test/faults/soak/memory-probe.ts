/**
 * Loaded into a process under test by `--import`: answers over a socket what the process holds after its garbage
 * is collected. SOAK_PROBE is the socket's path; the process needs `--expose-gc`. `GET /snapshot` writes a heap snapshot.
 */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { setImmediate as turn } from 'node:timers/promises';
import { writeHeapSnapshot } from 'node:v8';

const kibibyte = 1024;

/** In bytes, except the number of collections. */
export interface HeldMemory {
  readonly heapUsed: number;
  readonly external: number;
  readonly rss: number;
  readonly collections: number;
}

/** Collects until that frees nothing more: what one collection finalises, the next one frees. */
async function settle(): Promise<HeldMemory> {
  let held = Number.POSITIVE_INFINITY;
  for (let collections = 1; ; collections += 1) {
    globalThis.gc?.();
    await turn();
    const { heapUsed, external } = process.memoryUsage();
    if (heapUsed + external > held - 256 * kibibyte || collections === 20)
      return { heapUsed, external, rss: residentBytes(), collections };
    held = heapUsed + external;
  }
}

function residentBytes(): number {
  const [, text] = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? [];
  return Number(text) * kibibyte;
}

const path = process.env.SOAK_PROBE;
// Threads and children of the process load this file too; the socket is the process's own.
delete process.env.SOAK_PROBE;
if (path !== undefined)
  createServer(async (request, response) => {
    const held = await settle();
    if (request.url !== '/snapshot') return response.end(JSON.stringify(held));
    return response.end(JSON.stringify({ ...held, file: writeHeapSnapshot() }));
  })
    .listen(path)
    .unref();
