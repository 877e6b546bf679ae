/** Who holds tasks: an account or token, and the instance name that its program chose (contract: Runner rules 1, 2). */
import { z } from 'zod';
import { access } from '../../domain/access/access.ts';
import { holdsToken } from '../../domain/access/token-format.ts';
import { Problem } from '../../domain/errors.ts';
import { limits } from '../../domain/limits.ts';
import { uuid } from '../../http/schemas.ts';
import { accountHolder, type TaskHolder, tokenHolder } from '../../store/runners/holder.ts';
import { type HeldTask, renewLease } from '../../store/runners/lease.ts';
import type { Principal } from '../identity/auth-client.ts';
import { runnerExampleValues } from '../runner-examples.ts';
import type { RunnerPrincipal } from '../runner-tokens/principal.ts';
import type { Services } from '../services.ts';

export const instanceIdForm = new RegExp(`^[A-Za-z0-9._:-]{1,${limits.runnerInstanceCharacters}}$`);
const header = 'x-platform-runner-instance';

/** For routes of the task protocol, which write no audit entry. */
export const auditedByClaims = { notHere: 'Claims, runs and outputs record this already.' } as const;

/** The common part of every route of a held task; spread it into the route. */
export const taskRoute = {
  tags: ['Runner'],
  access: access.runnerTasks,
  audit: auditedByClaims,
  params: z.object({
    taskId: uuid().meta({ description: 'From the claim.', example: runnerExampleValues.taskId }),
  }),
  headers: z.object({
    [header]: z.string().min(1).meta({
      description: 'The instanceId that the task was claimed with.',
      pattern: instanceIdForm.source,
      example: runnerExampleValues.instanceId,
    }),
  }),
  errorStyle: 'coded',
  refusals: { params: 'taskNotFound', headers: 'instanceHeaderMissing' },
} as const;

/** A caller of the runner routes. */
export type RunnerCaller = RunnerPrincipal | (Principal & { readonly kind: 'access' });

export function holderOf(principal: RunnerCaller): string {
  return principal.kind === 'runner' ? tokenHolder(principal.tokenId) : accountHolder(principal.userId);
}

/** The parts of a call that identify the holder. */
export interface TaskCall {
  readonly params: { readonly taskId: string };
  readonly principal: RunnerCaller;
  readonly headers: { readonly [header]: string };
  readonly request: { readonly headers: Readonly<Record<string, string | undefined>> };
  readonly services: Pick<Services, 'runners'>;
}

/**
 * The caller of a task's route; the call counts as a sighting of its instance. Throws for a header that no instance can
 * have.
 */
export function callerOf(context: TaskCall): TaskHolder {
  const instanceId = context.headers[header];
  if (!instanceIdForm.test(instanceId) || holdsToken(instanceId)) {
    throw new Problem('invalidRequest', {
      message: `X-Platform-Runner-Instance must hold 1 to ${limits.runnerInstanceCharacters} characters of A-Za-z0-9._:-`,
    });
  }
  const identity = { holder: holderOf(context.principal), instanceId };
  context.services.runners.presence.seen(identity, context.request.headers['user-agent']);
  return { ...identity, taskId: context.params.taskId };
}

/** The task, its lease renewed; throws the 404 when the caller does not hold it (any more). */
export async function heldTask(services: Services, caller: TaskHolder): Promise<HeldTask> {
  const task = await renewLease(services.database, caller);
  if (task === undefined) throw new Problem('taskNotFound');
  return task;
}
