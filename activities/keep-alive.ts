/** Keeps the lease of a built-in run while it works, and notices when the run must stop. */
import { Context } from '@temporalio/activity';
import { leaseTimes } from '../domain/runs/lease-times.ts';
import type { TaskHolder } from '../store/runners/holder.ts';
import { isClaimOpen, recordHeartbeat } from '../store/runners/lease.ts';
import type { ClaimedTask } from '../store/runs/claims.ts';
import { ClaimLostError } from './builtin/node.ts';
import type { ActivityServices } from './services.ts';

const { renewEveryMs } = leaseTimes;

/**
 * Whether Temporal ends the activity or the process stops. An activity unknown to Temporal is not a reason to stop: its
 * workflow continued as new or was terminated. The run is ours by its lease, and its next activity waits for its end.
 */
export function mustRelease(
  { cancellationSignal, cancellationDetails }: Context,
  stopping: AbortSignal,
): boolean {
  return cancellationSignal.aborted && (stopping.aborted || cancellationDetails?.notFound !== true);
}

/** Heartbeats for the lease and for Temporal while an attempt runs. Messages name files: they stay out of Temporal. */
export function keepAlive(
  task: ClaimedTask,
  caller: TaskHolder,
  services: ActivityServices,
  stopping: AbortSignal,
) {
  const context = Context.current();
  const lost = new AbortController();
  let said = { phase: 'starting', message: '' };
  const checkCancellation = () => {
    if (mustRelease(context, stopping)) lost.abort(new ClaimLostError('The task is released.'));
  };
  context.cancellationSignal.addEventListener('abort', checkCancellation);
  checkCancellation();
  const sendPhase = () => context.heartbeat({ node: task.nodeName, phase: said.phase });
  async function sendHeartbeat() {
    checkCancellation();
    sendPhase();
    try {
      const held = await recordHeartbeat(services.database, caller, said);
      const isOurs = held !== undefined || (await isClaimOpen(services.database, task.taskId));
      if (!isOurs || held?.cancelRequested) lost.abort(new ClaimLostError('The task is no longer held.'));
    } catch (error) {
      // The next heartbeat tries again; when none gets through, the lease ends, as the fence then reports.
      const { taskId, sessionId, nodeInstanceId } = task;
      services.log.warn({ taskId, sessionId, nodeInstanceId, err: error }, 'a heartbeat failed');
    }
  }
  const timer = setInterval(() => void sendHeartbeat(), renewEveryMs);
  return {
    signal: lost.signal,
    report(phase: string, message: string) {
      said = { phase, message };
      sendPhase();
    },
    stop: () => clearInterval(timer),
  };
}
