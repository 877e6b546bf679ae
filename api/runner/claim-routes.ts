/** Who the caller is, and the way to a task (contract: Runner routes). */
import { access } from '../../domain/access.ts';
import { limits } from '../../domain/limits.ts';
import { listRunnerTypeNames } from '../../store/claimable-templates.ts';
import { defineRoute } from '../route.ts';
import { claimTask, coverageFor, takeBack } from './claim.ts';
import { holderOf } from './identity.ts';
import { heartbeatIntervalSeconds, presentClaim } from './present.ts';
import { claimRequestSchema, claimSchema, whoamiSchema } from './schema.ts';

const tags = ['Runner'];

const whoami = defineRoute({
  id: 'runnerWhoami',
  method: 'GET',
  path: '/api/v2/runner/whoami',
  summary: 'What the token may do, and the server’s limits',
  tags,
  access: access.runnerAny,
  responses: { 200: { description: 'The caller.', schema: whoamiSchema } },
  errorStyle: 'coded',
  async handler({ principal, services }) {
    const [snapshot, runnerTypes] = await Promise.all([
      services.runners.templates.load(0),
      listRunnerTypeNames(services.database, 'external'),
    ]);
    const templates = snapshot.external.map((name) => {
      const { runnerType, type } = snapshot.byName.get(name)!;
      return { name, runnerType, type };
    });
    return {
      status: 200,
      body: {
        kind: 'account',
        // An account's token is the authentication service's: the platform knows neither its id nor its end.
        tokenId: null,
        label: principal.username,
        runnerTypes,
        scopes: ['tasks', 'debug:read'],
        expiresAt: null,
        templates,
        limits: serverLimits(services.settings.INCREMENTAL_MAX_INPUTS),
      },
    };
  },
});

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
  summary: 'Claims the oldest ready task, or waits for one',
  description:
    'A claim gives up the task that the same instanceId still holds, and answers an older waiting claim of it with 204. ' +
    'A claim whose reply cannot be written is undone.',
  tags,
  access: access.runnerTasks,
  body: claimRequestSchema,
  responses: {
    200: { description: 'The task, held by this instance.', schema: claimSchema },
    204: { description: 'No task was ready within the wait.' },
  },
  errors: ['templateUnknown', 'templateNotAllowed'],
  errorStyle: 'coded',
  async handler({ body, principal, services, signal, shutdown }) {
    const identity = { holder: holderOf(principal), instanceId: body.instanceId };
    const coverage = await coverageFor(services, body.templates ?? []);
    const { waitSeconds } = body;
    const task = await claimTask(services, { identity, coverage, waitSeconds, signal, shutdown });
    if (task === undefined) return { status: 204 };
    services.runners.holders.taken(task, { instance: identity.instanceId, kind: 'account' });
    return {
      status: 200,
      body: presentClaim(task, services.settings.INCREMENTAL_MAX_INPUTS),
      async settled(delivered: boolean) {
        if (!delivered) await takeBack(services, task.taskId);
      },
    };
  },
});

export const claimRoutes = [whoami, claim];
