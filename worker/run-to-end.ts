/** A worker of the Temporal SDK that fails must end: its process is then started again. */
import type { Worker } from '@temporalio/worker';

/** The part of the SDK's worker that matters here. */
type FailingWorker = Pick<Worker, 'run' | 'getState'> & {
  readonly options: Pick<Worker['options'], 'taskQueue'>;
};

/**
 * Runs the worker until it ends. The SDK's own promise stays open when polling fails for good, for example because the
 * namespace is gone: it then waits for pollers that do not end. So its state is checked as well.
 * @throws when the worker fails
 */
export async function runToEnd(worker: FailingWorker, everyMs = 1_000): Promise<void> {
  const run = worker.run();
  let timer: NodeJS.Timeout | undefined;
  const failed = new Promise<never>((_, reject) => {
    timer = setInterval(() => {
      if (worker.getState() === 'FAILED')
        reject(
          new Error(`The worker of the task queue ${worker.options.taskQueue} failed; see the line before.`),
        );
    }, everyMs);
  });
  try {
    await Promise.race([run, failed]);
  } finally {
    clearInterval(timer);
    // The race is over, and the run may still reject.
    run.catch(() => {});
  }
}
