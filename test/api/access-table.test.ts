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
    const expected: readonly (readonly [statuses: readonly number[], ids: string])[] = [
      [
        [200, 200, 200, 200, 200],
        `userData listProjects getProject listSessionTemplates getSessionTemplate createSession
          getSession sessionProgress listOwnSessions updateSession joinSharedSession closeSession
          followSession createScenarioInstance listAnnotations createAnnotation changeAnnotation
          uploadNodeOutput listNodeOutputs getNodeOutputData getLatestNodeOutputData getDownloadAddress
          listSessionOutputs getOutputLineage listRejectedInputs explainNodeInstance
          resumableUploadOptions createResumableUpload continueResumableUpload getResumableUpload
          terminateResumableUpload listConfiguration getStaticNavigation getNavigation getFeatureFlags
          listDimensions getDashboard getDashboardSeries askDashboardSeries getDashboardStatistics
          askDashboardStatistics exportDashboard askDashboardExport listLayouts listDashboardLayouts
          getLayout`,
      ],
      [
        [200, 200, 200, 200, 403],
        `deleteAnnotation createLayout updateLayout deleteLayout signOut revokeTokens readUser
          resolveUser lookUpUsers changePassword`,
      ],
      [
        [200, 200, 401, 200, 200],
        `updateProject querySessions listReports downloadReport previewReport listReportNames getReport
          listReportSchedules getReportSchedule listReportFiles getReportFile getReportFileData`,
      ],
      [
        [200, 200, 403, 200, 200],
        `listSessionTemplateVersions getSessionTemplateVersion compareSessionTemplateVersions
          listSessionViews listSessions countSessions listSessionMetadataKeys readSessionStorage
          listSessionActivity getNodeConfiguration listNodeConfigurationRevisions
          getNodeConfigurationSchema searchNodeRuns readNodeRun readRunLog`,
      ],
      [[200, 200, 401, 200, 403], `createProject freezeSession unfreezeSession`],
      [
        [200, 200, 403, 200, 403],
        `createSessionView changeSessionView deleteSessionView adoptSessionTemplate
          changeNodeConfiguration listUsers`,
      ],
      [[200, 403, 403, 200, 200], `replayNodeRun replayNodeRunInput`],
      [
        [200, 401, 401, 200, 403],
        `createConfiguration updateConfiguration createReport updateReport createReportSchedule
          updateReportSchedule runReportSchedule deleteReportSchedule`,
      ],
      [
        [200, 403, 403, 200, 403],
        `listPlatformUsers importSessionTemplate validateSessionTemplate listRunnerManifests
          publishRunnerManifest repairSession reprocessNode listNodeRuns getNodeRun retryNodeRun
          cancelNodeRun retryFailedNodeRuns getWorkflowUi listIngests getIngest createIngest updateIngest
          deleteIngest rotateIngestSecret listStatics createStatic deleteStatic addStaticInstance
          removeStaticInstance listDataSources createDataSource updateDataSource deleteDataSource
          listConcurrencyLimits changeConcurrencyLimit removeConcurrencyLimit listWebhooks getWebhook
          createWebhook updateWebhook deleteWebhook rotateWebhookSecret listWebhookDeliveries testWebhook
          redeliverWebhook createRunnerToken listRunnerTokens revokeRunnerToken listRunners drainRunner
          undrainRunner listQueues`,
      ],
      [[200, 401, 401, 401, 403], `deleteSession`],
      [
        [200, 403, 403, 403, 403],
        `createOfflineTokenForOperators listOfflineTokensForOperators revokeOfflineTokenForOperators
          listAudit previewRetention runRetention createOfflineToken listOfflineTokens revokeOfflineToken
          createUser updateUser deleteUser listTokenAudit`,
      ],
    ];
    const listed = expected.flatMap(([statuses, ids]) =>
      ids.split(/\s+/).map((id): [string, readonly number[]] => [id, statuses]),
    );
    const others = guarded.filter(({ path }) => !path.startsWith('/api/v2/runner/'));
    const seen = others.map(({ id, access }): [string, readonly number[]] => {
      const rule = access as GuardedRule;
      const ofRoles = roles.map((role) => statusFor(rule, { kind: 'access', role }));
      return [id, [...ofRoles, statusFor(rule, { kind: 'offline', role: 'Administrator' })]];
    });
    expect(Object.fromEntries(seen)).toEqual(Object.fromEntries(listed));
    expect(listed).toHaveLength(seen.length);
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
