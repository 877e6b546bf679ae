/** Releases the tasks of runner tokens that ended or no longer cover them; no attempt is counted (decisions 9). */
import type { Logger } from 'pino';
import type { Database } from '../../store/connection/database.ts';
import { listTasksOfEndedTokens, settleEndedTokens } from '../../store/runners/runner-tokens.ts';
import { requeueTask } from '../../store/runs/release-claim.ts';

const tasksPerRead = 200;
/** A few connections of the pool; tasks of one session wait for each other anyway. */
const tasksAtOnce = 4;

interface Parts {
  readonly database: Database;
  readonly log: Logger;
}

/** Safe in several processes at once: each task is released by one of them. */
export async function releaseEndedTasks(parts: Parts): Promise<void> {
  for (let isMore = true; isMore; ) {
    const taskIds = await listTasksOfEndedTokens(parts.database, tasksPerRead);
    const released = await releaseAll(parts, [...taskIds]);
    if (released > 0) parts.log.info({ tasks: released }, 'released tasks of ended runner tokens');
    // When nothing could be released, the next round tries again.
    isMore = taskIds.length === tasksPerRead && released > 0;
  }
  await settleEndedTokens(parts.database);
}

/** @returns how many were still held */
async function releaseAll({ database }: Parts, waiting: string[]): Promise<number> {
  let released = 0;
  async function work(): Promise<void> {
    for (let taskId = waiting.pop(); taskId !== undefined; taskId = waiting.pop()) {
      if (await requeueTask(database, taskId)) released += 1;
    }
  }
  await Promise.all(Array.from({ length: tasksAtOnce }, work));
  return released;
}
