/**
 * The holder of an attempt, shown to operators in the workflow engine. Only for tasks that are held for a while: most
 * end before an operator could read it, and before the workflow awaits them.
 */
import type { Database } from '../../../store/connection/database.ts';
import { isClaimOpen } from '../../../store/runners/lease.ts';
import type { ClaimedTask } from '../../../store/runs/claims.ts';
import type { WorkflowClient } from '../../../workflows/client.ts';

const showAfterMs = 1_000;
/** The workflow begins to wait for an attempt some seconds after the claim, later when it is busy. */
const maxPauseMs = 16_000;
const maxTries = 15;
/** Five seconds after the claim: from this try on a workflow that does not wait for the attempt is notified. */
const longFromTry = 3;

/** Instance id and kind of runner: nothing personal, no token. */
type Holder = {
  readonly instance: string;
  readonly kind: 'account' | 'runner';
};

/** A holder that is yet to be shown. */
interface Notice {
  readonly task: ClaimedTask;
  readonly holder: Holder;
  tries: number;
  /** Once is enough: each of the workflow's reconciles finds the held attempt, and the next follows when it has room. */
  isWorkflowNotified: boolean;
  timer?: NodeJS.Timeout;
}

export class HolderNotices {
  readonly #database: Database;
  readonly #workflows: WorkflowClient;
  readonly #notices = new Map<string, Notice>();

  constructor(database: Database, workflows: WorkflowClient) {
    this.#database = database;
    this.#workflows = workflows;
  }

  claimed(task: ClaimedTask, holder: Holder): void {
    this.ended(task.taskId);
    const notice: Notice = { task, holder, tries: 0, isWorkflowNotified: false };
    this.#notices.set(task.taskId, notice);
    this.#tryAfter(notice, showAfterMs);
  }

  ended(taskId: string): void {
    clearTimeout(this.#notices.get(taskId)?.timer);
    this.#notices.delete(taskId);
  }

  /** Tasks whose holder is yet to be shown. */
  get count(): number {
    return this.#notices.size;
  }

  close(): void {
    for (const taskId of this.#notices.keys()) this.ended(taskId);
  }

  #tryAfter(notice: Notice, pauseMs: number): void {
    notice.timer = setTimeout(() => void this.#try(notice, pauseMs), pauseMs).unref();
  }

  async #try(notice: Notice, pauseMs: number): Promise<void> {
    const { taskId } = notice.task;
    notice.tries += 1;
    const isOpen = notice.tries === 1 || (await this.#isOpen(taskId));
    // It ended here meanwhile, or this process stops.
    if (this.#notices.get(taskId) !== notice) return;
    if (isOpen === false || notice.tries === maxTries) this.ended(taskId);
    else this.#tryAfter(notice, Math.min(pauseMs * 1.5, maxPauseMs));
    if (isOpen === true) this.#show(notice);
  }

  /**
   * A task may end at another process, or without a call: by the loss of its lease, a cancel, or the end of its token.
   * Undefined when the database does not answer.
   */
  async #isOpen(taskId: string): Promise<boolean | undefined> {
    return isClaimOpen(this.#database, taskId).catch(() => undefined);
  }

  #show(notice: Notice): void {
    const { task, holder, tries, isWorkflowNotified } = notice;
    const notifies = tries >= longFromTry && !isWorkflowNotified;
    const done = (result: 'shown' | 'notified') => {
      if (result === 'notified') notice.isWorkflowNotified = true;
      else if (this.#notices.get(task.taskId) === notice) this.ended(task.taskId);
    };
    this.#workflows.showHolder(task, { node: task.nodeName, ...holder }, { notifies, done });
  }
}
