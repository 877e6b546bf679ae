/**
 * What the audit can say. Each route that is no GET carries its rule, and writes one entry for each acknowledged call: who
 * (kind and id, never an address or a token), what (the route's id and the object), when, and from which network.
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
  'layout',
  'static',
  'dataSource',
  'webhook',
  'reportSchedule',
  'sessionView',
  'offlineToken',
  'runnerToken',
  'runner',
  'concurrency',
  'retention',
  'user',
] as const;
export type AuditObject = (typeof auditObjects)[number];

/** `user`: a person. `device`: an offline token. `ingest`: the holder of its secret or URL. `platform`: no caller. */
export const auditActorKinds = ['user', 'device', 'runner', 'ingest', 'platform'] as const;
export type AuditActorKind = (typeof auditActorKinds)[number];

export type AuditRule =
  /**
   * `from`: the parameter of the path, or else the field of the body, that names the object; absent: the code that
   * makes it names it.
   */
  | { readonly object: AuditObject; readonly from?: string }
  /** No entry: why, and where the event is recorded instead. */
  | { readonly notHere: string };

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
