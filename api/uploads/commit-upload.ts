/** From a request's bytes to an output, or to a place in the queue: for uploads and managed ingest alike. */
import { Problem } from '../../domain/errors.ts';
import { isDatabaseAway } from '../../domain/network/database-fault.ts';
import { whenDatabaseReturns } from '../../store/connection/database-returns.ts';
import { isMadeAlready } from '../../store/connection/idempotency.ts';
import type { Ingest } from '../../store/entities/ingest.ts';
import { findCommitted } from '../../store/uploads/committed-upload.ts';
import type { PublishResult } from '../../store/uploads/publish-upload.ts';
import { mustNotifyQueue, type QueueResult } from '../../store/uploads/queued-uploads.ts';
import { queueTarget } from '../../workflows/targets.ts';
import { KeyedLimiter } from '../keyed-limiter.ts';
import type { Services } from '../services.ts';
import { type ReceivedObject, type ReceiveOptions, receiveObject } from './receive.ts';

type Result = PublishResult | QueueResult;
type Refused = { readonly outcome: 'frozen' | 'node-missing' };
type Accepted<R> = Exclude<R, Refused>;
export type CommittedUpload = Accepted<Result>;

/**
 * Publishing locks the session, so uploads to one session wait for each other. They wait here, without a database
 * connection that others need; without a database none of them waits for its turn to find that out.
 */
const publications = new KeyedLimiter(8, 2, isDatabaseAway);

/**
 * Runs the transaction of an upload to a node of the session, when it is its turn.
 * @param signal of its call: one that was refused while it waited publishes nothing
 */
export function publishToSession<T>(
  sessionId: string,
  work: () => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  return publications.run(() => {
    if (signal?.reason instanceof Problem) throw signal.reason;
    return work();
  }, sessionId);
}

/** The same for a managed ingest. A session that is made for one file locks no other. */
export function publishToIngest<T>(ingest: Ingest, work: () => Promise<T>): Promise<T> {
  return ingest.creationBehaviour === 'LatestSession'
    ? publications.run(work, `ingest ${ingest.id}`)
    : work();
}

/**
 * Receives an upload, runs the transaction that refers to its object, and sends notifications of the changes.
 * @throws Problem `sessionFrozen`, `nodeInstanceNotFound`; what {@link receiveObject} and `work` throw
 */
export async function commitUpload(
  services: Services,
  options: ReceiveOptions,
  work: (received: ReceivedObject) => Promise<Result>,
): Promise<CommittedUpload> {
  const commit = (received: ReceivedObject) => {
    let tries = 0;
    const once = async () => {
      tries += 1;
      // The commit of the try before may have come through without its answer.
      const made = tries > 1 ? await findCommitted(services.database, received) : undefined;
      return made ?? (await work(received));
    };
    return whenDatabaseReturns(once, options.signal);
  };
  const result = accepted(await receiveObject(services, options, commit, usesObject));
  if (result.outcome === 'queued' && !isMadeAlready()) await notifyQueue(services, result);
  return result;
}

/** @throws Problem `sessionFrozen`, `nodeInstanceNotFound` */
export function accepted<R extends { readonly outcome: string }>(result: R): Accepted<R> {
  if (result.outcome === 'frozen') throw new Problem('sessionFrozen');
  if (result.outcome === 'node-missing') throw new Problem('nodeInstanceNotFound');
  return result as Accepted<R>;
}

/** A call whose key has made its upload already, and a repeat, refer to the object of an earlier request. */
function usesObject({ outcome }: Result): boolean {
  return !isMadeAlready() && (outcome === 'created' || outcome === 'replaced' || outcome === 'queued');
}

/** A failure here does not remove it from the queue: the healer finds entries without a notification. */
export async function notifyQueue(
  services: Services,
  queued: { readonly projectId: number; readonly id: number },
): Promise<void> {
  const mustNotify = await mustNotifyQueue(services.database, queued).catch(() => true);
  if (mustNotify) services.workflows.notify(queueTarget(queued.projectId));
}
