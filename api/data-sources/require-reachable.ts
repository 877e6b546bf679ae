/** Checks that a data source can be used, before it is stored (decisions 4). */
import type { Logger } from 'pino';
import { Problem } from '../../domain/errors.ts';
import type { S3Access } from '../../store/objects/data-sources.ts';
import { connectionFaultOf, lastCauseOf } from '../../store/objects/errors.ts';
import { ObjectStoreError } from '../../store/objects/object-store.ts';
import type { ObjectStores } from '../../store/objects/object-stores.ts';

const patienceMs = 10_000;

/**
 * Throws 400 with the reason when the endpoint is not allowed here or the bucket does not answer. Nothing is connected to
 * an address of the inside of this network, and such an address reads like a host that does not exist, so no reason
 * reveals anything of it. The log has the details.
 */
export async function requireReachable(objects: ObjectStores, access: S3Access, log: Logger): Promise<void> {
  if (!objects.reach.isAllowed(access.endpoint)) {
    throw new Problem('dataSourceUnreachable', {
      message: 'Data sources at this endpoint are not allowed in this installation.',
    });
  }
  const store = objects.open(access);
  try {
    await store.probe(AbortSignal.timeout(patienceMs));
  } catch (cause) {
    log.warn({ endpoint: access.endpoint, reason: detailsOf(cause) }, 'a data source cannot be reached');
    const message = `The data source cannot be reached: ${reasonOf(cause)}.`;
    throw new Problem('dataSourceUnreachable', { cause, message });
  } finally {
    store.close();
  }
}

/** For the caller, without any text of a foreign server. */
function reasonOf(error: unknown): string {
  const status = error instanceof ObjectStoreError ? error.httpStatus : null;
  if (status === 401 || status === 403) return 'the store refuses these keys';
  if (status === 404) return 'the store has no such bucket';
  if (status !== null && status < 500) return `the store answers with status ${status}: check its region`;
  if (status !== null) return `the store answers with status ${status}`;
  return connectionFaultOf(error);
}

/** For the log: the store's status, or the message of the last cause. */
function detailsOf(error: unknown): string {
  if (error instanceof ObjectStoreError && error.httpStatus !== null) return `HTTP ${error.httpStatus}`;
  const { code, name, message } = lastCauseOf(error) as NodeJS.ErrnoException;
  return `${code ?? name}: ${message}`;
}
