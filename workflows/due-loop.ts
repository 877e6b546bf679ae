/** The loop of a workflow whose activity does what is due and says when more is. */
import { condition, defineSignal, setHandler, workflowInfo } from '@temporalio/workflow';
import { wakeSignal } from './contract.ts';

const wake = defineSignal(wakeSignal);
/** Beyond this many events the workflow continues as new. */
const maxHistoryEvents = 1_000;

/**
 * Runs the activity at once, at each time that it names, and when the workflow is woken. Returns when nothing is to come.
 * @param continues continues the workflow as new
 */
export async function whileDue(
  activity: () => Promise<{ readonly nextInSeconds: number | null }>,
  continues: () => Promise<never>,
): Promise<void> {
  let dirty = true;
  setHandler(wake, () => {
    dirty = true;
  });
  for (;;) {
    dirty = false;
    const { nextInSeconds } = await activity();
    // A signal may have come while the activity answered.
    if (nextInSeconds === null && !dirty) return;
    if (nextInSeconds !== null && !dirty) await condition(() => dirty, Math.max(nextInSeconds * 1_000, 1));
    if (workflowInfo().historyLength > maxHistoryEvents) await continues();
  }
}
