/** The order of built-in runs, which is that of claims: Temporal's queue knows no priorities. */
import { ApplicationFailure, Context } from '@temporalio/activity';
import { ApplicationFailureCategory } from '@temporalio/common';
import type { Database } from '../store/connection/database.ts';
import { isBehindOthers } from '../store/runs/queue.ts';
import { builtinNodes } from './builtin/nodes.ts';

/** A run waits so much longer with each time that it lets others go first, up to a bound. */
const stepMs = 500;
const maxMs = 5_000;
/** How many times a run lets others go first in any case. After that it does so only while a built-in run is held. */
const patientAttempts = 3;
const templates = builtinNodes.map(({ name }) => name);

/**
 * Sends a run that is behind others to the end of Temporal's queue.
 * @throws ApplicationFailure, after which Temporal starts the activity again
 */
export async function letOthersFirst(database: Database, runId: string): Promise<void> {
  const { attempt } = Context.current().info;
  if (!(await isBehindOthers(database, runId, templates, attempt > patientAttempts))) return;
  throw ApplicationFailure.create({
    message: 'Runs that come first, by their priority or their time, are still queued.',
    nextRetryDelay: Math.min(attempt * stepMs, maxMs),
    category: ApplicationFailureCategory.BENIGN,
  });
}
