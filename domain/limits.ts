import { leaseTimes } from './runs/lease-times.ts';

/** Every number that the contract or the decisions fix, with its unit in its name. KB, MB, GB are powers of 1,024. */
const kibibytes = 1024;
const mebibytes = 1024 * kibibytes;
const gibibytes = 1024 * mebibytes;

export const limits = {
  // Requests (decisions 2)
  jsonBodyBytes: 1 * mebibytes,
  jsonDepthLevels: 64,
  /** Above it a body that is being read counts; all that the platform itself sends without a person's token is shorter. */
  jsonBodySmallBytes: 48 * kibibytes,
  jsonBodiesAtOnce: 128,
  jsonBodiesAtOncePerCaller: 64,
  jsonBodiesAtOnceWithoutToken: 32,
  freeJsonBytes: 64 * kibibytes,
  freeJsonDepthLevels: 20,
  nameCharacters: 255,
  descriptionCharacters: 4000,
  longTextBytes: 64 * kibibytes,
  headerBytes: 32 * kibibytes,
  headerFields: 200,
  headersTimeoutSeconds: 60,
  keepAliveSeconds: 75,
  connections: 10_000,
  requestsAtOncePerConnection: 32,
  slowUploadBytesPerSecond: 1 * kibibytes,
  slowUploadSeconds: 30,
  slowReaderBytesPerSecond: 1 * kibibytes,
  slowReaderSeconds: 60,
  shutdownGraceSeconds: 30,
  shutdownDelayMaxSeconds: 300,
  balancerIdleSeconds: 3,
  requestIdCharacters: 128,
  minId: 1,
  maxId: Number.MAX_SAFE_INTEGER,
  minInt32: -2_147_483_648,
  maxInt32: 2_147_483_647,
  earliestYear: 1970,
  latestYear: 9999,
  // Idempotency keys
  idempotencyKeyCharacters: 255,
  idempotencyKeyKeptHours: 24,
  /** Renewed while the request is under way. */
  idempotencyKeyLeaseSeconds: 10,
  /** A longer reply is not saved: a repeat makes a new one from the stored result. */
  idempotencyReplyBytes: 1 * mebibytes,
  // Tokens, passwords (decisions 3)
  accessTokenHours: 8,
  refreshTokenDays: 30,
  offlineTokenMonths: 12,
  lastUsedWriteSeconds: 60,
  usersLookup: 1000,
  authCallSeconds: 5,
  authForwardSeconds: 15,
  authQuestionsSeconds: 10,
  authAnswerBytes: 4 * mebibytes,
  passwordMinCharacters: 12,
  passwordMaxCharacters: 256,
  passwordHashesAtOnce: 2,
  passwordHashesWaiting: 200,
  passwordHashesWaitingPerCaller: 50,
  signInFailuresPerUsernameAndAddress: 10,
  signInFailuresPerAddress: 50,
  signInFailureWindowSeconds: 15 * 60,
  runnerTokenDefaultHours: 720,
  runnerTokenDeveloperMaxHours: 720,
  runnerTokenAdministratorMaxHours: 8760,
  runnerTokenTypes: 100,
  runnerTokenKeptDays: 90,
  runnerCreatorCheckSeconds: 15,
  runnerCreatorTrustSeconds: 30,
  // Uploads and outputs (decisions 8, 9)
  uploadBytesDefault: 500 * gibibytes,
  outputIdentifierCharacters: 100,
  outputMetadataBytes: 4 * kibibytes,
  runnerOutputBytes: 16 * mebibytes,
  uploadPartMinBytes: 5 * mebibytes,
  uploadPartMaxBytes: 100 * mebibytes,
  uploadParts: 10_000,
  taskUploadDays: 7,
  resumableUploadSeconds: 24 * 3_600,
  resumableUploadsPerCaller: 1_000,
  /** A writer of a resumable upload that was not seen for this long counts as gone. */
  uploadWriterGoneSeconds: 5,
  uploadWriterWaitSeconds: 10,
  /** A resumable upload whose bytes are all stored is finished by a worker after this time without a call. */
  uploadForgottenSeconds: 10,
  /** Memory and file in which bytes wait on their way to a store, of each process. */
  stagingMemoryBytes: 40 * mebibytes,
  stagingBytesDefault: 1 * gibibytes,
  stagingBytesMin: 64 * mebibytes,
  stagingWaitSeconds: 30,
  stagingRetryAfterSeconds: 5,
  latestJsonBytes: 4 * mebibytes,
  bundledUploadBytes: 1 * mebibytes,
  bundleBytes: 64 * mebibytes,
  ingestPathSegments: 8,
  // Runners (decisions 9)
  leaseSeconds: leaseTimes.defaultSeconds,
  leaseMinSeconds: leaseTimes.minSeconds,
  leaseMaxSeconds: leaseTimes.maxSeconds,
  claimWaitMaxSeconds: 60,
  nextWaitMaxSeconds: 30,
  cancelGraceSeconds: leaseTimes.cancelGraceSeconds,
  runnerInstanceCharacters: 128,
  runnerInstanceKeptDays: 7,
  runnerDrainedKeptDays: 90,
  /** An instance that holds nothing, waits for nothing and was not seen for this long counts as gone. */
  runnerGoneSeconds: 120,
  runnerVersionCharacters: 200,
  runnerStateBytes: 64 * kibibytes,
  inputsPageDefault: 100,
  inputsPageMax: 500,
  incrementalInputsPerTaskDefault: 100,
  maxAttemptsDefault: 3,
  maxAttemptsMax: 20,
  // Deployed runners
  deployedProcessesPerType: 100,
  deployedProcessesPerHost: 1_000,
  /** A host with more processes makes several calls for one heartbeat. */
  deployedProcessesPerReport: 200,
  /** A call that acquires or ends many processes must be over within its time; the next call continues. */
  deployedChangesPerCall: 50,
  deployedMessageCharacters: 1_000,
  deployedSilentSeconds: 86_400,
  // Built-in nodes (decisions 11)
  builtinFileSeconds: 1_800,
  /** A run over many files ends then, and the rest follows in another: runs of other sessions come in between. */
  builtinTurnSeconds: 60,
  builtinTempBytes: 20 * gibibytes,
  builtinTempReserveBytes: 2 * gibibytes,
  builtinUnpackRatio: 500,
  /** Below it the ratio does not count: a short file of few values is packed small. */
  builtinUnpackFreeBytes: 64 * mebibytes,
  builtinSourceAnswerSeconds: 5,
  builtinSourceAwaySeconds: 5,
  builtinSourceSilentSeconds: 60,
  builtinSourceReturns: 10,
  // Templates, sessions, lists (contract: Limits; decisions 4, 5, 13)
  templateNodes: 500,
  sessionPageSizeDefault: 25,
  sessionPageSizeMax: 100,
  /** Filtered sessions are counted up to here. */
  sessionsCounted: 10_000,
  /** Sessions that a search or a query matches are counted up to here: each costs a read of its row. */
  sessionsMatched: 2_000,
  /** Paths that a project pins. */
  pinnedMetadata: 8,
  /** Of the newest sessions, the metadata in which keys are looked for. */
  metadataKeySessions: 500,
  metadataKeys: 200,
  metadataKeySamples: 10,
  metadataSampleCharacters: 100,
  storageProjects: 1_000,
  nodeRunPageSizeDefault: 25,
  nodeRunPageSizeMax: 100,
  nodeRunsCounted: 10_000,
  /** Inputs and outputs of a run, each, that its page and its replay list. */
  nodeRunFilesMax: 1_000,
  /** The bytes that a failed run read stay so long after they were replaced. */
  failedRunInputsKeptDays: 30,
  sessionOutputsPageDefault: 100,
  sessionOutputsPageMax: 500,
  rejectedInputsPageSizeDefault: 25,
  rejectedInputsPageSizeMax: 100,
  reprocessInputs: 1_000,
  dimensionPageSize: 50,
  queryLimitDefault: 50,
  queryLimitMax: 500,
  queryOffsetMax: 100_000,
  queryFilterLeaves: 100,
  queryFilterLevels: 10,
  queryListValues: 100,
  queryOrderings: 10,
  queryPathCharacters: 500,
  queryAddresses: 100,
  configurationNameCharacters: 200,
  timeWindowSecondsDefault: 300,
  timeWindowSecondsMax: 86_400,
  sharedSessionRetryAfterSeconds: 1,
  sharedSessionWaitSeconds: 2,
  closeReasonCharacters: 4000,
  // Priorities
  /** Of a project or session, to both sides of 0. */
  priorityMax: 10,
  /** Of waiting, by which each step moves a run. */
  priorityStepSeconds: 60,
  // Retention and audit
  /**
   * The writer of an object sends a heartbeat every few seconds; after this long without one the object is abandoned.
   */
  uploadAbandonedSeconds: 3_600,
  /** A younger object without a row is not an orphan yet. */
  orphanAgeSeconds: 86_400,
  retentionSessionsShown: 100,
  retentionSessionsCounted: 10_000,
  retentionPagesListed: 50,
  auditPageDefault: 50,
  auditPageMax: 500,
  // Logs of runs
  logEntriesPerCall: 500,
  logCallBytes: 256 * kibibytes,
  logMessageBytes: 8 * kibibytes,
  logFieldsBytes: 4 * kibibytes,
  logAttemptBytes: 16 * mebibytes,
  logTailBytes: 64 * kibibytes,
  logPageEntriesDefault: 200,
  logPageEntriesMax: 1_000,
  logSearchCharacters: 200,
  /** The most claims of a run that its log shows; likewise attempts, actions and publications. */
  logFacts: 1_000,
  /** Of calls that wait to be stored, in one process. */
  logBacklogBytes: 32 * mebibytes,
  logFollowPollMilliseconds: 500,
  logFollowers: 1_000,
  logFollowersPerCaller: 100,
  // Annotations
  annotationsPerSession: 10_000,
  annotationsPerCall: 500,
  annotationTags: 20,
  annotationTagCharacters: 64,
  annotationPageSizeDefault: 500,
  annotationPageSizeMax: 1_000,
  // Webhooks
  webhooks: 100,
  webhookUrlCharacters: 2_000,
  webhookSecretOverlapSeconds: 86_400,
  webhookAttemptSeconds: 10,
  /** Longer than an attempt takes: then another process may send the delivery. */
  webhookLeaseSeconds: 30,
  /** Deliveries of one webhook under way at once. */
  webhookSenders: 8,
  webhookResponseBytes: 64 * kibibytes,
  webhookResponseCharacters: 1_000,
  webhookAttemptsListed: 20,
  webhookDeliveryKeptDays: 7,
  webhookPageDefault: 50,
  webhookPageMax: 100,
  // Saved views of the list of sessions
  sessionViewsPerPerson: 200,
  sessionViewsListed: 1_000,
  sessionViewBytes: 8 * kibibytes,
  // Reports
  /** Of a session: the first ones. */
  reportAnnotations: 100,
  reportSchedules: 200,
  reportFilesKept: 100,
  reportFilesKeptDefault: 10,
  reportFileBytes: 512 * mebibytes,
  reportPeriodDays: 3_650,
  reportFilesPageDefault: 50,
  reportFilesPageMax: 100,
  /** Whose channels are suggested. */
  reportNameDashboards: 50,
  reportChannelNames: 500,
  reportPreviewRows: 20,
  reportPreviewDimensions: 2_000,
  // Derived channels and traces of a series request
  derivedChannels: 16,
  derivedCharacters: 1_000,
  derivedLevels: 32,
  /** Numbers, channels and operations of an expression. */
  derivedNodes: 200,
  derivedNodesInAll: 800,
  derivedLagRows: 10_000,
  derivedArguments: 8,
  traceValues: 200,
  traceChanges: 10_000,
  /** Of a recording, in all its traces. */
  tracePoints: 640_000,
  // Layouts of dashboards
  layoutBytes: 64 * kibibytes,
  layoutPanels: 50,
  layoutPanelChannels: 64,
  layoutTextCharacters: 4_000,
  layoutsPerPerson: 100,
  /** Of projects, templates and everyone together. */
  layoutsShared: 1_000,
  // Live events of sessions
  sessionEventAttempts: 1_000,
  sessionEventBufferBytes: 1 * mebibytes,
  sessionEventKeepAliveSeconds: 5,
  // Shares: concurrent calls of one API process, in total and for one caller
  sessionEventListeners: 5_000,
  sessionEventListenersPerCaller: 2_500,
  waitingClaims: 8_000,
  waitingClaimsPerCaller: 4_000,
  uploadsAtOnce: 2_000,
  uploadsAtOncePerCaller: 1_000,
  ingestsAtOnce: 1_000,
  ingestsAtOncePerAddress: 500,
  seriesAtOnce: 64,
  seriesAtOncePerCaller: 32,
  exportsAtOnce: 4,
  exportsAtOncePerCaller: 2,
  unavailableRetryAfterSeconds: 1,
  shareRetryAfterSeconds: 5,
} as const;
