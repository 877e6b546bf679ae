/** Shared by the tests of runs: a node template for each test, and a runner that claims its tasks. */
import type { Database } from '../../../store/connection/database.ts';
import { outsideTemplate } from '../../support/graph.ts';

export const completed = { kind: 'complete', outcome: 'completed', hasMore: false } as const;

export type RunWorld = ReturnType<typeof runWorld>;

export function runWorld(database: Database) {
  /** The token of the present test: each has its own, as each has its own node template. */
  let token = 'token';
  let templates = 0;
  return {
    database,
    runner: (instanceId: string, holder = token) => ({ holder, instanceId }),

    /** A node template that only this test uses, so that tests do not claim each other's tasks. */
    async ownTemplate(options: Parameters<typeof outsideTemplate>[2] = {}): Promise<string> {
      templates += 1;
      const name = `outside-${templates}`;
      token = `token-of-${name}`;
      await outsideTemplate(database, name, options);
      return name;
    },

    async expireLease(taskId: string) {
      await database.query(
        `update node_claim set lease_until = clock_timestamp() - interval '1 second' where task_id = $1`,
        [taskId],
      );
      await database.query(
        `insert into platform_process (process_id, heartbeat_at) values (gen_random_uuid(), clock_timestamp())`,
      );
    },
  };
}
