/** `Idempotency-Key` on the routes of an ingest, whose callers have no account: only the handler knows who they are. */
import { answerOnce } from '../../http/idempotency.ts';
import { splitTarget } from '../../http/paths.ts';
import type { Reply, RouteContext, UploadBody } from '../../http/route.ts';
import type { Ingest } from '../../store/entities/ingest.ts';
import type { Services } from '../services.ts';
import { ingestCaller } from './secret.ts';

type KeyedContext = Pick<
  RouteContext<unknown, unknown, unknown, UploadBody, unknown, Services>,
  'params' | 'body' | 'request' | 'services'
>;

/**
 * The answer of `run`, or the saved one of the same request under its key.
 * @param given the secret that the caller sent; null for none
 */
export async function answerIngestOnce<R extends Reply>(
  { params, body, request, services }: KeyedContext,
  routeId: string,
  ingest: Ingest,
  given: string | null,
  run: () => Promise<R>,
): Promise<R> {
  const header = request.headers['idempotency-key'];
  if (header === undefined) return await run();
  const call = {
    routeId,
    caller: ingestCaller(ingest, given),
    header,
    isSecret: false,
    params,
    query: splitTarget(request.url).query,
    headers: request.headers,
    json: undefined,
    upload: body,
  };
  return (await answerOnce(services.keys, call, run)) as R;
}
