/**
 * JSON bodies (decisions 2), read by koa-body for the routes that accept one. It returns the text, which is parsed
 * strictly here: its own parser accepts duplicate keys and uses the last. Routes that accept bytes do not use this.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { koaBody } from 'koa-body';
import { bodyTooLarge, Problem } from '../../domain/errors.ts';
import { limits } from '../../domain/limits.ts';
import { parseStrictJson } from '../../domain/strict-json.ts';
import type { Call, Context, RouteMiddleware } from '../call.ts';
import { readInput } from '../errors.ts';
import { withPascalNames } from '../names.ts';
import { Turns } from '../turns.ts';
import { BodyPlaces } from './body-places.ts';

const utf8 = new TextDecoder('utf-8', { fatal: true });
/** Byte for byte: any other encoding would replace invalid UTF-8, which must be refused. */
const readText = koaBody({
  json: false,
  urlencoded: false,
  textTypes: ['*/*'],
  textLimit: limits.jsonBodyBytes,
  encoding: 'binary',
});

/** Tells callers apart; null for a call without a token. */
export type CallerKey = (call: Call) => string | null;

/**
 * Reads, parses and validates the body. Refuses a body that is malformed, too deep, has duplicate keys or does not
 * match the schema with 400; a slow one with 408, a large one with 413, one that is compressed or not UTF-8 with
 * 415, and one of too many large ones at once with 503. Above a few KB bodies are parsed in turn, those of many callers by
 * turns, with pauses in which all other calls are served.
 */
export function jsonBody(callerKey: CallerKey): RouteMiddleware {
  const places = new BodyPlaces();
  const turns = new Turns();
  return ({ body: schema, bodyNames, refusals, idempotent }) => {
    if (schema === undefined) return undefined;
    return async (context, next) => {
      const { state } = context;
      if (schema === 'stream') state.body = { ...state.upload, caller: callerKey(state) ?? '' };
      else {
        const caller = callerKey(state);
        const release = acquirePlace(context, places, caller);
        try {
          const bytes = await readBody(context);
          // Without a token all callers are one here: what they send is short.
          if (bytes.length > limits.jsonBodyTurnBytes) await turns.wait(caller ?? '', state.life.signal);
          state.life.throwIfCut();
          const json = parsed(bytes);
          // A call may wait for long: only what is needed after the schema is kept.
          if (idempotent !== undefined) state.json = json;
          const named = bodyNames === 'PascalCase' ? withPascalNames(json, schema) : json;
          state.body = readInput('body', schema, named, refusals?.body);
        } finally {
          release();
        }
      }
      await next();
    };
  };
}

function acquirePlace({ req, state }: Context, places: BodyPlaces, caller: string | null): () => void {
  refuseByHeaders(req.headers);
  return places.acquire(caller, state.upload.declaredBytes);
}

async function readBody(context: Context): Promise<Buffer> {
  context.state.upload.open();
  try {
    // Whatever Content-Type the caller sent: these routes accept only JSON.
    context.is = () => 'text';
    await readText(context, async () => undefined);
  } catch (cause) {
    const { status } = cause as { readonly status?: number };
    if (status === 413) throw bodyTooLarge(limits.jsonBodyBytes);
    throw new Problem(status === 415 ? 'compressedBody' : 'malformedRequest', { cause });
  }
  const bytes = Buffer.from(context.request.body as string, 'latin1');
  delete context.request.body;
  return bytes;
}

/** Runs before a caller that waits for `100 Continue` sends the body. */
function refuseByHeaders(headers: IncomingHttpHeaders): void {
  const encoding = headers['content-encoding']?.trim().toLowerCase();
  if (encoding !== undefined && encoding !== '' && encoding !== 'identity')
    throw new Problem('compressedBody');
  const charset = /;\s*charset\s*=\s*"?([^\s;"]+)/i.exec(headers['content-type'] ?? '')?.[1]?.toLowerCase();
  if (charset !== undefined && !['utf-8', 'utf8', 'us-ascii'].includes(charset))
    throw new Problem('unsupportedMediaType', { message: 'JSON bodies must be UTF-8.' });
  if (Number(headers['content-length'] ?? '0') > limits.jsonBodyBytes)
    throw bodyTooLarge(limits.jsonBodyBytes);
}

/** Undefined for no body at all. */
function parsed(bytes: Uint8Array): unknown {
  if (bytes.length === 0) return undefined;
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch (cause) {
    throw new Problem('malformedJson', { cause });
  }
  const result = parseStrictJson(text);
  if (!result.ok) throw new Problem('malformedJson', { message: result.reason });
  return result.value;
}
