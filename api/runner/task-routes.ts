/** Heartbeats, progress and end of a task (contract: Runner routes; decisions 9). */
import { createHash } from 'node:crypto';
import type { z } from 'zod';
import { Problem, type ProblemKey } from '../../domain/errors.ts';
import { limits } from '../../domain/limits.ts';
import { formatTimestamp } from '../../domain/timestamp.ts';
import type { CallIds } from '../../http/log-fields.ts';
import { pathId } from '../../http/schemas.ts';
import type { TaskHolder } from '../../store/runners/holder.ts';
import { recordHeartbeat } from '../../store/runners/lease.ts';
import type { ArrivedClaim, TemplateClaim } from '../../store/runs/claims.ts';
import { type EndRefusal, endTask, type TaskEnd } from '../../store/runs/end-task.ts';
import { rejectInput } from '../../store/runs/rejections.ts';
import { writeWatermark } from '../../store/runs/watermark.ts';
import { defineRoute } from '../route.ts';
import { canonicalJson } from './canonical-json.ts';
import { type ClaimCall, claimForReply, claimWithEnd, coverageFor } from './claims/claim.ts';
import { callerOf, type TaskCall, taskRoute } from './identity.ts';
import { inputIdParameter } from './inputs.ts';
import {
  completeRequestSchema,
  completeSchema,
  failRequestSchema,
  failSchema,
  heartbeatRequestSchema,
  heartbeatSchema,
  type NextRequest,
  rejectionRequestSchema,
  rejectionSchema,
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
  summary: 'Renews the lease and reports progress',
  description:
    'Send one every `heartbeatIntervalSeconds`. Phase and message appear as statusDetails of the node. On ' +
    '`cancelRequested` end the task with any outcome; the node is then Failed as cancelled. One lease and ' +
    `${limits.cancelGraceSeconds} seconds after the cancel the task is ended, despite heartbeats.`,
  body: heartbeatRequestSchema,
  responses: { 200: { description: 'Kept.', schema: heartbeatSchema } },
  async handler(context) {
    const { params, body, services } = context;
    const reply = await recordHeartbeat(services.database, callerOf(context), {
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
  summary: 'Advances the watermark and publishes the staged outputs',
  description:
    'Durable at once, together with `state` if it is sent. The outputs that the run has staged so far are published with it, in ' +
    'the order in which they were written, and stay published however the task ends. Write all outputs that belong to an input ' +
    'before the watermark passes it. Repeating the current watermark is accepted and publishes the outputs staged ' +
    'since then. The watermark only moves forward, and only to an input of the task.',
  body: watermarkRequestSchema,
  responses: { 200: { description: 'The current watermark.', schema: watermarkSchema } },
  errors: ['watermarkRegression', 'watermarkUnknownInput'],
  async handler(context) {
    const { body, services } = context;
    const caller = callerOf(context);
    const { database } = services;
    const write = await writeWatermark(database, caller, body.inputId, body.state);
    if (write.kind === 'refused') throw writeProblem(write.why);
    return { status: 200, body: { watermark: write.watermark, pendingInputs: write.pendingInputs } };
  },
});

const rejection = defineRoute({
  ...taskRoute,
  id: 'rejectInput',
  method: 'PUT',
  path: '/api/v2/runner/tasks/{taskId}/rejections/{inputId}',
  summary: 'Rejects one input',
  description:
    'In an incremental node this moves the watermark to the input, by the rules of the watermark: what the run has ' +
    'staged is published with it, and it stays however the task ends. In any other node it counts when the task ' +
    'completes, with an output or without, and is dropped when the task ends otherwise. The node lists its rejected ' +
    'inputs until a later run has consumed them. A repeat changes nothing.',
  params: taskRoute.params.extend({ inputId: inputIdParameter }),
  body: rejectionRequestSchema,
  responses: { 200: { description: 'The input is rejected.', schema: rejectionSchema } },
  errors: ['watermarkRegression', 'watermarkUnknownInput'],
  async handler(context) {
    const { params, body, services } = context;
    const caller = callerOf(context);
    // An id of another form is no input of any task.
    const inputId = pathId().safeParse(params.inputId).data ?? 0;
    const write = await rejectInput(services.database, caller, { inputId, ...body });
    if (write.kind === 'refused') throw writeProblem(write.why);
    return { status: 200, body: { inputId, watermark: write.watermark, pendingInputs: write.pendingInputs } };
  },
});

const aboutNext =
  'With `next` the instance also claims its next task, as by a claim, and the reply holds it. A repeat is answered with ' +
  'the task that the instance then holds.';
const nextErrors = ['templateUnknown', 'templateNotAllowed'] as const;
/** It waits as a claim does. */
const shareOfNext = ({ next }: { readonly next?: NextRequest }) => (next ? 'claims' : undefined);

const complete = defineRoute({
  ...taskRoute,
  id: 'completeTask',
  method: 'PUT',
  path: '/api/v2/runner/tasks/{taskId}/complete',
  summary: 'Completes the task',
  description:
    'Staged outputs of the run are published together, in the order in which they were written. With `no-output` and ' +
    '`suspended` they are dropped. Outputs published by a move of the watermark stay published. `completed` requires an output of the ' +
    'run. `hasMore` creates a follow-up task if the watermark moved. A repeat gets the same response for ten ' +
    `minutes, another outcome \`task_finished\`. ${aboutNext}`,
  shareOf: shareOfNext,
  body: completeRequestSchema,
  responses: { 200: { description: 'Finished.', schema: completeSchema } },
  errors: ['outputMissing', 'taskFinished', ...nextErrors],
  async handler(context) {
    const { outcome, hasMore, statusDetails, state, next } = context.body;
    const end = { kind: 'complete', outcome, hasMore: hasMore ?? false, statusDetails, state } as const;
    return await endAndClaim<z.input<typeof completeSchema>>(context, end, next);
  },
});

const fail = defineRoute({
  ...taskRoute,
  id: 'failTask',
  method: 'PUT',
  path: '/api/v2/runner/tasks/{taskId}/fail',
  summary: 'Reports a failure',
  description:
    'Every category but `validation` is retried, up to maxAttempts, with growing delays. After the last attempt, the outputs ' +
    'staged since the last move of the watermark are dropped. A repeat gets the same response for ten minutes, ' +
    `another outcome \`task_finished\`. ${aboutNext}`,
  shareOf: shareOfNext,
  body: failRequestSchema,
  responses: { 200: { description: 'Noted.', schema: failSchema } },
  errors: ['taskFinished', ...nextErrors],
  async handler(context) {
    const { next, ...reported } = context.body;
    return await endAndClaim<z.input<typeof failSchema>>(context, { kind: 'fail', ...reported }, next);
  },
});

const release = defineRoute({
  ...taskRoute,
  id: 'releaseTask',
  method: 'PUT',
  path: '/api/v2/runner/tasks/{taskId}/release',
  summary: 'Releases an unfinished task',
  description:
    'For example on shutdown. It does not count as an attempt, and staged outputs stay for the next holder. From the third ' +
    `release on, the run waits up to a minute before its next claim; \`reason\` appears in statusDetails. ${aboutNext}`,
  shareOf: shareOfNext,
  body: releaseRequestSchema,
  responses: { 200: { description: 'Released.', schema: releaseSchema } },
  errors: ['taskFinished', ...nextErrors],
  async handler(context) {
    const { next, ...reported } = context.body;
    return await endAndClaim<z.input<typeof releaseSchema>>(context, { kind: 'release', ...reported }, next);
  },
});

const endProblems: Readonly<Record<EndRefusal, ProblemKey>> = {
  'task-not-found': 'taskNotFound',
  'task-finished': 'taskFinished',
  'output-missing': 'outputMissing',
  'not-incremental': 'invalidRequest',
};

type EndCall = ClaimCall &
  TaskCall & {
    readonly note: (ids: CallIds) => void;
  };

/**
 * Ends a held task, and claims the next one where the call asks for it: a repeat is answered with what the instance then
 * holds. What may refuse the claim is checked before anything is ended.
 */
async function endAndClaim<Body extends object>(call: EndCall, end: TaskEnd, next: NextRequest) {
  const caller = callerOf(call);
  const coverage = next && (await coverageFor(call.services, call.principal, next.templates ?? []));
  const claim = coverage ? claimWithEnd(call, coverage) : undefined;
  const ended = await endHeld(call, caller, end, claim);
  const reply = ended.reply as Body;
  if (!next || !coverage) return { status: 200, body: reply } as const;
  const { instanceId } = caller;
  const { waitSeconds } = next;
  const { arrived } = ended;
  const request = { instanceId, coverage, waitSeconds, whenHolding: 'deliver', arrived } as const;
  const claimed = await claimForReply(call, request).catch(noneWhenRefused);
  return {
    status: 200,
    body: { ...reply, next: claimed?.body ?? null },
    ...(claimed && { settled: claimed.settled }),
  } as const;
}

/** The task has ended, so its end is answered; the caller's next call is refused. */
function noneWhenRefused(error: unknown): undefined {
  if (!(error instanceof Problem) || ![401, 403].includes(error.status)) throw error;
}

/**
 * Ends a held task and returns the reply that the store decided, the same one for a repeat, and what the claim found
 * that was made with it.
 */
async function endHeld(
  { services, note }: EndCall,
  caller: TaskHolder,
  end: TaskEnd,
  next: TemplateClaim | undefined,
): Promise<{ readonly reply: unknown; readonly arrived?: ArrivedClaim | undefined }> {
  const digest = createHash('sha256').update(canonicalJson(end)).digest('base64url');
  const result = await endTask(services.database, caller, end, {
    digest,
    jitter: Math.random(),
    next,
  });
  if (result.kind === 'refused') {
    const message = 'hasMore requires an incremental node template.';
    throw new Problem(endProblems[result.why], result.why === 'not-incremental' ? { message } : {});
  }
  services.runners.holders.ended(caller.taskId);
  if (result.kind === 'ended') {
    const { sessionId, runId, nodeInstanceId } = result;
    note({ sessionId, nodeInstanceId, runId });
    return { reply: result.reply, arrived: result.next };
  }
  return { reply: result.reply };
}

export const taskRoutes = [heartbeat, watermark, rejection, complete, fail, release];
