/** From a stored object to an output, or to a place in the queue: for uploads and managed ingest alike. */
import { Problem } from '../../domain/errors.ts';
import { isMadeAlready } from '../../store/connection/idempotency.ts';
import type { DataSourceRow } from '../../store/objects/data-sources.ts';
import type { PublishResult } from '../../store/outputs/publish.ts';
import { mustNotifyQueue, type QueueResult } from '../../store/outputs/queued-uploads.ts';
import { queueTarget } from '../../workflows/targets.ts';
import type { Services } from '../services.ts';
import type { ReceivedObject } from './receive.ts';

type Result = PublishResult | QueueResult;
export type CommittedUpload = Exclude<Result, { readonly outcome: 'frozen' | 'node-missing' }>;

/**
 * Runs the transaction that refers to a received object, and sends notifications of its changes; the object is removed
 * when the transaction fails or refuses.
 * @throws Problem `sessionFrozen`, `nodeInstanceNotFound`; what `work` throws
 */
export async function commitUpload(
  services: Services,
  dataSource: DataSourceRow,
  received: ReceivedObject,
  work: () => Promise<Result>,
): Promise<CommittedUpload> {
  let result: Result;
  try {
    result = await work();
  } catch (error) {
    await services.pending.discard(received.objectKey, dataSource);
    throw error;
  }
  if ('output' in result) {
    if (isMadeAlready() || result.outcome === 'repeated')
      await services.pending.discard(received.objectKey, dataSource);
    else services.pending.release(received.objectKey);
    return result;
  }
  if (result.outcome === 'waiting' || (result.outcome === 'queued' && isMadeAlready())) {
    await services.pending.discard(received.objectKey, dataSource);
    return result;
  }
  if (result.outcome === 'queued') {
    services.pending.release(received.objectKey);
    await notifyQueue(services, result);
    return result;
  }
  await services.pending.discard(received.objectKey, dataSource);
  throw new Problem(result.outcome === 'frozen' ? 'sessionFrozen' : 'nodeInstanceNotFound');
}

/** A failure here does not remove it from the queue: the healer finds entries without a notification. */
export async function notifyQueue(
  services: Services,
  queued: { readonly projectId: number; readonly id: number },
): Promise<void> {
  const mustNotify = await mustNotifyQueue(services.database, queued).catch(() => true);
  if (mustNotify) services.workflows.notify(queueTarget(queued.projectId));
}
