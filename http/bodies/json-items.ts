/** A JSON array of any length, made piece by piece as its reader takes it. */
import { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';

const pieceCharacters = 16 * 1024;

/**
 * @param pages what the array holds, asked for page by page when the reader wants more
 * @param prepare called for each item; what it returns is written, what it throws breaks the stream
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
      // However fast the reader is, others have their turn.
      await setImmediate();
    }
  }
  yield `${text}]`;
}
