import { limits } from './limits.ts';

/** The refusals of the runner routes: status, stable code and a sentence (contract: Errors). */
const refusals = {
  invalidRequest: [400, 'invalid_request', 'Invalid request.'],
  malformedJson: [400, 'invalid_request', 'The body is not valid JSON.'],
  checksumMismatch: [400, 'invalid_request', 'The body does not match the checksum sent with it.'],
  instanceHeaderMissing: [
    400,
    'instance_header_missing',
    'The header X-Platform-Runner-Instance is required: the instanceId of the claim.',
  ],
  invalidOutputIdentifier: [
    400,
    'invalid_output_identifier',
    'The output identifier must have 1 to 100 letters, digits, dots, underscores or hyphens, and hold no token.',
  ],
  invalidOutputMetadata: [
    400,
    'invalid_output_metadata',
    'The output metadata must be a JSON object of at most 4096 bytes, without fields that begin with $.',
  ],
  uploadIncomplete: [400, 'upload_incomplete', 'The upload has a gap between its parts.'],
  partTooSmall: [400, 'part_too_small', 'A part other than the last is below the minimum part size.'],
  unauthorized: [401, 'unauthorized', 'A valid bearer token is required.'],
  scopeMissing: [
    403,
    'scope_missing',
    'The runner token lacks the scope for this operation: claims and tasks need tasks, debug routes debug:read.',
  ],
  templateNotAllowed: [
    403,
    'template_not_allowed',
    'The token does not cover this node template. Ask whoami for those that it covers.',
  ],
  notFound: [404, 'not_found', 'Not found.'],
  taskNotFound: [
    404,
    'task_not_found',
    'Task not found: this token and instance do not hold it, or no longer. Stop its work and claim again.',
  ],
  inputNotFound: [404, 'input_not_found', 'Input not found.'],
  uploadNotFound: [404, 'upload_not_found', 'Upload not found.'],
  templateUnknown: [404, 'template_unknown', 'Node template not registered.'],
  methodNotAllowed: [405, 'method_not_allowed', 'Method not allowed.'],
  outputMissing: [
    409,
    'output_missing',
    'The run has written no output. Write one, or end with the outcome no-output.',
  ],
  taskFinished: [
    409,
    'task_finished',
    'The task has already ended in another way, and that end stands. Claim the next one.',
  ],
  watermarkRegression: [
    409,
    'watermark_regression',
    'The watermark may only move forward: this id is below it. The state of the task shows where it is.',
  ],
  watermarkUnknownInput: [
    409,
    'watermark_unknown_input',
    'The id is not an input of this task. Use the outputId of one that it lists.',
  ],
  bodyTooLarge: [413, 'body_too_large', 'The body is too large.'],
  outputTooLarge: [413, 'output_too_large', 'The output is too large for one request. Send it in parts.'],
  unsupportedMediaType: [415, 'unsupported_media_type', 'Unsupported media type.'],
  rangeNotSatisfiable: [416, 'range_not_satisfiable', 'The requested range cannot be served.'],
  internal: [500, 'internal', 'Internal server error.'],
  unavailable: [503, 'unavailable', 'Service unavailable. Please try again later.'],
} as const satisfies Record<string, readonly [number, string, string]>;

export type RefusalKey = keyof typeof refusals;

export interface RefusalOptions {
  /** Replaces the sentence of the catalogue. */
  readonly message?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Thrown when a call is refused; the server makes the common error body with `code` of it. */
export class Refusal extends Error {
  readonly status: number;
  readonly code: string;
  readonly headers: Readonly<Record<string, string>>;

  constructor(key: RefusalKey, options: RefusalOptions = {}) {
    const [status, code, message] = refusals[key];
    super(options.message ?? message);
    this.name = 'Refusal';
    this.status = status;
    this.code = code;
    this.headers = { ...(status === 401 ? { 'www-authenticate': 'Bearer' } : {}), ...options.headers };
  }
}

/** The body of a refusal. */
export function refusalBody(refusal: Refusal): Record<string, unknown> {
  return { status: 'error', code: refusal.code, message: refusal.message };
}

/** Longest bodies in bytes by kind. */
export const bodyLimits = {
  none: limits.jsonBodyBytes,
  json: limits.jsonBodyBytes,
  output: limits.outputBytes,
  part: limits.partMaxBytes,
} as const;

/** The refusal of a longer one. */
export function tooLarge(kind: keyof typeof bodyLimits): Refusal {
  const bytes = bodyLimits[kind];
  if (kind === 'output') return new Refusal('outputTooLarge');
  const message =
    kind === 'part'
      ? `A part must have at most ${bytes} bytes.`
      : `The body is too large: at most ${bytes} bytes are accepted.`;
  return new Refusal('bodyTooLarge', { message });
}
