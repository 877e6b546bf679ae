/** Runner instances as operators see them, and draining (contract: Runner administration; decisions 9). */
import { z } from 'zod';
import { access } from '../../domain/access/access.ts';
import { Problem } from '../../domain/errors.ts';
import { exampleValues } from '../../domain/examples.ts';
import { limits } from '../../domain/limits.ts';
import { formatTimestamp } from '../../domain/timestamp.ts';
import { pageParameters, timestampOut, uuid } from '../../http/schemas.ts';
import { listExternalTypeNames } from '../../store/registry/claimable-templates.ts';
import { listDeployed } from '../../store/runners/deployed-runners.ts';
import {
  listRunnerInstances,
  type RunnerInstanceRow,
  runnerStates,
  setRunnerDrained,
} from '../../store/runners/runner-instances.ts';
import { defineRoute } from '../route.ts';
import { runnerExampleValues } from '../runner-examples.ts';
import type { Services } from '../services.ts';
import { deployedExample, deployedSchema, maxDeployed, presentDeployed } from './deployed.ts';

const path = '/api/v2/admin/runners';
const tags = ['Runner administration'];

const runnerId = '0198ee21-7d40-7c1a-9e55-2f6b8c0d3a71';

const runnerSchema = z
  .object({
    id: z.guid(),
    instanceId: z.string().meta({ description: 'The instanceId of the runner.' }),
    kind: z.enum(['token', 'account']).meta({ description: 'The kind of its credential.' }),
    tokenId: z.guid().nullable(),
    tokenLabel: z.string().nullable(),
    tokenHint: z.string().nullable(),
    userId: z.guid().nullable().meta({ description: 'The account; null for tokens.' }),
    runnerTypes: z.array(z.string()).meta({ description: 'Runner types whose tasks it may claim.' }),
    hosting: z
      .enum(['deployed', 'external'])
      .meta({ description: '`deployed`: started by the platform; `external`: started elsewhere.' }),
    version: z.string().nullable().meta({ description: 'From the `User-Agent` of its calls.' }),
    firstSeenAt: timestampOut(),
    lastSeenAt: timestampOut().meta({ description: 'Accurate to a few seconds.' }),
    drained: z.boolean(),
    state: z.enum(runnerStates).meta({
      description:
        '`gone`: it signed off, or holds no task and was not seen for ' +
        `${limits.runnerGoneSeconds} seconds. A waiting claim counts as seen. \`drained\`: it is present and holds no task.`,
    }),
    task: z
      .object({
        taskId: z.guid(),
        runId: z.guid(),
        attempt: z.int(),
        sessionId: z.guid(),
        nodeInstanceId: z.int(),
        nodeName: z.string(),
        nodeTemplate: z.string(),
        claimedAt: timestampOut(),
        phase: z.string().nullable(),
      })
      .nullable()
      .meta({ description: 'The task that it holds.' }),
  })
  .meta({
    id: 'RunnerInstance',
    example: {
      id: runnerId,
      instanceId: runnerExampleValues.instanceId,
      kind: 'token',
      tokenId: runnerExampleValues.tokenId,
      tokenLabel: 'Laboratory 3',
      tokenHint: '4xQ2',
      userId: null,
      runnerTypes: [runnerExampleValues.runnerType],
      hosting: 'external',
      version: 'lap-splitter/1.4.2',
      firstSeenAt: exampleValues.startedAt,
      lastSeenAt: exampleValues.processedAt,
      drained: false,
      state: 'busy',
      task: {
        taskId: runnerExampleValues.taskId,
        runId: runnerExampleValues.runId,
        attempt: 1,
        sessionId: exampleValues.sessionId,
        nodeInstanceId: runnerExampleValues.nodeId,
        nodeName: 'laps',
        nodeTemplate: runnerExampleValues.template,
        claimedAt: runnerExampleValues.claimedAt,
        phase: 'reading',
      },
    },
  });

const list = defineRoute({
  id: 'listRunners',
  method: 'GET',
  path,
  summary: 'Lists runner instances that have claimed tasks, last seen first',
  description:
    `An instance is a token or account with an instanceId. It leaves the list when it was not seen for ${limits.runnerInstanceKeptDays} ` +
    `days, a drained one after ${limits.runnerDrainedKeptDays}. Built-in nodes run inside the platform ` +
    'and are not listed. `deployed` lists the processes that the platform starts, including those that have not made a ' +
    'claim; it is complete on every page.',
  tags,
  access: access.admin,
  query: z.object({
    ...pageParameters('Instances'),
  }),
  responses: {
    200: {
      description: 'One page of instances.',
      schema: z
        .object({
          runners: z.array(runnerSchema),
          deployed: z.array(deployedSchema),
          page: z.int(),
          pageSize: z.int(),
          totalCount: z.int(),
          totalPages: z.int(),
        })
        .meta({
          id: 'RunnerInstanceList',
          example: { deployed: [deployedExample], page: 1, pageSize: 25, totalCount: 1, totalPages: 1 },
        }),
    },
  },
  async handler({ query: { page, pageSize }, services }) {
    const [{ rows, totalCount }, external, deployed] = await Promise.all([
      listRunnerInstances(services.database, { offset: (page - 1) * pageSize, limit: pageSize }),
      listExternalTypeNames(services.database),
      listDeployed(services.database, maxDeployed),
    ]);
    const runners = rows.map((row) => present(row, external));
    return {
      status: 200,
      body: {
        runners,
        deployed: presentDeployed(deployed),
        page,
        pageSize,
        totalCount,
        totalPages: Math.ceil(totalCount / pageSize),
      },
    };
  },
});

const drainRoute = {
  path: `${path}/{id}/drain`,
  tags,
  access: access.admin,
  audit: { object: 'runner', from: 'id' },
  params: z.object({ id: uuid().meta({ description: 'The instance.', example: runnerId }) }),
  errors: ['runnerNotFound'],
  refusals: { params: 'runnerNotFound' },
} as const;

const drain = defineRoute({
  ...drainRoute,
  id: 'drainRunner',
  method: 'POST',
  summary: 'Drains an instance: it finishes its task and gets no more',
  description:
    'Its claims get 204 after their wait, as if no task were ready; nothing else changes. ' +
    'It stays drained until `DELETE` of the same path. A repeat changes nothing.',
  responses: { 200: { description: 'The instance.', schema: runnerSchema } },
  async handler({ params, principal, services, log }) {
    const runner = await changed(services, params.id, true);
    log.info(auditOf('drainRunner', principal, params), 'runner drained');
    return { status: 200, body: runner };
  },
});

const undrain = defineRoute({
  ...drainRoute,
  id: 'undrainRunner',
  method: 'DELETE',
  summary: 'Ends the draining of an instance',
  description: 'Its waiting claim can get a task at once. No change for an instance that is not drained.',
  responses: { 200: { description: 'The instance.', schema: runnerSchema } },
  async handler({ params, principal, services, log }) {
    const runner = await changed(services, params.id, false);
    log.info(auditOf('undrainRunner', principal, params), 'runner no longer drained');
    return { status: 200, body: runner };
  },
});

function auditOf(audit: string, { userId }: { readonly userId: string }, { id }: { readonly id: string }) {
  return { audit, userId, runnerId: id };
}

async function changed({ database }: Services, id: string, drained: boolean) {
  const row = await setRunnerDrained(database, id, drained);
  if (row === undefined) throw new Problem('runnerNotFound');
  return present(row, await listExternalTypeNames(database));
}

function present(row: RunnerInstanceRow, external: readonly string[]): z.input<typeof runnerSchema> {
  const { id, holder, instanceId, token, version, drained, state, task } = row;
  const [kind, holderId] = holder.split(':') as ['token' | 'user', string];
  const isToken = kind === 'token';
  return {
    id,
    instanceId,
    kind: isToken ? 'token' : 'account',
    tokenId: isToken ? holderId : null,
    tokenLabel: token?.label ?? null,
    tokenHint: token?.hint ?? null,
    userId: isToken ? null : holderId,
    runnerTypes: isToken ? [...(token?.runnerTypes ?? [])] : [...external],
    hosting: token?.isDeployed ? 'deployed' : 'external',
    version,
    firstSeenAt: formatTimestamp(row.firstSeenAt),
    lastSeenAt: formatTimestamp(row.lastSeenAt),
    drained,
    state,
    task: task === null ? null : { ...task, claimedAt: formatTimestamp(task.claimedAt) },
  };
}

export const runnerAdministrationRoutes = [list, drain, undrain];
