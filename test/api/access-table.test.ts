/** The access table says of each route what the contract says. */
import { beforeAll, describe, expect, test } from 'vitest';
import {
  type Caller,
  decideAccess,
  type GuardedRule,
  type RunnerScope,
  roles,
} from '../../domain/access/access.ts';
import { catalogue } from '../../domain/errors.ts';
import { startedApi } from '../support/api.ts';
import { allRoutes } from '../support/openapi.ts';

const { api } = await startedApi();
const guarded = allRoutes.filter((route) => !route.access.open);
beforeAll(async () => {
  await api.composed.services.database.query(
    `insert into runner_type (name, runtime) values ('own', 'external')`,
  );
});

describe('the access table', () => {
  const statusFor = (rule: GuardedRule, caller: Caller): number => {
    const decision = decideAccess(rule, caller);
    return decision.allowed ? 200 : catalogue[decision.problem].status;
  };

  test('says for each route what the contract says', () => {
    // Administrator, Instructor, Trainee, Developer with access tokens; Administrator with an offline token.
    const expected: Record<string, number[]> = {
      createOfflineToken: [200, 403, 403, 403, 403],
      listOfflineTokens: [200, 403, 403, 403, 403],
      revokeOfflineToken: [200, 403, 403, 403, 403],
      signOut: [200, 200, 200, 200, 403],
      revokeTokens: [200, 200, 200, 200, 403],
      listUsers: [200, 200, 403, 200, 403],
      readUser: [200, 200, 200, 200, 403],
      resolveUser: [200, 200, 200, 200, 403],
      createUser: [200, 403, 403, 403, 403],
      updateUser: [200, 403, 403, 403, 403],
      deleteUser: [200, 403, 403, 403, 403],
      changePassword: [200, 200, 200, 200, 403],
      userData: [200, 200, 200, 200, 200],
      listProjects: [200, 200, 200, 200, 200],
      createProject: [200, 200, 401, 200, 403],
      updateProject: [200, 200, 401, 200, 200],
      listSessionTemplates: [200, 200, 200, 200, 200],
      listSessionTemplateVersions: [200, 200, 403, 200, 200],
      getSessionTemplateVersion: [200, 200, 403, 200, 200],
      compareSessionTemplateVersions: [200, 200, 403, 200, 200],
      importSessionTemplate: [200, 403, 403, 200, 403],
      createSession: [200, 200, 200, 200, 200],
      listSessions: [200, 200, 403, 200, 200],
      listOwnSessions: [200, 200, 200, 200, 200],
      querySessions: [200, 200, 401, 200, 200],
      createScenarioInstance: [200, 200, 200, 200, 200],
      listConfiguration: [200, 200, 200, 200, 200],
      createConfiguration: [200, 401, 401, 200, 403],
      updateConfiguration: [200, 401, 401, 200, 403],
      listDataSources: [200, 403, 403, 200, 403],
      createDataSource: [200, 403, 403, 200, 403],
      updateDataSource: [200, 403, 403, 200, 403],
      deleteDataSource: [200, 403, 403, 200, 403],
      listPlatformUsers: [200, 403, 403, 200, 403],
      lookUpUsers: [200, 200, 200, 200, 403],
    };
    const known = Object.entries(expected).filter(([id]) => allRoutes.some((route) => route.id === id));
    expect(known.length).toBeGreaterThanOrEqual(13);
    for (const [id, statuses] of known) {
      const rule = allRoutes.find((route) => route.id === id)?.access as GuardedRule;
      const seen = roles.map((role) => statusFor(rule, { kind: 'access', role }));
      expect([id, ...seen, statusFor(rule, { kind: 'offline', role: 'Administrator' })]).toEqual([
        id,
        ...statuses,
      ]);
    }
  });

  test('says for each runner route what the contract says', () => {
    const both = ['tasks', 'debug:read'] as const;
    const of = (kind: Caller['kind'], role: Caller['role'], scopes?: readonly RunnerScope[]): Caller =>
      scopes === undefined ? { kind, role } : { kind, role, scopes };
    // Access tokens by role; an offline token; runner tokens of a Developer by scope, and of a later Trainee.
    const callers = [
      ...roles.map((role) => of('access', role)),
      of('offline', 'Administrator'),
      of('runner', 'Developer', both),
      of('runner', 'Developer', ['tasks']),
      of('runner', 'Developer', ['debug:read']),
      of('runner', 'Trainee', both),
    ];
    const people = ['allowed', 'forbidden', 'forbidden', 'allowed', 'offlineTokenRefused'];
    const any = [...people, 'allowed', 'allowed', 'allowed', 'forbidden'];
    const tasks = [...people, 'allowed', 'allowed', 'scopeMissing', 'forbidden'];
    const debug = [...people, 'allowed', 'scopeMissing', 'allowed', 'forbidden'];
    const administration = [...people, 'unauthorized', 'unauthorized', 'unauthorized', 'unauthorized'];
    const expectedOf = (path: string): readonly string[] | undefined => {
      if (/^\/api\/v2\/runner\/(whoami|manifests\/validate)$/.test(path)) return any;
      if (/^\/api\/v2\/runner\/(tasks|instances)\//.test(path)) return tasks;
      if (path.startsWith('/api/v2/runner/debug/')) return debug;
      return /^\/api\/v2\/admin\/runner/.test(path) ? administration : undefined;
    };
    let seen = 0;
    for (const route of guarded) {
      const expected = expectedOf(route.path);
      if (/^\/api\/v2\/runner\//.test(route.path)) expect([route.path, expected]).not.toContain(undefined);
      if (expected === undefined) continue;
      seen += 1;
      const decisions = callers.map((caller) => {
        const decision = decideAccess(route.access, caller);
        return decision.allowed ? 'allowed' : decision.problem;
      });
      expect([route.id, ...decisions]).toEqual([route.id, ...expected]);
    }
    expect(seen).toBeGreaterThan(15);
  });

  test('checks the offline scope before the role, and refuses runner tokens elsewhere with 401', () => {
    for (const route of guarded) {
      const rule = route.access as GuardedRule;
      if (!rule.tokens.includes('offline')) {
        for (const role of roles) expect(statusFor(rule, { kind: 'offline', role })).toBe(403);
      }
      if (!rule.tokens.includes('runner')) {
        const scopes = ['tasks', 'debug:read'] as const;
        expect(statusFor(rule, { kind: 'runner', role: 'Administrator', scopes })).toBe(401);
      }
    }
  });

  test('lets offline tokens read everything outside authorization, administration and runners, and delete nothing but their own unfinished uploads', () => {
    for (const route of guarded) {
      const rule = route.access as GuardedRule;
      const isInside = !/^\/api\/(authorization|v2\/(admin|runner))(\/|$)/.test(route.path);
      if (route.method === 'GET')
        expect([route.id, rule.tokens.includes('offline')]).toEqual([route.id, isInside]);
      if (route.method === 'DELETE')
        expect([route.id, rule.tokens.includes('offline')]).toEqual([
          route.id,
          route.id === 'terminateResumableUpload',
        ]);
    }
  });
});
