/**
 * The holder of an attempt, shown to operators in the workflow engine. Only for tasks that are held for a while: most
 * end before an operator could read it, and before the workflow awaits them.
 */
import type { ClaimedTask } from '../../../store/runs/claims.ts';
import type { WorkflowClient } from '../../../workflows/client.ts';

const showAfterMs = 1_000;
/** The workflow begins to wait for an attempt some seconds after the claim, later when it is busy. */
const longestPauseMs = 16_000;
const maxTries = 15;
/** Five seconds after the claim: from this try on a workflow that does not wait for the attempt is notified. */
const longFromTry = 3;

export class HolderNotices {
  readonly #workflows: WorkflowClient;
  readonly #timers = new Map<string, NodeJS.Timeout>();

  constructor(workflows: WorkflowClient) {
    this.#workflows = workflows;
  }

  /** @param holder instance id and kind of runner: nothing personal, no token */
  taken(task: ClaimedTask, holder: { readonly instance: string; readonly kind: 'account' | 'runner' }): void {
    this.ended(task.taskId);
    this.#showAfter(task, holder, showAfterMs, 1);
  }

  ended(taskId: string): void {
    clearTimeout(this.#timers.get(taskId));
    this.#timers.delete(taskId);
  }

  close(): void {
    for (const timer of this.#timers.values()) clearTimeout(timer);
    this.#timers.clear();
  }

  #showAfter(
    task: ClaimedTask,
    holder: Readonly<Record<string, string>>,
    pauseMs: number,
    tries: number,
  ): void {
    const timer = setTimeout(() => {
      if (tries === maxTries) this.#timers.delete(task.taskId);
      else this.#showAfter(task, holder, Math.min(pauseMs * 1.5, longestPauseMs), tries + 1);
      this.#workflows.showHolder(task, holder, tries >= longFromTry, () => this.ended(task.taskId));
    }, pauseMs).unref();
    this.#timers.set(task.taskId, timer);
  }
}
