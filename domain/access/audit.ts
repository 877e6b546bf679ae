/**
 * What the audit says of each route that is no GET: one table, read as sentences. A route writes one entry for each
 * acknowledged call: who (kind and id, never an address or a token), what (the route's id and the object), when, and from
 * which network. A test holds that no route is missing.
 */

export const auditObjects = [
  'project',
  'sessionTemplate',
  'feature',
  'session',
  'scenario',
  'nodeInstance',
  'nodeRun',
  'ingest',
  'configuration',
  'report',
  'static',
  'dataSource',
  'offlineToken',
  'runnerToken',
  'runner',
  'retention',
  'user',
] as const;
export type AuditObject = (typeof auditObjects)[number];

/** `user`: a person. `device`: an offline token. `ingest`: whoever has its secret or URL. `platform`: nobody asked. */
export const auditActorKinds = ['user', 'device', 'runner', 'ingest', 'platform'] as const;
export type AuditActorKind = (typeof auditActorKinds)[number];

export type AuditRule =
  /** `from`: the parameter of the path, or else the field of the body, that names the object; absent: who makes it says. */
  | { readonly object: AuditObject; readonly from?: string }
  /** No entry: why, and where what happened is told instead. */
  | { readonly notHere: string };

const reads = { notHere: 'Reads only.' } as const;
const claims = { notHere: 'Claims, runs and outputs say who did what when.' } as const;
const hosts = {
  notHere: 'The platform itself: runner tokens, and the list of deployed runners, show what came of it.',
} as const;
const session = { object: 'session', from: 'id' } as const;

export const auditRules: Readonly<Record<string, AuditRule>> = {
  createProject: { object: 'project' },
  updateProject: { object: 'project', from: 'id' },
  importSessionTemplate: { object: 'sessionTemplate' },
  publishRunnerManifest: { object: 'feature' },
  validateRunnerManifest: reads,
  createSession: { object: 'session' },
  updateSession: session,
  freezeSession: session,
  unfreezeSession: session,
  deleteSession: session,
  joinSharedSession: { object: 'session' },
  closeSession: session,
  repairSession: session,
  querySessions: reads,
  createScenarioInstance: { object: 'scenario' },
  uploadNodeOutput: { object: 'nodeInstance', from: 'nodeInstanceId' },
  reprocessNode: { object: 'nodeInstance', from: 'nodeInstanceId' },
  retryNodeRun: { object: 'nodeRun', from: 'id' },
  cancelNodeRun: { object: 'nodeRun', from: 'id' },
  retryFailedNodeRuns: session,
  createIngest: { object: 'ingest' },
  updateIngest: { object: 'ingest', from: 'id' },
  deleteIngest: { object: 'ingest', from: 'id' },
  rotateIngestSecret: { object: 'ingest', from: 'id' },
  ingestFile: { object: 'ingest' },
  createConfiguration: { object: 'configuration', from: 'name' },
  updateConfiguration: { object: 'configuration', from: 'name' },
  createReport: { object: 'report' },
  updateReport: { object: 'report', from: 'key' },
  createStatic: { object: 'static', from: 'code' },
  deleteStatic: { object: 'static', from: 'code' },
  addStaticInstance: { object: 'static', from: 'code' },
  removeStaticInstance: { object: 'static', from: 'code' },
  createDataSource: { object: 'dataSource', from: 'name' },
  updateDataSource: { object: 'dataSource', from: 'name' },
  deleteDataSource: { object: 'dataSource', from: 'name' },
  createOfflineTokenForOperators: { object: 'offlineToken' },
  revokeOfflineTokenForOperators: { object: 'offlineToken', from: 'secretId' },
  createRunnerToken: { object: 'runnerToken' },
  revokeRunnerToken: { object: 'runnerToken', from: 'id' },
  drainRunner: { object: 'runner', from: 'id' },
  undrainRunner: { object: 'runner', from: 'id' },
  runRetention: { object: 'retention' },
  claimTask: claims,
  writeTaskOutput: claims,
  startTaskUpload: claims,
  putTaskUploadPart: claims,
  completeTaskUpload: claims,
  abortTaskUpload: claims,
  beatTask: claims,
  advanceWatermark: claims,
  completeTask: claims,
  failTask: claims,
  releaseTask: claims,
  signOffRunner: { notHere: 'The list of runners says which have gone.' },
  reconcileRunnerHost: hosts,
  startDeployedProcess: hosts,
  endDeployedProcesses: hosts,
};

/** What the authentication service writes into its own audit. */
const authAuditActions = [
  'signIn',
  'signInRefused',
  'refreshToken',
  'refreshTokenReused',
  'signOut',
  'revokeTokens',
  'createOfflineToken',
  'revokeOfflineToken',
  'createUser',
  'updateUser',
  'deleteUser',
  'changePassword',
] as const;
export type AuthAuditAction = (typeof authAuditActions)[number];
