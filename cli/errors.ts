/** What goes wrong on the command line, and the code that a command ends with. */

/** What a program that calls the command line goes by. */
export const exitCodes = { ok: 0, failed: 1, wrongUse: 2 } as const;

/** An answer other than the expected one; `message` is the platform's own. */
export class PlatformError extends Error {
  readonly status: number;
  /** Leads to the platform's log lines of the request. */
  readonly requestId: string | undefined;
  /** What is wrong with a document that was sent, and where. */
  readonly issues: readonly DocumentIssue[];
  /** How long the platform asks to wait before another try. */
  readonly retryAfterMs: number | undefined;

  constructor(status: number, message: string, more: MoreOfAnswer = {}) {
    super(message);
    this.status = status;
    this.requestId = more.requestId;
    this.issues = more.issues ?? [];
    this.retryAfterMs = more.retryAfterMs;
  }
}

export interface DocumentIssue {
  readonly path: string;
  readonly message: string;
}

interface MoreOfAnswer {
  readonly requestId?: string | undefined;
  readonly issues?: readonly DocumentIssue[];
  readonly retryAfterMs?: number | undefined;
}

/** The command was given something that it cannot take: it ends with the code for wrong use. */
export class UsageError extends Error {}

/** The platform was not reached, or the line broke: another try may succeed. */
export class ConnectionError extends Error {}

/** Whether the same request may succeed a little later. */
export function isPassing(error: unknown): boolean {
  if (error instanceof ConnectionError) return true;
  return (
    error instanceof PlatformError && (error.status >= 500 || error.status === 408 || error.status === 429)
  );
}

/** One line, and one more for each fault of a document, so that a person or a script can go through them. */
export function tell(error: unknown): void {
  const reason = (error instanceof Error ? error.message : String(error)).replaceAll(/\s*\n\s*/g, ' ');
  if (!(error instanceof PlatformError)) return void console.error(reason);
  const request = error.requestId === undefined ? '' : `, request ${error.requestId}`;
  console.error(`${reason} (${error.status}${request})`);
  for (const { path, message } of error.issues) console.error(`  ${path}: ${message}`);
}
