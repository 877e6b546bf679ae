/**
 * Who may do what: one table, read as sentences (contract: Authentication; decisions 3).
 * Order of the checks: valid token (401, before this table) -> kind of token -> password state -> role -> scope.
 */
import type { ProblemKey } from '../errors.ts';

export const roles = ['Administrator', 'Instructor', 'Trainee', 'Developer'] as const;
export type Role = (typeof roles)[number];

/** `access`: eight hours after a sign-in. `offline`: twelve months, for devices. `runner`: `hrt_`, for processors. */
export type TokenKind = 'access' | 'offline' | 'runner';
export const runnerScopes = ['tasks', 'debug:read'] as const;
export type RunnerScope = (typeof runnerScopes)[number];

/** What the table needs to know of a caller; principals carry more. `role` of a runner token is its creator's. */
export type Caller = {
  readonly kind: TokenKind;
  readonly role: Role;
  readonly mustChangePassword?: boolean;
  readonly scopes?: readonly RunnerScope[];
};

export type GuardedRule = {
  readonly open: false;
  readonly tokens: readonly TokenKind[];
  readonly roles: readonly Role[];
  /** Status for a valid token of another role: 403 where the document states it, else 401 (decisions 2). */
  readonly underprivileged: 401 | 403;
  readonly scope?: RunnerScope;
  /** True on the routes that a user who must change the password may still call. */
  readonly evenBeforePasswordChange?: boolean;
};
type OpenRule = { readonly open: true };
export type AccessRule = OpenRule | GuardedRule;

export const everyone = roles;
export const staff = ['Administrator', 'Instructor', 'Developer'] as const;
export const builders = ['Administrator', 'Developer'] as const;
export const administrators = ['Administrator'] as const;
const people = ['access'] as const;
const peopleAndDevices = ['access', 'offline'] as const;
const runnersAndPeople = ['runner', 'access'] as const;

function rule<const T extends readonly TokenKind[], const R extends readonly Role[], U extends 401 | 403>(
  tokens: T,
  roleList: R,
  underprivileged: U,
) {
  return { open: false, tokens, roles: roleList, underprivileged } as const;
}

export const access = {
  /** No token needed: health, sign-in, validation, documents, ingest URLs (which check a secret of their own). */
  open: { open: true },

  // Authentication service: no offline tokens, 403 for other roles.
  signOut: { ...rule(people, everyone, 403), evenBeforePasswordChange: true },
  revokeTokens: rule(people, everyone, 403),
  changePassword: { ...rule(people, everyone, 403), evenBeforePasswordChange: true },
  offlineTokens: rule(people, administrators, 403),
  usersList: rule(people, staff, 403),
  usersRead: rule(people, everyone, 403),
  usersWrite: rule(people, administrators, 403),

  // People and projects.
  userData: rule(peopleAndDevices, everyone, 401),
  projectRead: rule(peopleAndDevices, everyone, 401),
  projectCreate: rule(people, staff, 401),
  projectUpdate: rule(peopleAndDevices, staff, 401),

  // Templates.
  templateRead: rule(peopleAndDevices, everyone, 401),
  templateVersionRead: rule(peopleAndDevices, staff, 403),
  templateImport: rule(people, builders, 403),

  // Sessions. A Trainee who is no participant is refused by the PATCH handler itself, with 403.
  sessionCreate: rule(peopleAndDevices, everyone, 401),
  sessionRead: rule(peopleAndDevices, everyone, 401),
  sessionList: rule(peopleAndDevices, staff, 403),
  sessionListOwn: rule(peopleAndDevices, everyone, 401),
  sessionUpdate: rule(peopleAndDevices, everyone, 403),
  sessionViewRead: rule(peopleAndDevices, staff, 403),
  sessionViewWrite: rule(people, staff, 403),
  sessionFreeze: rule(people, staff, 401),
  sessionAdopt: rule(people, staff, 403),
  sessionDelete: rule(people, administrators, 401),
  sessionQuery: rule(peopleAndDevices, staff, 401),
  sharedSession: rule(peopleAndDevices, everyone, 401),
  scenarioCreate: rule(peopleAndDevices, everyone, 401),
  // A Trainee who is no participant is refused by the handlers, with 403.
  annotationWrite: rule(peopleAndDevices, everyone, 403),
  annotationDelete: rule(people, everyone, 403),

  // Nodes and bytes.
  progressRead: rule(peopleAndDevices, everyone, 401),
  outputUpload: rule(peopleAndDevices, everyone, 401),
  outputRead: rule(peopleAndDevices, everyone, 401),
  reprocess: rule(people, builders, 403),
  nodeConfigurationRead: rule(peopleAndDevices, staff, 403),
  nodeConfigurationWrite: rule(people, staff, 403),

  // Runs and their logs.
  runRead: rule(peopleAndDevices, staff, 403),
  runReplay: rule(peopleAndDevices, builders, 403),

  // Dashboards, reports, configuration.
  dashboardRead: rule(peopleAndDevices, everyone, 401),
  // A Trainee is refused by the handlers for a layout that others see, with 403.
  layoutWrite: rule(people, everyone, 403),
  reportRead: rule(peopleAndDevices, staff, 401),
  reportWrite: rule(people, builders, 401),
  configurationRead: rule(peopleAndDevices, everyone, 401),
  configurationWrite: rule(people, builders, 401),

  // Everything under /api/v2/admin.
  admin: rule(people, builders, 403),
  adminOnly: rule(people, administrators, 403),
  runnerTokens: rule(people, builders, 403),
  runnerManifests: rule(people, builders, 403),

  // Runner routes: a runner token, or the access token of an Administrator or Developer.
  runnerAny: rule(runnersAndPeople, builders, 403),
  runnerTasks: { ...rule(runnersAndPeople, builders, 403), scope: 'tasks' },
  runnerDebug: { ...rule(runnersAndPeople, builders, 403), scope: 'debug:read' },
} as const satisfies Record<string, AccessRule>;

export type AccessDecision =
  | { readonly allowed: true }
  | { readonly allowed: false; readonly problem: ProblemKey };

const allowed: AccessDecision = { allowed: true };
const refuse = (problem: ProblemKey): AccessDecision => ({ allowed: false, problem });

/**
 * Decides whether a caller with a valid token may use a route. The refusal is a key of the error catalogue, which holds
 * status, code and text. Offline tokens outside their scope are 403 before the role is checked; runner tokens outside
 * the runner routes are 401.
 */
export function decideAccess(wanted: AccessRule, caller: Caller): AccessDecision {
  if (wanted.open) return allowed;
  if (!wanted.tokens.includes(caller.kind)) {
    return refuse(caller.kind === 'offline' ? 'offlineTokenRefused' : 'unauthorized');
  }
  if (caller.kind === 'access' && caller.mustChangePassword === true && !wanted.evenBeforePasswordChange) {
    return refuse('passwordChangeRequired');
  }
  if (!wanted.roles.includes(caller.role)) {
    return refuse(wanted.underprivileged === 403 ? 'forbidden' : 'roleUnauthorized');
  }
  if (wanted.scope !== undefined && caller.kind === 'runner' && !caller.scopes?.includes(wanted.scope)) {
    return refuse('scopeMissing');
  }
  return allowed;
}
