/** Work for the rows of a list, a few at a time: what a person does meanwhile need not wait for all of it. */

const maxAtOnce = 4;
let running = 0;
/** Each takes the turn of one that has ended. */
const waiting: (() => void)[] = [];

/** Work that is no longer needed when it is its turn is not begun. */
export async function inTurn<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
  if (running < maxAtOnce) running += 1;
  else await new Promise<void>((resolve) => waiting.push(resolve));
  try {
    signal.throwIfAborted();
    return await work();
  } finally {
    const next = waiting.shift();
    if (next === undefined) running -= 1;
    else next();
  }
}
