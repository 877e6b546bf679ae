/** What the runner routes keep for a whole process; nothing that another process would need. */
import type { Logger } from 'pino';
import type { Database } from '../../store/database.ts';
import type { WorkflowClient } from '../../workflows/client.ts';
import { AliveBeat } from './alive.ts';
import { HolderNotices } from './holder-notices.ts';
import { TaskWaiters } from './task-waiters.ts';
import { TemplateCatalogue } from './template-catalogue.ts';

export class RunnerDesk {
  readonly templates: TemplateCatalogue;
  readonly waiters: TaskWaiters;
  readonly holders: HolderNotices;
  readonly #alive: AliveBeat;

  /** Connects to nothing yet. */
  constructor(database: Database, workflows: WorkflowClient, log: Logger) {
    this.templates = new TemplateCatalogue(database);
    this.waiters = new TaskWaiters(database, this.templates, log);
    this.holders = new HolderNotices(workflows);
    this.#alive = new AliveBeat(database, log);
  }

  /** To be awaited before the server listens. */
  async open(): Promise<void> {
    await this.#alive.start();
    this.waiters.listen();
  }

  /** To be called before the database is closed. */
  async close(): Promise<void> {
    this.holders.close();
    await Promise.all([this.waiters.stop(), this.#alive.stop()]);
  }
}
