/**
 * Keeps the memory of a long report flat. Its rows outlive the nursery by a little, and what is left of them would be
 * looked through when it fills hundreds of megabytes; while a report is written it is when the heap has grown by a
 * quarter (180 MiB for the process, not 340). Not at all times: bytes that pass through would be slowed.
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

const sparingPercent = 25;
/** V8 decides by itself. */
const usualPercent = 0;

let written = 0;
let collect: (() => void) | undefined;

export async function* sparingMemory<Item>(items: AsyncIterable<Item>): AsyncGenerator<Item> {
  written += 1;
  if (written === 1) begin();
  try {
    yield* items;
  } finally {
    written -= 1;
    if (written === 0) grow(usualPercent);
  }
}

function grow(percent: number): void {
  setFlagsFromString(`--heap-growing-percent=${percent}`);
}

/** The bound is set anew by a collection, which takes some 50 ms. */
function begin(): void {
  grow(sparingPercent);
  if (collect === undefined) {
    setFlagsFromString('--expose-gc');
    collect = runInNewContext('gc') as () => void;
  }
  collect();
}
