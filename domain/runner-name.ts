/** The names of runner types and node templates (decisions 10). */
import { quote } from './issue.ts';

export const runnerNames = { minCharacters: 2, maxCharacters: 64 } as const;

/** Lowercase latin letters, digits and single hyphens, beginning with a letter. */
export function isRunnerName(value: string): boolean {
  return (
    value.length >= runnerNames.minCharacters &&
    value.length <= runnerNames.maxCharacters &&
    /^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/.test(value)
  );
}

/** A name that nothing is registered by, in a message; what cannot be one is not repeated: it may be anything. */
export function quoteRunnerName(name: string): string {
  return isRunnerName(name) ? quote(name) : 'of that name';
}
