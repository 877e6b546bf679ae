/** Claiming a task, with or without waiting for one (contract: Runner rule 2; decisions 9). */
import type { z } from 'zod';
import { Problem } from '../../../domain/errors.ts';
import { limits } from '../../../domain/limits.ts';
import { isRefusal, sqlStates } from '../../../domain/network/database-fault.ts';
import { quoteRunnerName } from '../../../domain/runner-name.ts';
import { runnerVersion } from '../../../domain/runners/runner-version.ts';
import type { RunnerIdentity } from '../../../store/runners/holder.ts';
import {
  type ArrivedClaim,
  type ClaimedTask,
  type ClaimTicket,
  claimNext,
  redeliverHeld,
  registerAndClaim,
  registerClaim,
  type TemplateClaim,
} from '../../../store/runs/claims.ts';
import { releaseHeldTask, undoClaim } from '../../../store/runs/release-claim.ts';
import type { Services } from '../../services.ts';
import { holderOf, type RunnerCaller } from '../identity.ts';
import { presentClaim } from '../present.ts';
import type { claimSchema } from '../schema.ts';
import { type CallerChecks, checksOf } from './caller-checks.ts';
import { type Coverage, coverageOf, type TemplateSnapshot } from './template-catalogue.ts';

/** Concurrent claims of one instance give up after this many tries; the next claim succeeds. */
const maxTries = 5;

interface ClaimRequest {
  readonly identity: RunnerIdentity;
  /** The runner's version as it was sent; null for none. */
  readonly version: string | null;
  readonly coverage: Coverage;
  readonly waitSeconds: number;
  /**
   * A task that the instance still holds. `release`: it claims again (interface, runner rule 2). `deliver`: it is the
   * answer, because the call may be a repeat of one that claimed it.
   */
  readonly whenHolding: 'release' | 'deliver';
  /** What the first try found, where the end of the instance's task has made it ({@link claimWithEnd}). */
  readonly arrived?: ArrivedClaim | undefined;
  readonly caller: CallerChecks;
  readonly signal: AbortSignal;
  readonly shutdown: AbortSignal;
}

/**
 * The templates that a claim covers: of an account those of runtime `external` alone, of a runner token those of its
 * runner types.
 * @param wanted names from the request; empty: all
 * @throws Problem `templateUnknown`, `templateNotAllowed`
 */
export async function coverageFor(
  services: Services,
  principal: RunnerCaller,
  wanted: readonly string[],
): Promise<Coverage> {
  const { templates } = services.runners;
  let snapshot = await templates.load();
  if (wanted.length === 0) {
    return principal.kind === 'runner' ? templates.allOfTypes(principal.runnerTypes) : templates.allExternal;
  }
  // It may have been registered a moment ago: only a fresh read may refuse.
  if (firstRefused(snapshot, principal, wanted) !== undefined) snapshot = await templates.load(0);
  const refused = firstRefused(snapshot, principal, wanted);
  if (refused !== undefined) throw refused;
  return coverageOf(wanted);
}

function firstRefused(
  snapshot: TemplateSnapshot,
  principal: RunnerCaller,
  wanted: readonly string[],
): Problem | undefined {
  for (const name of wanted) {
    const template = snapshot.byName.get(name);
    if (template === undefined) {
      const message = `Node template ${quoteRunnerName(name)} is not registered.`;
      return new Problem('templateUnknown', { message });
    }
    const { runtime, runnerType } = template;
    const isReached =
      principal.kind === 'runner'
        ? runtime !== 'system' && principal.runnerTypes.includes(runnerType)
        : runtime === 'external';
    if (!isReached) {
      const message = `The token does not cover node template ${quoteRunnerName(name)}. Ask whoami for those that it covers.`;
      return new Problem('templateNotAllowed', { message });
    }
  }
  return undefined;
}

/** The oldest ready task, or undefined when there was none in time or a newer claim replaced this one. */
async function claimTask(services: Services, request: ClaimRequest): Promise<ClaimedTask | undefined> {
  const { identity, waitSeconds, arrived, caller, signal: ofCall } = request;
  const { waiters } = services.runners;
  const start = { startedAtMs: performance.now(), names: request.coverage.names() };
  const { claimSeq, drained, task } =
    arrived === undefined || arrived.holdsTask ? await firstTry(services, request) : arrived;
  if (waitSeconds === 0 || task !== undefined) waiters.replaceOlder({ identity, claimSeq });
  if (task !== undefined) return task;
  if (waitSeconds === 0) return await lastTry(services, request, claimSeq, start);
  return await caller.during(ofCall, (signal) =>
    waitForTask(services, { ...request, signal }, { claimSeq, drained, start }),
  );
}

interface FirstTry extends Pick<ClaimTicket, 'claimSeq' | 'drained'> {
  readonly task: ClaimedTask | undefined;
}

/** Announces the claim and tries it: in one statement when it is for one template and the instance holds nothing. */
async function firstTry(services: Services, request: ClaimRequest): Promise<FirstTry> {
  const { identity, version, coverage, signal } = request;
  const claim = claimOfOne(coverage, version);
  if (claim === undefined) {
    const { claimSeq, drained, holdsTask } = await registerClaim(
      services.database,
      identity,
      coverage.coversAll ? null : coverage.names(),
      version,
    );
    const held = holdsTask ? await settleHeld(services, request) : undefined;
    const task = held ?? (drained ? undefined : await tryClaim(services, request, claimSeq));
    return { claimSeq, drained, task };
  }
  const arrived = await retryOnHeldTask(services, request, () => {
    const { isLimited } = services.runners.templates.current;
    return signal.aborted
      ? undefined
      : registerAndClaim(services.database, identity, { ...claim, isLimited });
  });
  if (arrived === undefined || 'held' in arrived) return { claimSeq: 0, drained: false, task: arrived?.held };
  if (!arrived.holdsTask) return arrived;
  const task = (await settleHeld(services, request)) ?? (await tryClaim(services, request, arrived.claimSeq));
  return { ...arrived, task };
}

/** The claim that one statement can make; undefined for a coverage of no template or several. */
function claimOfOne(coverage: Coverage, version: string | null): TemplateClaim | undefined {
  const [template, ...others] = coverage.names();
  if (template === undefined || others.length > 0) return undefined;
  return { template, leaseSeconds: limits.leaseSeconds, coversAll: coverage.coversAll, version };
}

/** What a claim knew when it began. */
interface ClaimStart {
  readonly startedAtMs: number;
  /** The templates that it covered. */
  readonly names: readonly string[];
}

/** For a claim of all templates, before it waits or ends: some may have been registered since its tries knew them. */
async function lastTry(
  services: Services,
  request: ClaimRequest,
  claimSeq: number,
  start: ClaimStart,
): Promise<ClaimedTask | undefined> {
  const { templates } = services.runners;
  const { coversAll, names } = request.coverage;
  if (!coversAll) return undefined;
  if (templates.current.loadedAtMs < start.startedAtMs) await templates.load(0);
  const known = new Set(start.names);
  const fresh = names().filter((name) => !known.has(name));
  if (fresh.length === 0) return undefined;
  return await tryClaim(services, { ...request, coverage: coverageOf(fresh) }, claimSeq);
}

async function waitForTask(
  services: Services,
  request: ClaimRequest,
  { claimSeq, drained, start }: Pick<ClaimTicket, 'claimSeq' | 'drained'> & { start: ClaimStart },
): Promise<ClaimedTask | undefined> {
  const { caller } = request;
  const waiter = services.runners.waiters.enter({ ...request, claimSeq, drained });
  try {
    for (let isWoken = false; waiter.end === undefined; isWoken = true) {
      const task = waiter.isDrained ? undefined : await tryClaim(services, request, claimSeq);
      if (task !== undefined) return task;
      const fresh =
        isWoken || waiter.isDrained ? undefined : await lastTry(services, request, claimSeq, start);
      if (fresh !== undefined) return fresh;
      // A token that has just ended gets no task; the wake passes to another waiter.
      if (isWoken && !(await caller.mayWaitOn())) return undefined;
      waiter.foundNothing();
      if (!(await waiter.next()) || !(await caller.mayTry())) return undefined;
    }
    return undefined;
  } finally {
    waiter.leave();
  }
}

async function tryClaim(
  services: Services,
  request: ClaimRequest,
  claimSeq: number,
): Promise<ClaimedTask | undefined> {
  const { identity, coverage, signal } = request;
  const { isLimited } = await services.runners.templates.load();
  const found = await retryOnHeldTask(services, request, () => {
    const claim = { claimSeq, templates: coverage.names(), leaseSeconds: limits.leaseSeconds, isLimited };
    // A caller that hung up must not acquire a task.
    return signal.aborted ? undefined : claimNext(services.database, identity, claim);
  });
  return found !== undefined && 'held' in found ? found.held : found;
}

/** Settles the matter when an older claim of the same instance got a task just before this one, and tries again. */
async function retryOnHeldTask<T>(
  services: Services,
  request: ClaimRequest,
  claim: () => Promise<T> | undefined,
): Promise<T | { readonly held: ClaimedTask } | undefined> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await claim();
    } catch (error) {
      if (!isHeldAlready(error) || tries === maxTries) throw error;
      const held = await settleHeld(services, request);
      if (held !== undefined) return { held };
    }
  }
}

/**
 * Returns the task that the instance holds, or releases it. A caller that hung up does neither: its instance may hold a
 * task from a later claim.
 */
async function settleHeld(
  { database }: Services,
  { identity, signal, whenHolding }: ClaimRequest,
): Promise<ClaimedTask | undefined> {
  if (signal.aborted) return undefined;
  const held = whenHolding === 'deliver' ? await redeliverHeld(database, identity) : undefined;
  if (held === undefined) await releaseHeldTask(database, identity);
  return held;
}

function isHeldAlready(error: unknown): boolean {
  return isRefusal(error, sqlStates.uniqueViolation, 'node_claim_held');
}

/** What the claim of a call needs beside its own body. */
export interface ClaimCall {
  readonly principal: RunnerCaller;
  readonly request: { readonly headers: Readonly<Record<string, string | undefined>> };
  readonly services: Services;
  readonly requestId: string;
  readonly signal: AbortSignal;
  readonly shutdown: AbortSignal;
}

interface Delivery {
  readonly task: ClaimedTask;
  readonly body: z.input<typeof claimSchema>;
  /** Undoes a claim whose reply did not reach the caller; an earlier reply may have delivered one that was held. */
  readonly settled: (delivered: boolean) => Promise<void>;
}

/** The claim that can be made with the end of a task: of one template without limits. */
export function claimWithEnd(
  { request, services, signal }: ClaimCall,
  coverage: Coverage,
): TemplateClaim | undefined {
  const claim = claimOfOne(coverage, runnerVersion(request.headers['user-agent']));
  if (claim === undefined || signal.aborted) return undefined;
  return services.runners.templates.current.isLimited(claim.template) === true ? undefined : claim;
}

/** Claims a task for the reply to a call; undefined when there is none. */
export async function claimForReply(
  { principal, request, services, requestId, signal, shutdown }: ClaimCall,
  wanted: Pick<ClaimRequest, 'coverage' | 'waitSeconds' | 'whenHolding' | 'arrived'> & {
    readonly instanceId: string;
  },
): Promise<Delivery | undefined> {
  const { database, runners, settings } = services;
  const { instanceId, ...claim } = wanted;
  const identity = { holder: holderOf(principal), instanceId };
  const version = runnerVersion(request.headers['user-agent']);
  const caller = checksOf(runners, principal, requestId);
  const task = await claimTask(services, { ...claim, identity, version, caller, signal, shutdown });
  if (task === undefined) return undefined;
  const kind = principal.kind === 'runner' ? 'runner' : 'account';
  runners.holders.claimed(task, { instance: instanceId, kind });
  return {
    task,
    body: presentClaim(task, settings.INCREMENTAL_MAX_INPUTS),
    async settled(delivered) {
      if (delivered || task.redelivered) return;
      runners.holders.ended(task.taskId);
      await undoClaim(database, task.taskId);
    },
  };
}
