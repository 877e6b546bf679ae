/**
 * A fault that the person at the keyboard can fix. Its message is one or more whole sentences and is shown without a
 * stack.
 */
export class PlainError extends Error {
  override readonly name = 'PlainError';
}
