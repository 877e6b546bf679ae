/** Releases the tasks of runner tokens that ended or no longer cover them; no attempt is counted (decisions 9). */
import type { Logger } from 'pino';
import type { Database } from '../../store/connection/database.ts';
import {
  type EndedTask,
  listTasksOfEndedTokens,
  settleEndedTokens,
} from '../../store/runners/ended-tokens.ts';
import { requeueTask } from '../../store/runs/release-claim.ts';

const tasksPerRead = 200;
/** A few connections of the pool. */
const sessionsAtOnce = 4;

interface Parts {
  readonly database: Database;
  readonly log: Logger;
}

/**
 * Safe in several processes at once: each task is released by one of them. One that cannot be released is left to the
 * next round.
 */
export async function releaseEndedTasks(parts: Parts): Promise<void> {
  for (let isMore = true; isMore; ) {
    const tasks = await listTasksOfEndedTokens(parts.database, tasksPerRead);
    const released = await releaseAll(parts, tasks);
    if (released > 0) parts.log.info({ tasks: released }, 'released tasks of ended runner tokens');
    // When nothing could be released, the next round tries again.
    isMore = tasks.length === tasksPerRead && released > 0;
  }
  await settleEndedTokens(parts.database);
}

/**
 * Those of a session one after the other: they wait for its lock, and where a stalled process has it, tasks of other
 * sessions must not wait too.
 * @returns how many were still held
 */
async function releaseAll(parts: Parts, tasks: readonly EndedTask[]): Promise<number> {
  const sessions = [...Map.groupBy(tasks, ({ sessionId }) => sessionId).values()];
  let released = 0;
  async function work(): Promise<void> {
    for (let own = sessions.pop(); own !== undefined; own = sessions.pop())
      for (const task of own) if (await isReleased(parts, task)) released += 1;
  }
  await Promise.all(Array.from({ length: sessionsAtOnce }, work));
  return released;
}

async function isReleased({ database, log }: Parts, { taskId, sessionId }: EndedTask): Promise<boolean> {
  try {
    return await requeueTask(database, taskId);
  } catch (error) {
    log.warn({ err: error, taskId, sessionId }, 'task of an ended runner token not released');
    return false;
  }
}
