/**
 * The closed catalogue of what the platform may answer when it refuses (contract: Errors; decisions 2 and 9). Nothing
 * else reaches a caller: a thrown `Problem` becomes its entry's status and text, anything else becomes `internal`.
 * `code` is sent by runner routes alone; texts without a full stop are so in the contract.
 */
export type CatalogueEntry = { readonly status: number; readonly code: string; readonly message: string };

const entry = <S extends number, C extends string>(status: S, code: C, message: string) =>
  ({ status, code, message }) as const;

export const catalogue = {
  // 400
  invalidRequest: entry(400, 'invalid_request', 'Invalid request.'),
  malformedJson: entry(400, 'invalid_request', 'The body is not valid JSON.'),
  malformedRequest: entry(400, 'invalid_request', 'The request is malformed.'),
  invalidProjectData: entry(400, 'invalid_request', 'Invalid project data.'),
  invalidSessionRequest: entry(
    400,
    'invalid_request',
    'Invalid session request. ProjectId and TemplateId are required.',
  ),
  invalidSessionEmail: entry(400, 'invalid_request', 'Invalid session request. Email is not valid.'),
  invalidSessionData: entry(400, 'invalid_request', 'Invalid session data'),
  invalidScenario: entry(400, 'invalid_request', 'Invalid request. Scenarion name is required.'),
  invalidConfigurationName: entry(400, 'invalid_request', 'Invalid configuration name'),
  invalidConfigurationNameOnUpdate: entry(400, 'invalid_request', 'Invalid configuration name.'),
  invalidConfigurationValue: entry(400, 'invalid_request', 'Invalid configuration value.'),
  invalidTemplate: entry(400, 'invalid_request', 'The template definition is not valid.'),
  invalidManifest: entry(400, 'invalid_request', 'The manifest is not valid.'),
  sessionFrozen: entry(400, 'invalid_request', 'Session is frozen.'),
  nodeHasNoInputs: entry(400, 'invalid_request', 'Node has no inputs.'),
  reprocessInputUnknown: entry(400, 'invalid_request', 'An output is not an input of the node.'),
  invalidNodeConfiguration: entry(400, 'invalid_request', 'Invalid node configuration JSON.'),
  missingDataSourceName: entry(400, 'invalid_request', 'Missing DataSourceName in node configuration.'),
  invalidIngest: entry(400, 'invalid_request', 'Invalid ingest data.'),
  configurationRefused: entry(
    400,
    'invalid_request',
    'The configuration does not match the schema of the node template.',
  ),
  tooManyWebhooks: entry(400, 'too_many_webhooks', 'An installation has at most 100 webhooks.'),
  concurrencyNameAmbiguous: entry(
    400,
    'ambiguous_name',
    'A node template and a runner type have this name. Say which is meant by kind.',
  ),
  concurrencyOfBuiltin: entry(400, 'built_in', 'Nodes that no runner runs have no limit.'),
  tooManyReportSchedules: entry(
    400,
    'too_many_report_schedules',
    'An installation has at most 200 report schedules.',
  ),
  webhookDisabled: entry(400, 'webhook_disabled', 'The webhook is disabled. Enable it first.'),
  tooManyScenarios: entry(400, 'too_many_scenarios', 'A session has at most 10000 scenario instances.'),
  tooManyAnnotations: entry(400, 'too_many_annotations', 'A session has at most 10000 annotations.'),
  tooManySessionViews: entry(400, 'too_many_views', 'A person saves at most 200 views.'),
  tooManyLayouts: entry(
    400,
    'too_many_layouts',
    'A person has at most 100 layouts, and others see at most 1000.',
  ),
  wrongPassword: entry(400, 'invalid_request', 'The current password is wrong.'),
  dataSourceUnreachable: entry(400, 'invalid_request', 'The data source cannot be reached.'),
  checksumMismatch: entry(400, 'invalid_request', 'The body does not match the checksum sent with it.'),
  invalidOutputIdentifier: entry(
    400,
    'invalid_output_identifier',
    'The output identifier must have 1 to 100 letters, digits, dots, underscores or hyphens, and hold no token.',
  ),
  invalidOutputMetadata: entry(
    400,
    'invalid_output_metadata',
    'The output metadata must be a JSON object of at most 4096 bytes, without fields that begin with $.',
  ),
  instanceHeaderMissing: entry(
    400,
    'instance_header_missing',
    'The header X-Platform-Runner-Instance is required: the instanceId of the claim.',
  ),
  invalidIdempotencyKey: entry(
    400,
    'invalid_request',
    'Idempotency-Key must hold 1 to 255 visible characters, in double quotes or bare.',
  ),
  uploadIncomplete: entry(400, 'upload_incomplete', 'The upload has a gap between its parts.'),
  partTooSmall: entry(400, 'part_too_small', 'A part other than the last is below the minimum part size.'),
  // 401
  unauthorized: entry(401, 'unauthorized', 'A valid bearer token is required.'),
  roleUnauthorized: entry(401, 'unauthorized', 'The token does not allow this operation.'),
  passwordChangeRequired: entry(
    401,
    'unauthorized',
    'The password must be changed before this account can be used.',
  ),
  ingestSecretRequired: entry(401, 'unauthorized', 'A valid ingest secret is required.'),
  invalidCredentials: entry(401, 'unauthorized', 'Invalid username or password.'),
  // 403
  forbidden: entry(403, 'forbidden', 'The role of this account does not allow this operation.'),
  offlineTokenRefused: entry(
    403,
    'offline_token_refused',
    'Offline tokens are not accepted for this operation.',
  ),
  notAParticipant: entry(403, 'forbidden', 'The caller is not a participant of this session.'),
  sessionViewOfAnother: entry(403, 'forbidden', 'Only its owner or an Administrator changes this view.'),
  scopeMissing: entry(
    403,
    'scope_missing',
    'The runner token lacks the scope for this operation: claims and tasks need tasks, debug routes debug:read.',
  ),
  notTheUploader: entry(403, 'forbidden', 'Only the caller who began the upload may continue it.'),
  templateNotAllowed: entry(
    403,
    'template_not_allowed',
    'The token does not cover this node template. Ask whoami for those that it covers.',
  ),
  // 404
  notFound: entry(404, 'not_found', 'Not found.'),
  projectNotFound: entry(404, 'not_found', 'Project not found.'),
  projectNotFoundOnRead: entry(404, 'not_found', 'Project not found'),
  sessionNotFound: entry(404, 'not_found', 'Session not found.'),
  sessionNotFoundOnUpdate: entry(404, 'not_found', 'Session not found'),
  sessionIdNotFound: entry(404, 'not_found', 'SessionId not found.'),
  sessionTemplateNotFound: entry(404, 'not_found', 'Session template not found.'),
  sessionTemplateVersionNotFound: entry(404, 'not_found', 'Session template version not found.'),
  nodeInstanceNotFound: entry(404, 'not_found', 'Node instance not found.'),
  nodeInstanceOrOutputsNotFound: entry(404, 'not_found', 'Node instance or outputs not found.'),
  nodeOutputNotFound: entry(404, 'not_found', 'Node output not found.'),
  downloadAddressNotFound: entry(404, 'not_found', 'Nothing is at this download address, or it has expired.'),
  latestOutputNotFound: entry(404, 'not_found', 'Node instance not found, or it has no output yet.'),
  dataSourceNotFound: entry(404, 'not_found', 'Data source not found.'),
  concurrencyNameNotFound: entry(404, 'not_found', 'No node template or runner type has this name.'),
  webhookNotFound: entry(404, 'not_found', 'Webhook not found.'),
  webhookDeliveryNotFound: entry(404, 'not_found', 'Webhook delivery not found.'),
  ingestNotFound: entry(404, 'not_found', 'Ingest not found.'),
  dimensionNotFound: entry(404, 'not_found', 'Dimension not found.'),
  staticNotFound: entry(404, 'not_found', 'System dashboard not found.'),
  configurationNotFound: entry(404, 'not_found', 'Configuration not found'),
  layoutNotFound: entry(404, 'not_found', 'Layout not found.'),
  reportScheduleNotFound: entry(404, 'not_found', 'Report schedule not found.'),
  reportFileNotFound: entry(404, 'not_found', 'Report file not found.'),
  reportNotFound: entry(404, 'not_found', 'Report not found.'),
  tokenNotFound: entry(404, 'not_found', 'Token not found.'),
  userNotFound: entry(404, 'not_found', 'User not found.'),
  taskNotFound: entry(
    404,
    'task_not_found',
    'Task not found: this token and instance do not hold it, or no longer. Stop its work and claim again.',
  ),
  inputNotFound: entry(404, 'input_not_found', 'Input not found.'),
  uploadNotFound: entry(404, 'upload_not_found', 'Upload not found.'),
  nodeNotFound: entry(404, 'node_not_found', 'Node not found.'),
  sessionViewNotFound: entry(404, 'not_found', 'View not found.'),
  annotationNotFound: entry(404, 'not_found', 'Annotation not found.'),
  nodeRunNotFound: entry(404, 'not_found', 'Run not found.'),
  runnerNotFound: entry(404, 'not_found', 'Runner not found.'),
  templateUnknown: entry(404, 'template_unknown', 'Node template not registered.'),
  // 405 to 460
  methodNotAllowed: entry(405, 'method_not_allowed', 'Method not allowed.'),
  requestTimeout: entry(408, 'request_timeout', 'The request did not arrive in time.'),
  conflict: entry(409, 'conflict', 'The request conflicts with the stored state.'),
  templateExists: entry(409, 'conflict', 'A session template with the same name already exists.'),
  configurationExists: entry(409, 'conflict', 'Configuration with the same name already exists.'),
  dataSourceExists: entry(409, 'conflict', 'A data source with the same name already exists.'),
  dataSourceInUse: entry(409, 'conflict', 'The data source is used by outputs.'),
  platformDataSource: entry(
    409,
    'conflict',
    "The data source 'platform' belongs to the installation and cannot be changed or deleted.",
  ),
  ingestExists: entry(409, 'conflict', 'An ingest with the same URL path already exists.'),
  staticExists: entry(409, 'conflict', 'A system dashboard with the same code already exists.'),
  reportExists: entry(409, 'conflict', 'A report with the same key or configuration key already exists.'),
  usernameTaken: entry(409, 'conflict', 'A user with the same username or email already exists.'),
  lastAdministrator: entry(409, 'conflict', 'The last active Administrator cannot be removed.'),
  nodeRunOpen: entry(409, 'conflict', 'The run is still open. Wait for its end, or cancel it.'),
  nodeRunNotFailed: entry(409, 'conflict', 'Only a failed or cancelled run can be retried.'),
  nodeRunSuperseded: entry(409, 'conflict', 'A later run of the node has replaced this one.'),
  nodeRunNotClaimed: entry(409, 'conflict', 'The run, or the attempt, was never claimed.'),
  nodeRunEnded: entry(409, 'conflict', 'The run has already ended.'),
  nodeConfigurationRefused: entry(
    409,
    'conflict',
    'The node configuration does not match the schema of its node template.',
  ),
  templateNotAdoptable: entry(409, 'conflict', 'The session cannot adopt the session template.'),
  outputMissing: entry(
    409,
    'output_missing',
    'The run has written no output. Write one, or end with the outcome no-output.',
  ),
  taskFinished: entry(
    409,
    'task_finished',
    'The task has already ended in another way, and that end stands. Claim the next one.',
  ),
  watermarkRegression: entry(
    409,
    'watermark_regression',
    'The watermark may only move forward: this id is below it. The state of the task shows where it is.',
  ),
  watermarkUnknownInput: entry(
    409,
    'watermark_unknown_input',
    'The id is not an input of this task. Use the outputId of one that it lists.',
  ),
  idempotencyKeyBusy: entry(409, 'conflict', 'A request with this Idempotency-Key is under way.'),
  idempotencyKeySpent: entry(
    409,
    'conflict',
    'The request with this Idempotency-Key was done, and its secret was shown once.',
  ),
  uploadOffsetDiffers: entry(409, 'conflict', 'The upload is at another offset. Ask for it with HEAD.'),
  tusVersionMissing: entry(412, 'precondition_failed', 'The header Tus-Resumable must be 1.0.0.'),
  configurationOvertaken: entry(
    412,
    'precondition_failed',
    'Another change of the configuration came between.',
  ),
  layoutOvertaken: entry(412, 'precondition_failed', 'Another change of the layout came between.'),
  reportOvertaken: entry(412, 'precondition_failed', 'Another change of the report came between.'),
  bodyTooLarge: entry(413, 'body_too_large', 'The body is too large.'),
  outputTooLarge: entry(
    413,
    'output_too_large',
    'The output is too large for one request. Send it in parts.',
  ),
  unsupportedMediaType: entry(415, 'unsupported_media_type', 'Unsupported media type.'),
  compressedBody: entry(415, 'unsupported_media_type', 'Compressed JSON bodies are not accepted.'),
  rangeNotSatisfiable: entry(416, 'range_not_satisfiable', 'The requested range cannot be served.'),
  idempotencyKeyReused: entry(
    422,
    'idempotency_key_reused',
    'The Idempotency-Key was used for another request.',
  ),
  uploadBusy: entry(423, 'locked', 'Another request writes to the upload. Please try again.'),
  tooManyRequests: entry(429, 'too_many_requests', 'Too many attempts. Try again later.'),
  tooManyUploads: entry(
    429,
    'too_many_requests',
    'The caller has 1000 unfinished resumable uploads. Finish or delete some first.',
  ),
  headersTooLarge: entry(431, 'headers_too_large', 'The request headers are too large.'),
  pieceChecksumMismatch: entry(460, 'checksum_mismatch', 'The bytes do not match Upload-Checksum.'),
  // 500 to 503
  internal: entry(500, 'internal', 'Internal server error.'),
  nodeOutputFailed: entry(500, 'internal', 'Failed to create node output.'),
  upstreamFailed: entry(502, 'unavailable', 'An upstream service failed.'),
  unavailable: entry(503, 'unavailable', 'Service unavailable. Please try again later.'),
  sharedSessionBusy: entry(503, 'unavailable', 'Another request for the same session is in progress.'),
} as const satisfies Record<string, CatalogueEntry>;

export type ProblemKey = keyof typeof catalogue;

/** Options of a `Problem` besides its catalogue entry. */
export type ProblemOptions = {
  /** Replaces the entry's public text, for texts with a name in them (`Data source 'x' not found.`). */
  readonly message?: string;
  /** Response headers, for example `{ 'retry-after': '1' }`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Further fields of the error body, for example `{ errors: [{ path, message }] }`. */
  readonly fields?: Readonly<Record<string, unknown>>;
  /** What really happened; goes to the log, never to the caller. */
  readonly cause?: unknown;
};

/** A refusal that the caller is meant to see. Throw it anywhere below a route. */
export class Problem extends Error {
  readonly key: ProblemKey;
  readonly status: number;
  readonly code: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly fields: Readonly<Record<string, unknown>>;

  constructor(key: ProblemKey, options: ProblemOptions = {}) {
    const found: CatalogueEntry = catalogue[key];
    super(
      options.message ?? found.message,
      options.cause === undefined ? undefined : { cause: options.cause },
    );
    this.name = 'Problem';
    this.key = key;
    this.status = found.status;
    this.code = found.code;
    this.headers = options.headers ?? {};
    this.fields = options.fields ?? {};
  }
}

/** More bytes than a route accepts, with the limit. */
export const bodyTooLarge = (maxBytes: number) =>
  new Problem('bodyTooLarge', { message: `The body is too large: at most ${maxBytes} bytes are accepted.` });
