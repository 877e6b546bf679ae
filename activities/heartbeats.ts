/** Heartbeats of an activity: by them Temporal knows that it works, and it learns that it is cancelled. */
import { Context } from '@temporalio/activity';

const everyMs = 3_000;

/**
 * Runs an activity's work with heartbeats.
 * @param details what operators see, read at each heartbeat; undefined: nothing
 * @param work its signal is aborted when the activity is cancelled
 */
export async function withHeartbeats<T>(
  details: object | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const context = Context.current();
  const timer = setInterval(() => context.heartbeat(details), everyMs);
  try {
    return await work(context.cancellationSignal);
  } finally {
    clearInterval(timer);
  }
}
