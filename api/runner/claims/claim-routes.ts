/** The caller's identity, and claiming a task (contract: Runner routes). */
import { z } from 'zod';
import { access, runnerScopes } from '../../../domain/access/access.ts';
import { limits } from '../../../domain/limits.ts';
import { heartbeatIntervalSeconds } from '../../../domain/runs/lease-times.ts';
import { formatTimestamp } from '../../../domain/timestamp.ts';
import { listExternalTypeNames, type RunnerTemplate } from '../../../store/registry/claimable-templates.ts';
import { signOffRunner } from '../../../store/runners/runner-instances.ts';
import { defineRoute } from '../../route.ts';
import { runnerExampleValues } from '../../runner-examples.ts';
import type { RunnerPrincipal } from '../../runner-tokens/principal.ts';
import type { Services } from '../../services.ts';
import { auditedByClaims, holderOf, instanceIdForm } from '../identity.ts';
import { partLimits } from '../part-limits.ts';
import { claimRequestSchema, claimSchema, whoamiSchema } from '../schema.ts';
import { claimForReply, coverageFor } from './claim.ts';

const tags = ['Runner'];

const whoami = defineRoute({
  id: 'runnerWhoami',
  method: 'GET',
  path: '/api/v2/runner/whoami',
  summary: 'Returns what the token may do, and the server’s limits',
  description: 'An account may claim tasks of runner types of runtime `external`, and debug any node.',
  tags,
  access: access.runnerAny,
  responses: { 200: { description: 'The caller.', schema: whoamiSchema } },
  errorStyle: 'coded',
  async handler({ principal, services }) {
    const limitsNow = serverLimits(services.settings.INCREMENTAL_MAX_INPUTS);
    const body =
      principal.kind === 'runner' ? await tokenOf(services, principal) : await accountOf(services, principal);
    return { status: 200, body: { ...body, limits: limitsNow } };
  },
});

async function tokenOf(services: Services, principal: RunnerPrincipal) {
  const { templates } = services.runners;
  await templates.load(0);
  return {
    kind: 'runner' as const,
    tokenId: principal.tokenId,
    label: principal.label,
    runnerTypes: principal.runnerTypes,
    scopes: principal.scopes,
    expiresAt: formatTimestamp(principal.expiresAt),
    templates: templates.claimableOf(principal.runnerTypes).map(presentTemplate),
  };
}

async function accountOf(services: Services, { username }: { readonly username: string }) {
  const [snapshot, runnerTypes] = await Promise.all([
    services.runners.templates.load(0),
    listExternalTypeNames(services.database),
  ]);
  return {
    kind: 'account' as const,
    // An account's token belongs to the authentication service: the platform knows neither its id nor its expiry.
    tokenId: null,
    label: username,
    runnerTypes,
    scopes: runnerScopes,
    expiresAt: null,
    templates: snapshot.external.map((name) => presentTemplate(snapshot.byName.get(name)!)),
  };
}

function presentTemplate({ name, runnerType, type }: RunnerTemplate) {
  return { name, runnerType, type };
}

function serverLimits(maxInputsPerTask: number) {
  return {
    maxOutputBytes: limits.runnerOutputBytes,
    maxOutputMetadataBytes: limits.outputMetadataBytes,
    maxOutputIdentifierLength: limits.outputIdentifierCharacters,
    maxWaitSeconds: limits.claimWaitMaxSeconds,
    leaseSeconds: limits.leaseSeconds,
    heartbeatIntervalSeconds: heartbeatIntervalSeconds(limits.leaseSeconds),
    upload: partLimits,
    incremental: { maxInputsPerTask },
  };
}

const claim = defineRoute({
  id: 'claimTask',
  method: 'POST',
  path: '/api/v2/runner/tasks/claim',
  share: 'claims',
  traced: false,
  summary: 'Claims the oldest ready task, or waits for one',
  description:
    'A claim releases the task that the same instanceId still holds, and ends its older waiting claim with 204. ' +
    'A claim whose response cannot be sent is undone. A waiting claim gets 401 within seconds after its runner ' +
    'token, or the sign-in of its account, ends.',
  tags,
  access: access.runnerTasks,
  audit: auditedByClaims,
  body: claimRequestSchema,
  responses: {
    200: { description: 'The task, held by this instance.', schema: claimSchema },
    204: { description: 'No task was ready within the wait.' },
  },
  errors: ['templateUnknown', 'templateNotAllowed'],
  errorStyle: 'coded',
  async handler({ body, note, ...call }) {
    const { principal, request, services } = call;
    const { instanceId, waitSeconds } = body;
    const identity = { holder: holderOf(principal), instanceId };
    services.runners.presence.seen(identity, request.headers['user-agent']);
    const coverage = await coverageFor(services, principal, body.templates ?? []);
    const claimed = await claimForReply(call, { instanceId, coverage, waitSeconds, whenHolding: 'release' });
    if (claimed === undefined) return { status: 204 };
    const { taskId, sessionId, nodeInstanceId, runId } = claimed.task;
    note({ taskId, sessionId, nodeInstanceId, runId });
    return { status: 200, body: claimed.body, settled: claimed.settled };
  },
});

const signOff = defineRoute({
  id: 'signOffRunner',
  method: 'DELETE',
  path: '/api/v2/runner/instances/{instanceId}',
  summary: 'Signs an instance off',
  description:
    'For the shutdown of a runner, after its tasks have ended: the instance counts as gone at once, instead of ' +
    `after ${limits.runnerGoneSeconds} seconds without a call. Its waiting claim gets 204. A task that it ` +
    'still holds stays held until its lease ends. Optional, also valid for an instance that never claimed; its next ' +
    'claim brings it back.',
  tags,
  access: access.runnerTasks,
  audit: { notHere: 'The list of runners says which have gone.' },
  params: z.object({
    instanceId: z
      .string()
      .regex(instanceIdForm)
      .meta({ description: 'The instanceId of its claims.', example: runnerExampleValues.instanceId }),
  }),
  responses: { 204: { description: 'The instance is signed off.' } },
  errorStyle: 'coded',
  refusals: { params: 'notFound' },
  async handler({ params: { instanceId }, principal, services }) {
    await signOffRunner(services.database, { holder: holderOf(principal), instanceId });
    return { status: 204 };
  },
});

export const claimRoutes = [whoami, claim, signOff];
