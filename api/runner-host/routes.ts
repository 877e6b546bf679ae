/**
 * For hosts of deployed runners, which have the key `RUNNER_HOST_KEY` and no other access to the platform. Internal:
 * the host of the same version is the only caller, so the routes are not in the interface document.
 */
import { z } from 'zod';
import { access } from '../../domain/access/access.ts';
import { Problem } from '../../domain/errors.ts';
import { limits } from '../../domain/limits.ts';
import { deployedStates, runnerHostPaths } from '../../domain/runners/runner-host.ts';
import { uuid } from '../../http/schemas.ts';
import { isSharedKey } from '../../http/shared-key.ts';
import { endProcesses, reconcileHost, startProcess } from '../../store/runners/runner-host.ts';
import { defineRoute } from '../route.ts';
import type { Services } from '../services.ts';

const hostRoute = {
  method: 'POST',
  versions: 'as-listed',
  hidden: true,
  traced: false,
  tags: ['Runner administration'],
  access: access.open,
  // The platform itself.
  audit: { notHere: 'Runner tokens and the list of deployed runners show the result.' },
  credentials: ['serviceKey'],
  errors: ['unauthorized'],
} as const;

const whole = (min: number, max: number) => z.int().min(min).max(max);
const processKey = z.object({
  runnerType: z.string().max(limits.nameCharacters),
  number: whole(1, limits.deployedProcessesPerType),
});

const reconcile = defineRoute({
  ...hostRoute,
  id: 'reconcileRunnerHost',
  path: runnerHostPaths.reconcile,
  summary: 'Heartbeat of a host: reports its processes and returns its assignment',
  body: z.object({
    hostId: uuid(),
    processesPerType: whole(1, limits.deployedProcessesPerType),
    room: whole(0, limits.deployedProcessesPerHost),
    silentSeconds: whole(1, limits.deployedSilentSeconds),
    processes: z
      .array(
        processKey.extend({
          state: z.enum(deployedStates),
          message: z.string().max(limits.deployedMessageCharacters),
          starts: whole(0, limits.maxInt32),
        }),
      )
      .max(limits.deployedProcessesPerReport),
  }),
  responses: {
    200: {
      description: 'The processes that the host is assigned.',
      schema: z.object({
        processes: z.array(
          processKey.extend({
            entrypoint: z.string(),
            version: z.string(),
            isWanted: z.boolean(),
            isSilent: z.boolean(),
            cancelledRunId: z.guid().nullable(),
          }),
        ),
        isFull: z.boolean(),
      }),
    },
  },
  async handler({ body, request, services }) {
    admit(request.bearer, services);
    return { status: 200, body: await reconcileHost(services.database, body) };
  },
});

const start = defineRoute({
  ...hostRoute,
  id: 'startDeployedProcess',
  path: runnerHostPaths.start,
  summary: 'Creates the runner token for the next start of a process, shown once',
  body: processKey.extend({ hostId: uuid(), tokenId: uuid().nullable() }),
  responses: {
    200: {
      description: 'The token, or null when the process is not assigned to the host.',
      schema: z.object({ token: z.object({ id: z.guid(), value: z.string().nullable() }).nullable() }),
    },
  },
  async handler({ body, request, services }) {
    admit(request.bearer, services);
    const { database, objects } = services;
    const reply = await startProcess(database, objects.secrets, body);
    services.runners.tokens.forget();
    return { status: 200, body: reply, headers: { 'cache-control': 'no-store' } };
  },
});

const end = defineRoute({
  ...hostRoute,
  id: 'endDeployedProcesses',
  path: runnerHostPaths.end,
  summary: 'Reports ended processes',
  body: z.object({
    hostId: uuid(),
    processes: z
      .array(
        processKey.extend({
          isFinal: z.boolean(),
          how: z.string().max(limits.deployedMessageCharacters).optional(),
        }),
      )
      .max(limits.deployedChangesPerCall),
  }),
  responses: { 204: { description: 'Recorded.' } },
  async handler({ body, request, services }) {
    admit(request.bearer, services);
    await endProcesses(services.database, body);
    services.runners.tokens.forget();
    return { status: 204 };
  },
});

/** @throws Problem `unauthorized` */
function admit(bearer: string | null, { settings }: Services): void {
  if (!isSharedKey(bearer, settings.RUNNER_HOST_KEY)) throw new Problem('unauthorized');
}

export const runnerHostRoutes = [reconcile, start, end];
