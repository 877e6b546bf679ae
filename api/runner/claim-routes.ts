/** The caller's identity, and claiming a task (contract: Runner routes). */
import { z } from 'zod';
import { access, runnerScopes } from '../../domain/access/access.ts';
import { limits } from '../../domain/limits.ts';
import { heartbeatIntervalSeconds } from '../../domain/runs/lease-times.ts';
import { formatTimestamp } from '../../domain/timestamp.ts';
import { listRunnerTypeNames, type RunnerTemplate } from '../../store/registry/claimable-templates.ts';
import { signOffRunner } from '../../store/runners/runner-instances.ts';
import { defineRoute } from '../route.ts';
import type { RunnerPrincipal } from '../runner-tokens/principal.ts';
import type { Freshness } from '../runner-tokens/tokens.ts';
import type { Services } from '../services.ts';
import { claimTask, coverageFor, undoDelivery } from './claim.ts';
import { runnerStory } from './examples.ts';
import { auditedByClaims, holderOf, instanceIdForm, type RunnerCaller } from './identity.ts';
import { presentClaim } from './present.ts';
import { claimRequestSchema, claimSchema, whoamiSchema } from './schema.ts';

const tags = ['Runner'];

const whoami = defineRoute({
  id: 'runnerWhoami',
  method: 'GET',
  path: '/api/v2/runner/whoami',
  summary: 'What the token may do, and the server’s limits',
  description: 'An account claims tasks of runner types with runtime `external`, and looks at any node.',
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
    listRunnerTypeNames(services.database, 'external'),
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
    upload: {
      minPartBytes: limits.uploadPartMinBytes,
      maxPartBytes: limits.uploadPartMaxBytes,
      maxParts: limits.uploadParts,
    },
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
    'A claim gives up the task that the same instanceId still holds, and answers an older waiting claim of it with 204. ' +
    'A claim whose reply cannot be written is undone. One that waits is answered with 401 within seconds when its runner ' +
    'token ends.',
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
  async handler({ body, principal, services, request: { headers }, note, signal, shutdown }) {
    const identity = { holder: holderOf(principal), instanceId: body.instanceId };
    services.runners.presence.seen(identity, headers['user-agent']);
    const coverage = await coverageFor(services, principal, body.templates ?? []);
    const { waitSeconds } = body;
    const isStillAllowed = (known: Freshness) => isUnchanged(services, principal, known);
    const request = { identity, coverage, waitSeconds, isStillAllowed, signal, shutdown };
    const task = await claimTask(services, request);
    if (task === undefined) return { status: 204 };
    const { taskId, sessionId, nodeInstanceId, runId } = task;
    note({ taskId, sessionId, nodeInstanceId, runId });
    const kind = principal.kind === 'runner' ? 'runner' : 'account';
    services.runners.holders.taken(task, { instance: identity.instanceId, kind });
    return {
      status: 200,
      body: presentClaim(task, services.settings.INCREMENTAL_MAX_INPUTS),
      async settled(delivered: boolean) {
        if (!delivered) await undoDelivery(services, task.taskId);
      },
    };
  },
});

/** Whether a runner token still covers the same runner types; throws the refusal of one that has ended meanwhile. */
async function isUnchanged(
  { runners }: Services,
  principal: RunnerCaller,
  known: Freshness,
): Promise<boolean> {
  if (principal.kind !== 'runner') return true;
  const { runnerTypes } = await runners.tokens.identifyAgain(principal, known);
  return principal.runnerTypes.every((name) => runnerTypes.includes(name));
}

const signOff = defineRoute({
  id: 'signOffRunner',
  method: 'DELETE',
  path: '/api/v2/runner/instances/{instanceId}',
  summary: 'Says that an instance ends',
  description:
    'For the orderly end of a runner, after its tasks have ended: the instance counts as gone at once, and not only when ' +
    `it was not seen for ${limits.runnerGoneSeconds} seconds. A claim of it that waits is answered with 204; what it ` +
    'still holds stays held until its lease ends. Optional, and fine for an instance that has never claimed; its next ' +
    'claim brings it back.',
  tags,
  access: access.runnerTasks,
  audit: { notHere: 'The list of runners says which have gone.' },
  params: z.object({
    instanceId: z
      .string()
      .regex(instanceIdForm)
      .meta({ description: 'As in its claims.', example: runnerStory.instanceId }),
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
