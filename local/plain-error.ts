import type { FatalLog } from '../telemetry/unexpected.ts';

/**
 * A fault that the person at the keyboard can fix. Its message is one or more whole sentences and is shown without a
 * stack.
 */
export class PlainError extends Error {
  override readonly name = 'PlainError';
}

/** Shows an unexpected end to the person at the keyboard. */
export const fatalSentences: FatalLog = {
  fatal(facts, message) {
    const { err } = facts as { readonly err?: unknown };
    if (err instanceof PlainError) console.error(err.message);
    else console.error(message, err);
  },
};
