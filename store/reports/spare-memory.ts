/**
 * Bounds the memory of a long report. Its rows just outlive the young generation, and V8 would collect them only after
 * they fill hundreds of megabytes; while a report is written it collects when the heap has grown by a tenth (180 MiB
 * for the process, not 340). Only then, because it slows the transfer of bytes.
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

const sparingPercent = 10;
/** V8 chooses the limit. */
const usualPercent = 0;

// Once most objects of a place in the code have outlived a collection, V8 makes those of that place old from the start.
// A batch of rows does outlive one, and is garbage right after it: such rows cost a report half of its processor time.
setFlagsFromString('--no-allocation-site-pretenuring');

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

/** A collection, which takes some 50 ms, applies the new bound. */
function begin(): void {
  grow(sparingPercent);
  if (collect === undefined) {
    setFlagsFromString('--expose-gc');
    collect = runInNewContext('gc') as () => void;
  }
  collect();
}
