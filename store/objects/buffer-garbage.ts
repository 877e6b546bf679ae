/**
 * Keeps the memory of passing bytes small. Each piece that a socket brings is memory of its own outside the JavaScript
 * heap, which holds only a tiny object for it. So nothing triggers the cheap collection of young objects; hundreds of
 * megabytes may wait for a full one, each of which costs as much as 30 MB of transfer. This module triggers the cheap
 * one whenever enough has gathered, and the full one whenever much has survived that: of many streams at once, pieces
 * grow old before they are sent.
 *
 * V8 counts these bytes when it decides on a full collection of its own. Left to itself it allows about 12 MB above what
 * the last one has left, which passing bytes reach again and again: downloads were three times slower for it.
 */
import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

const checkEveryMs = 4;
const collectAtBytes = 8 * 1024 * 1024;
const collectAllAtBytes = 32 * 1024 * 1024;
const afterStartMs = 5_000;
/** By how much memory may grow before V8 collects all on its own. */
const growthPercent = 50;

type Collect = (options: { type: 'minor' | 'major' }) => void;
let collect: Collect | undefined;
let streams = 0;
let timer: NodeJS.Timeout | undefined;
let minBytes = 0;
/** What was in use after the last full collection. */
let usedBytes = 0;

/** Call when bytes begin to flow; call the result, once, when they end. */
export function whileBytesFlow(): () => void {
  streams += 1;
  if (timer === undefined) {
    collect ??= exposeCollector();
    minBytes = getHeapStatistics().external_memory;
    usedBytes = minBytes;
    timer = setInterval(check, checkEveryMs).unref();
  }
  let isOpen = true;
  return () => {
    if (!isOpen) return;
    isOpen = false;
    streams -= 1;
    if (streams > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

/** Collects what the start of the process has left, some seconds after it: a process at rest would keep it. */
export function collectAfterStart(): void {
  collect ??= exposeCollector();
  setTimeout(() => collect?.({ type: 'major' }), afterStartMs).unref();
}

function check(): void {
  const bytes = getHeapStatistics().external_memory;
  minBytes = Math.min(minBytes, bytes);
  if (bytes - minBytes < collectAtBytes) return;
  collect?.({ type: 'minor' });
  // Memory that survives the collection is in use and does not count towards the next one.
  minBytes = getHeapStatistics().external_memory;
  usedBytes = Math.min(usedBytes, minBytes);
  if (minBytes - usedBytes < collectAllAtBytes) return;
  collect?.({ type: 'major' });
  minBytes = getHeapStatistics().external_memory;
  usedBytes = minBytes;
}

/** Once for the process, before the first bytes. */
function exposeCollector(): Collect {
  setFlagsFromString(`--heap-growing-percent=${growthPercent}`);
  setFlagsFromString('--expose-gc');
  return runInNewContext('gc') as Collect;
}
