/** Checks that a data source can be used, before it is stored (decisions 4). */
import type { Logger } from 'pino';
import { Problem } from '../../domain/errors.ts';
import type { S3Access } from '../../store/objects/data-sources.ts';
import { ObjectStoreError } from '../../store/objects/object-store.ts';
import type { ObjectStores } from '../../store/objects/object-stores.ts';

const patienceMs = 10_000;

/**
 * Throws 400 when the endpoint is not allowed here or the bucket does not answer. All failures to answer read the same,
 * so that they reveal nothing about this network; the reason goes to the log.
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
    log.warn({ endpoint: access.endpoint, reason: reasonOf(cause) }, 'a data source cannot be reached');
    throw new Problem('dataSourceUnreachable', { cause });
  } finally {
    store.close();
  }
}

/** The store's status, or the message of the last cause; the text of a foreign server is left out. */
function reasonOf(error: unknown): string {
  if (error instanceof ObjectStoreError && error.httpStatus !== null) return `HTTP ${error.httpStatus}`;
  let at = error;
  for (let depth = 0; at instanceof Error && at.cause instanceof Error && depth < 8; depth += 1)
    at = at.cause;
  return at instanceof Error ? `${(at as NodeJS.ErrnoException).code ?? at.name}: ${at.message}` : String(at);
}
