/** A JSON array of any length, made piece by piece as it is read. */
import { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';

const pieceCharacters = 16 * 1024;

/**
 * @param pages the items of the array, read page by page when the reader wants more
 * @param prepare called for each item; its result is written, an error breaks the stream
 */
export function jsonItems(
  pages: AsyncIterable<readonly unknown[]>,
  prepare: (item: unknown) => unknown,
): Readable {
  return Readable.from(pieces(pages, prepare), { objectMode: false, highWaterMark: pieceCharacters });
}

async function* pieces(
  pages: AsyncIterable<readonly unknown[]>,
  prepare: (item: unknown) => unknown,
): AsyncGenerator<string> {
  let text = '[';
  let before = '';
  for await (const page of pages) {
    for (const item of page) {
      text += before + JSON.stringify(prepare(item));
      before = ',';
      if (text.length < pieceCharacters) continue;
      yield text;
      text = '';
      // Even a fast reader must let other work run.
      await setImmediate();
    }
  }
  yield `${text}]`;
}
