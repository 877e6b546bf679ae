/** Errors of the command line, and the exit codes of commands. */
import { ApiError } from '../client/errors.ts';

/** The exit codes for programs that call the command line. */
export const exitCodes = { ok: 0, failed: 1, wrongUse: 2 } as const;

/** The command got an invalid argument: it ends with the code for wrong use. */
export class UsageError extends Error {}

/** One line, and one more for each fault of a document, so that a person or a script can read them one by one. */
export function printError(error: unknown): void {
  const reason = (error instanceof Error ? error.message : String(error)).replaceAll(/\s*\n\s*/g, ' ');
  if (!(error instanceof ApiError)) return void console.error(reason);
  const request = error.requestId === null ? '' : `, request ${error.requestId}`;
  console.error(`${reason} (${error.status}${request})`);
  for (const { path, message } of error.issues) console.error(`  ${path}: ${message}`);
}
