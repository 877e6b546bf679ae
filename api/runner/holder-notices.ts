/**
 * Who holds an attempt, shown to operators in the workflow engine. Only for tasks that are held for a while: most end
 * before anybody could look, and before the workflow awaits them.
 */
import type { ClaimedTask } from '../../store/claims.ts';
import type { WorkflowClient } from '../../workflows/client.ts';

const showAfterMs = 1_000;

export class HolderNotices {
  readonly #workflows: WorkflowClient;
  readonly #timers = new Map<string, NodeJS.Timeout>();

  constructor(workflows: WorkflowClient) {
    this.#workflows = workflows;
  }

  /** @param holder instance id and kind of runner: nothing personal, no token */
  taken(task: ClaimedTask, holder: { readonly instance: string; readonly kind: 'account' | 'runner' }): void {
    const timer = setTimeout(() => {
      this.#timers.delete(task.taskId);
      this.#workflows.showHolder(task.sessionId, task.runId, task.attempt, holder);
    }, showAfterMs).unref();
    this.#timers.set(task.taskId, timer);
  }

  ended(taskId: string): void {
    clearTimeout(this.#timers.get(taskId));
    this.#timers.delete(taskId);
  }

  close(): void {
    for (const timer of this.#timers.values()) clearTimeout(timer);
    this.#timers.clear();
  }
}
