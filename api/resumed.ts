/**
 * The whole of an iteration whose first step was made before: a handler that awaits it, before the head is sent, can still
 * answer a failure with its own status.
 */
export async function* resumed<Item>(
  first: IteratorResult<Item>,
  rest: AsyncIterable<Item>,
): AsyncGenerator<Item, void, undefined> {
  if (first.done !== true) yield first.value;
  yield* rest;
}
