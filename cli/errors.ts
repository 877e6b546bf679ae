/** Errors of the command line, and the exit codes of commands. */
import { ApiError, NetworkError } from '../client/errors.ts';
import { refusedTokenMessage } from '../client/messages.ts';
import { singleLine } from './output.ts';

/** The exit codes for programs that call the command line. */
export const exitCodes = { ok: 0, failed: 1, wrongUse: 2 } as const;

/** The command got an invalid argument: it ends with the code for wrong use. */
export class UsageError extends Error {}

/**
 * One line, and one more for each fault of a document, so that a person or a script can read them one by one.
 * @param isJson one JSON document instead
 * @param tokenRemedy what a person does when the platform refuses the token of the call
 */
export function printError(error: unknown, isJson: boolean, tokenRemedy?: string): void {
  if (isJson) return void console.error(JSON.stringify({ error: described(error) }));
  const reason = singleLine(reasonOf(error).replaceAll(/\s*\n\s*/g, ' '));
  if (!(error instanceof ApiError)) return void console.error(reason);
  const request = error.requestId === null ? '' : `, request ${error.requestId}`;
  console.error(`${reason} (${error.status}${request})`);
  for (const { path, message } of error.issues) console.error(`  ${singleLine(`${path}: ${message}`)}`);
  // A token that may not do this is refused with 401 too, in other words.
  if (tokenRemedy !== undefined && error.message === refusedTokenMessage) console.error(tokenRemedy);
}

/** `status` is null when the platform did not refuse the call; `code` is never empty. */
function described(error: unknown): object {
  const message = reasonOf(error);
  if (error instanceof ApiError) {
    const { status, requestId, issues } = error;
    const code = error.code || codeOf(status);
    return { status, code, message, requestId, ...(issues.length === 0 ? {} : { issues }) };
  }
  return { status: null, code: ownCodeOf(error), message, requestId: null };
}

/** Only the runner routes send codes: in the answers of the others the status says as much. */
const codes: Readonly<Record<number, string>> = {
  400: 'invalid_request',
  401: 'unauthorized',
  403: 'forbidden',
  404: 'not_found',
  405: 'method_not_allowed',
  408: 'request_timeout',
  409: 'conflict',
  412: 'precondition_failed',
  413: 'body_too_large',
  415: 'unsupported_media_type',
  416: 'range_not_satisfiable',
  422: 'idempotency_key_reused',
  423: 'locked',
  429: 'too_many_requests',
  431: 'headers_too_large',
  460: 'checksum_mismatch',
  500: 'internal',
};

const codeOf = (status: number) => codes[status] ?? (status >= 500 ? 'unavailable' : 'refused');

function ownCodeOf(error: unknown): string {
  if (error instanceof UsageError) return 'usage';
  return error instanceof NetworkError ? 'unreachable' : 'failed';
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const isUnknown = error instanceof NetworkError && error.isOutcomeUnknown;
  return isUnknown
    ? `${error.message} The call may have arrived: look whether it was done before you repeat the command.`
    : error.message;
}
