/** The end of a task by its holder, and the answer to a repeat (contract: Runner routes). */
import { createHash } from 'node:crypto';
import type { z } from 'zod';
import type { completeForm, failForm, releaseForm } from './forms.ts';
import { limits } from './limits.ts';
import type { Claim } from './model.ts';
import { Refusal } from './refusal.ts';
import type { World } from './world.ts';
import { publishStaged } from './writes.ts';

export type TaskEnd =
  | { readonly kind: 'complete'; readonly body: z.output<typeof completeForm> }
  | { readonly kind: 'fail'; readonly body: z.output<typeof failForm> }
  | { readonly kind: 'release'; readonly body: z.output<typeof releaseForm> };

/** JSON text in which neither the order of names nor absent, null and false fields matter. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_name, part: unknown) => {
    if (typeof part !== 'object' || part === null || Array.isArray(part)) return part;
    return Object.entries(part)
      .filter(([, item]) => item !== undefined)
      .sort(([a], [b]) => (a < b ? -1 : 1));
  });
}

/** The digest that identifies an end: the known fields, with their defaults. */
export function endDigest(end: TaskEnd): string {
  const { kind, body } = end;
  const fields =
    kind === 'complete'
      ? {
          outcome: body.outcome,
          hasMore: body.hasMore ?? false,
          statusDetails: body.statusDetails ?? undefined,
          state: body.state ?? undefined,
        }
      : kind === 'fail'
        ? { reason: body.reason, category: body.category, logTail: body.logTail ?? undefined }
        : { reason: body.reason ?? undefined, logTail: body.logTail ?? undefined };
  return createHash('sha256')
    .update(canonical({ kind, ...fields }))
    .digest('base64url');
}

/**
 * Ends a held task. The holder that ended it gets the same reply to the same end for ten minutes, and 409 to a
 * different one; other callers get 404.
 */
export function endTask(
  world: World,
  taskId: string,
  instanceId: string,
  end: TaskEnd,
): Record<string, unknown> {
  const claim = world.desk.claims.get(taskId);
  if (claim === undefined || claim.instanceId !== instanceId) throw new Refusal('taskNotFound');
  const digest = endDigest(end);
  if (!world.desk.isHeld(claim)) return repeated(claim, digest);
  claim.used = true;
  const apply = prepare(world, claim, end);
  world.desk.end(claim, { how: end.kind, atMs: performance.now(), digest });
  const reply = apply();
  const logTail = end.kind === 'complete' ? undefined : end.body.logTail;
  claim.end = { how: end.kind, atMs: performance.now(), digest, ...(logTail ? { logTail } : {}), reply };
  return reply;
}

function repeated(claim: Claim, digest: string): Record<string, unknown> {
  const { end } = claim;
  if (end?.reply === undefined || performance.now() - end.atMs > limits.endRememberedMs)
    throw new Refusal('taskNotFound');
  if (end.digest !== digest) throw new Refusal('taskFinished');
  return end.reply;
}

/** Runs the checks that may refuse the end; the returned function applies it and makes the reply. */
function prepare(world: World, claim: Claim, end: TaskEnd): () => Record<string, unknown> {
  switch (end.kind) {
    case 'complete':
      return prepareComplete(world, claim, end.body);
    case 'fail':
      return () => fail(world, claim, end.body.category);
    case 'release':
      return () => release(world, claim);
  }
}

function prepareComplete(world: World, claim: Claim, body: z.output<typeof completeForm>) {
  const { run, taskId } = claim;
  const { node } = run;
  const hasMore = body.hasMore ?? false;
  if (hasMore && !node.template.incremental)
    throw new Refusal('invalidRequest', { message: 'hasMore requires an incremental node template.' });
  const { outcome } = body;
  const hasMoved = node.watermark.position > claim.watermarkPosition;
  const followUp = !run.cancelRequested && hasMore && outcome !== 'suspended' && hasMoved;
  if (outcome === 'completed' && !run.cancelRequested && !run.wroteOutput) throw new Refusal('outputMissing');
  return () => {
    if (run.cancelRequested) {
      world.finish(run, 'cancelled');
      return { taskId, outcome, nodeState: 'Failed', followUp: false };
    }
    if (outcome === 'completed') publishStaged(claim);
    if (!node.template.incremental) node.rejected.push(...claim.rejections.values());
    node.state = body.state ?? node.state;
    node.followUpWanted = followUp;
    const isQueued = world.finish(run, outcome);
    const ended = outcome === 'suspended' ? 'Suspended' : 'Succeeded';
    return { taskId, outcome, nodeState: isQueued ? 'Pending' : ended, followUp };
  };
}

function fail(world: World, claim: Claim, category: string): Record<string, unknown> {
  const { run, taskId } = claim;
  const isLast = category === 'validation' || run.attempt >= run.node.template.maxAttempts;
  if (!run.cancelRequested && !isLast) {
    const nextAttemptAt = world.retryLater(run).toISOString();
    return { taskId, nodeState: 'Pending', willRetry: true, nextAttemptAt };
  }
  const isQueued = world.finish(run, run.cancelRequested ? 'cancelled' : 'failed');
  return { taskId, nodeState: isQueued ? 'Pending' : 'Failed', willRetry: false, nextAttemptAt: null };
}

function release(world: World, claim: Claim): Record<string, unknown> {
  const { run, taskId } = claim;
  if (run.cancelRequested) {
    world.finish(run, 'cancelled');
    return { taskId, nodeState: 'Failed' };
  }
  world.requeueReleased(run);
  return { taskId, nodeState: 'Pending' };
}
