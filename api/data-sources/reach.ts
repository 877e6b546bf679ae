/** Whether a data source can be used as it is described: asked before it is stored (decisions 4). */
import { isEndpointAllowed, isLinkLocal, readEndpoint } from '../../domain/endpoint.ts';
import { Problem } from '../../domain/errors.ts';
import type { S3Access } from '../../store/data-sources.ts';
import { ObjectStoreError, openObjectStore } from '../../store/objects.ts';

const patienceMs = 10_000;

/** Throws 400 with the reason when the endpoint is not allowed here or the bucket does not answer. */
export async function requireReachable(
  access: S3Access,
  allowlist: readonly string[] | undefined,
): Promise<void> {
  const endpoint = readEndpoint(access.endpoint);
  if (
    endpoint === null ||
    isLinkLocal(endpoint.hostname) ||
    (allowlist !== undefined && !isEndpointAllowed(endpoint, allowlist))
  ) {
    throw new Problem('dataSourceUnreachable', {
      message: 'Data sources at this endpoint are not allowed in this installation.',
    });
  }
  const store = openObjectStore(access);
  try {
    await store.probe(AbortSignal.timeout(patienceMs));
  } catch (cause) {
    throw new Problem('dataSourceUnreachable', {
      message: `The data source cannot be reached: ${reasonOf(cause)}.`,
      cause,
    });
  } finally {
    store.close();
  }
}

/** Our own words: what a stranger's server says goes to nobody. */
function reasonOf(error: unknown): string {
  const status = error instanceof ObjectStoreError ? error.httpStatus : null;
  if (status === null) return networkReason(error);
  if (status === 400) return 'the store refused the request; is the region right?';
  if (status === 404) return 'there is no such bucket';
  if (status === 401 || status === 403) return 'the keys do not open the bucket';
  if (status >= 300 && status < 400) return 'the bucket is in another region or at another endpoint';
  return `the store answered with status ${status}`;
}

const networkReasons: Readonly<Record<string, string>> = {
  ENOTFOUND: 'its host is not known',
  EAI_AGAIN: 'its host is not known',
  ECONNREFUSED: 'nothing listens at the endpoint',
  ECONNRESET: 'the connection broke',
  EPROTO: 'the endpoint does not speak TLS',
  CERT_HAS_EXPIRED: 'its certificate has expired',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is not trusted',
  SELF_SIGNED_CERT_IN_CHAIN: 'its certificate is not trusted',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'its certificate is not trusted',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another host',
};

/** Walks the chain of causes for a code that we know. */
function networkReason(error: unknown): string {
  for (let at: unknown = error, depth = 0; at instanceof Error && depth < 8; at = at.cause, depth += 1) {
    const known = networkReasons[(at as NodeJS.ErrnoException).code ?? ''];
    if (known !== undefined) return known;
  }
  return 'it gave no answer in time that a store would give';
}
