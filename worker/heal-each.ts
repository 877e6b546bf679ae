/** Healing one thing after the other, so that a failure costs one of them. */
import type { Logger } from 'pino';
import type { WorkflowClient } from '../workflows/client.ts';

/**
 * Heals each of the things; a failure is logged with the thing's ids and stops none of the others.
 * @throws when Temporal does not answer at all: then the next would fail as well, each after a whole deadline
 */
export async function healEach<T>(
  things: readonly T[],
  idsOf: (thing: T) => object,
  { workflows, log }: { readonly workflows: Pick<WorkflowClient, 'ping'>; readonly log: Logger },
  heal: (thing: T) => Promise<void>,
): Promise<void> {
  for (const thing of things) {
    try {
      await heal(thing);
    } catch (error) {
      log.warn({ ...idsOf(thing), err: error }, 'not healed; it is tried again');
      await workflows.ping();
    }
  }
}
