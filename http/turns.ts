/**
 * Lets calls that can wait go one after the other, with a pause after each that is as long as its work took: however many
 * they are, they take about half of the process's time at most, and all other calls are served between them.
 */
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';

/** Below this a pause by the clock would be longer than the work. */
const minPauseMs = 1;

const waiting: (() => void)[] = [];
let isServing = false;

/** Resolves when no other such call is at work; first come, first served. */
export function ownTurn(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    if (!isServing) void serveTurns();
  });
}

async function serveTurns(): Promise<void> {
  isServing = true;
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    const startedAtMs = performance.now();
    next();
    // What the call does without waiting is done when the event loop turns.
    await nextTurn();
    const tookMs = performance.now() - startedAtMs;
    if (tookMs >= minPauseMs) await sleep(tookMs);
  }
  isServing = false;
}

const sliceMs = 20;

/**
 * A pause for work of many small steps, to be awaited between them: a turn of its own after every 20 ms of work.
 */
export function slices(): () => Promise<void> {
  let sinceMs = performance.now();
  return async () => {
    if (performance.now() - sinceMs < sliceMs) return;
    await ownTurn();
    sinceMs = performance.now();
  };
}
