/** JSON around a list of any length, made piece by piece as it is read. */
import { setImmediate } from 'node:timers/promises';

export const pieceCharacters = 16 * 1024;

/** An object around the list. */
export interface Around {
  /** The field of the list. */
  readonly field: string;
  /** The fields before it. */
  readonly before: object;
  /** The fields behind it; called once all items are written. */
  readonly after: () => object;
}

/**
 * @param pages the items of the list, read page by page when the reader wants more
 * @param prepare called for each item; its result is written, an error breaks the reply
 * @param around null: the list is the whole reply
 * @returns the last piece as the value that it returns, so that a short reply is known to be whole
 */
export async function* jsonPieces(
  pages: AsyncIterable<readonly unknown[]>,
  prepare: (item: unknown) => unknown,
  around: Around | null = null,
): AsyncGenerator<string, string, undefined> {
  let text = around === null ? '[' : `{${fieldsOf(around.before, '', ',')}${JSON.stringify(around.field)}:[`;
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
  return `${text}]${around === null ? '' : `${fieldsOf(around.after(), ',', '')}}`}`;
}

/** The fields of an object without its brackets; empty without any. */
function fieldsOf(object: object, before: string, behind: string): string {
  const fields = JSON.stringify(object).slice(1, -1);
  return fields === '' ? '' : before + fields + behind;
}

/** A begun reply with its rest. @param onPiece called with the length of each piece before it is sent */
export async function* wholeOf(
  first: IteratorYieldResult<string>,
  rest: AsyncGenerator<string, string, undefined>,
  onPiece: (characters: number) => void,
): AsyncGenerator<string, void, undefined> {
  let next: IteratorResult<string, string> = first;
  for (; next.done !== true; next = await rest.next()) {
    onPiece(next.value.length);
    yield next.value;
  }
  yield next.value;
}
