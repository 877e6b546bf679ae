/** The state of the runner routes in one process; no other process needs it. */
import type { Logger } from 'pino';
import type { Database } from '../../store/connection/database.ts';
import type { SecretBox } from '../../store/objects/secrets.ts';
import type { WorkflowClient } from '../../workflows/client.ts';
import type { AuthClient } from '../identity/auth-client.ts';
import { RunnerTokens } from '../runner-tokens/tokens.ts';
import { RunnerPresence } from '../runners/presence.ts';
import { HolderNotices } from './claims/holder-notices.ts';
import { SignIns } from './claims/sign-ins.ts';
import { TaskWaiters } from './claims/task-waiters.ts';
import { TemplateCatalogue } from './claims/template-catalogue.ts';
import { LogWriter } from './log-writer.ts';
import { ProcessHeartbeat } from './process-heartbeat.ts';

export interface RunnerServicesParts {
  readonly database: Database;
  readonly workflows: WorkflowClient;
  readonly auth: AuthClient;
  readonly secrets: SecretBox;
  readonly log: Logger;
}

export class RunnerServices {
  readonly templates: TemplateCatalogue;
  readonly waiters: TaskWaiters;
  readonly holders: HolderNotices;
  readonly tokens: RunnerTokens;
  readonly signIns: SignIns;
  readonly presence: RunnerPresence;
  readonly logs: LogWriter;
  readonly #alive: ProcessHeartbeat;

  /** Connects to nothing yet. */
  constructor(parts: RunnerServicesParts) {
    const { database, workflows, log } = parts;
    this.templates = new TemplateCatalogue(database);
    this.waiters = new TaskWaiters(database, this.templates, log);
    this.holders = new HolderNotices(database, workflows);
    this.tokens = new RunnerTokens(parts);
    this.signIns = new SignIns(parts.auth);
    this.presence = new RunnerPresence({ database, log, waiting: () => this.waiters.identities });
    this.logs = new LogWriter(database);
    this.#alive = new ProcessHeartbeat(database, log);
  }

  /** To be awaited before the server listens. */
  async open(): Promise<void> {
    await this.#alive.start();
    this.waiters.listen();
    this.tokens.start();
    this.presence.start();
  }

  /** To be awaited before a runner is answered. */
  caughtUp(): Promise<void> {
    return this.#alive.caughtUp();
  }

  /** To be called before the database is closed. */
  async close(): Promise<void> {
    this.holders.close();
    await Promise.all([this.waiters.stop(), this.#alive.stop(), this.tokens.stop(), this.presence.stop()]);
  }
}
