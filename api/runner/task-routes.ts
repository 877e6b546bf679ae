/** Heartbeats, progress and end of a task (contract: Runner routes; decisions 9). */
import { createHash } from 'node:crypto';
import type { z } from 'zod';
import { Problem, type ProblemKey } from '../../domain/errors.ts';
import { limits } from '../../domain/limits.ts';
import { formatTimestamp } from '../../domain/timestamp.ts';
import type { CallIds } from '../../http/log-fields.ts';
import type { RunnerIdentity } from '../../store/runners/holder.ts';
import { type EndRefusal, endTask, type TaskEnd } from '../../store/runs/end-task.ts';
import { recordHeartbeat } from '../../store/runs/lease.ts';
import { writeWatermark } from '../../store/runs/watermark.ts';
import { defineRoute } from '../route.ts';
import type { Services } from '../services.ts';
import { canonicalJson } from './canonical-json.ts';
import { identityOf, taskRoute } from './identity.ts';
import {
  completeRequestSchema,
  completeSchema,
  failRequestSchema,
  failSchema,
  heartbeatRequestSchema,
  heartbeatSchema,
  releaseRequestSchema,
  releaseSchema,
  watermarkRequestSchema,
  watermarkSchema,
} from './task-schema.ts';
import { writeProblem } from './write-problem.ts';

const heartbeat = defineRoute({
  ...taskRoute,
  id: 'heartbeatTask',
  method: 'PUT',
  path: '/api/v2/runner/tasks/{taskId}/heartbeat',
  traced: false,
  summary: 'Keeps the task and tells how far it is',
  description:
    'Send one every `heartbeatIntervalSeconds`. Phase and message are shown as statusDetails of the node. With ' +
    '`cancelRequested` end the task in any way: the node then is Failed, as cancelled. One lease and ' +
    `${limits.cancelGraceSeconds} seconds after the cancel the task is taken away, whatever is beaten.`,
  body: heartbeatRequestSchema,
  responses: { 200: { description: 'Kept.', schema: heartbeatSchema } },
  async handler(context) {
    const { params, body, services } = context;
    const reply = await recordHeartbeat(services.database, identityOf(context), params.taskId, {
      phase: body.phase ?? null,
      message: body.message ?? null,
      progress: body.progress ?? null,
    });
    if (reply === undefined) throw new Problem('taskNotFound');
    return {
      status: 200,
      body: {
        taskId: params.taskId,
        leaseExpiresAt: formatTimestamp(reply.leaseExpiresAt),
        cancelRequested: reply.cancelRequested,
      },
    };
  },
});

const watermark = defineRoute({
  ...taskRoute,
  id: 'advanceWatermark',
  method: 'PUT',
  path: '/api/v2/runner/tasks/{taskId}/watermark',
  summary: 'Advances the watermark and publishes what is staged',
  description:
    'Durable at once, together with `state` when it is sent. All that the run has staged so far is published with it, in ' +
    'the order in which it was written, and stays however the task ends: write everything that belongs to an input ' +
    'before the watermark passes it. The present watermark again is answered alike and publishes what has been staged ' +
    'since. It only moves forward, and only to an input of the task.',
  body: watermarkRequestSchema,
  responses: { 200: { description: 'Where the watermark stands.', schema: watermarkSchema } },
  errors: ['watermarkRegression', 'watermarkUnknownInput'],
  async handler(context) {
    const { params, body, services } = context;
    const identity = identityOf(context);
    const { database } = services;
    const write = await writeWatermark(database, identity, params.taskId, body.inputId, body.state);
    if (write.kind === 'refused') throw writeProblem(write.why);
    return { status: 200, body: { watermark: write.watermark, pendingInputs: write.pendingInputs } };
  },
});

const complete = defineRoute({
  ...taskRoute,
  id: 'completeTask',
  method: 'PUT',
  path: '/api/v2/runner/tasks/{taskId}/complete',
  summary: 'Finishes the task',
  description:
    'Staged outputs of the run are published together, in the order in which they were written; with `no-output` and ' +
    '`suspended` they are dropped. What a move of the watermark has published stays. `completed` needs an output of the ' +
    'run. `hasMore` makes a follow-up task where the watermark moved. The same end again gets the same reply for ten ' +
    'minutes, a different one `task_finished`.',
  body: completeRequestSchema,
  responses: { 200: { description: 'Finished.', schema: completeSchema } },
  errors: ['outputMissing', 'taskFinished'],
  async handler(context) {
    const { outcome, hasMore, statusDetails, state } = context.body;
    const end = { kind: 'complete', outcome, hasMore: hasMore ?? false, statusDetails, state } as const;
    const reply = await endHeld(context, identityOf(context), end);
    return { status: 200, body: reply as z.input<typeof completeSchema> };
  },
});

const fail = defineRoute({
  ...taskRoute,
  id: 'failTask',
  method: 'PUT',
  path: '/api/v2/runner/tasks/{taskId}/fail',
  summary: 'Reports a failure',
  description:
    'All but `validation` is tried again, up to maxAttempts, with growing delays. When nothing is tried again, what was ' +
    'staged since the watermark moved last is dropped. The same end again gets the same reply for ten minutes, a ' +
    'different one `task_finished`.',
  body: failRequestSchema,
  responses: { 200: { description: 'Noted.', schema: failSchema } },
  errors: ['taskFinished'],
  async handler(context) {
    const end = { kind: 'fail', ...context.body } as const;
    const reply = await endHeld(context, identityOf(context), end);
    return { status: 200, body: reply as z.input<typeof failSchema> };
  },
});

const release = defineRoute({
  ...taskRoute,
  id: 'releaseTask',
  method: 'PUT',
  path: '/api/v2/runner/tasks/{taskId}/release',
  summary: 'Gives an unfinished task back',
  description:
    'For example on shutdown. It counts as no attempt, and what was written stays for the next holder. From the third ' +
    'time on the run waits, up to a minute; `reason` shows in statusDetails.',
  body: releaseRequestSchema,
  responses: { 200: { description: 'Given back.', schema: releaseSchema } },
  errors: ['taskFinished'],
  async handler(context) {
    const end = { kind: 'release', reason: context.body.reason } as const;
    const reply = await endHeld(context, identityOf(context), end);
    return { status: 200, body: reply as z.input<typeof releaseSchema> };
  },
});

const endProblems: Readonly<Record<EndRefusal, ProblemKey>> = {
  'task-not-found': 'taskNotFound',
  'task-finished': 'taskFinished',
  'output-missing': 'outputMissing',
  'not-incremental': 'invalidRequest',
};

interface EndCall {
  readonly services: Services;
  readonly params: { readonly taskId: string };
  readonly note: (ids: CallIds) => void;
}

/** Ends a held task and returns the reply that the store decided; the same one for a repeat. */
async function endHeld(
  { services, params: { taskId }, note }: EndCall,
  identity: RunnerIdentity,
  end: TaskEnd,
): Promise<unknown> {
  const digest = createHash('sha256').update(canonicalJson(end)).digest('base64url');
  const result = await endTask(services.database, identity, taskId, end, digest, Math.random());
  if (result.kind === 'refused') {
    const message = 'hasMore needs an incremental node template.';
    throw new Problem(endProblems[result.why], result.why === 'not-incremental' ? { message } : {});
  }
  if (result.kind === 'ended') {
    const { sessionId, runId, nodeInstanceId } = result;
    note({ sessionId, nodeInstanceId, runId });
    services.runners.holders.ended(taskId);
  }
  return result.reply;
}

export const taskRoutes = [heartbeat, watermark, complete, fail, release];
