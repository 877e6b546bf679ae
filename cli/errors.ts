/** Errors of the command line, and the exit codes of commands. */
import { ApiError, NetworkError } from '../client/errors.ts';

/** The exit codes for programs that call the command line. */
export const exitCodes = { ok: 0, failed: 1, wrongUse: 2 } as const;

/** The command got an invalid argument: it ends with the code for wrong use. */
export class UsageError extends Error {}

/**
 * One line, and one more for each fault of a document, so that a person or a script can read them one by one.
 * @param isJson one JSON document instead
 */
export function printError(error: unknown, isJson: boolean): void {
  if (isJson) return void console.error(JSON.stringify({ error: described(error) }));
  const reason = reasonOf(error).replaceAll(/\s*\n\s*/g, ' ');
  if (!(error instanceof ApiError)) return void console.error(reason);
  const request = error.requestId === null ? '' : `, request ${error.requestId}`;
  console.error(`${reason} (${error.status}${request})`);
  for (const { path, message } of error.issues) console.error(`  ${path}: ${message}`);
}

/** `status` is null when the platform did not refuse the call; then `code` is `usage` for wrong use, else empty. */
function described(error: unknown): object {
  const message = reasonOf(error);
  if (error instanceof ApiError) {
    const { status, code, requestId, issues } = error;
    return { status, code, message, requestId, ...(issues.length === 0 ? {} : { issues }) };
  }
  return { status: null, code: error instanceof UsageError ? 'usage' : '', message, requestId: null };
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const isUnknown = error instanceof NetworkError && error.isOutcomeUnknown;
  return isUnknown
    ? `${error.message} The call may have arrived: look whether it was done before you repeat the command.`
    : error.message;
}
