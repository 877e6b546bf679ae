/** JSON bodies, read for the one route that asked (decisions 2). There is no parser for all routes, on purpose. */
import type { IncomingMessage } from 'node:http';
import { Problem } from '../../domain/errors.ts';
import { limits } from '../../domain/limits.ts';
import { parseStrictJson } from '../../domain/strict-json.ts';

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Reads and parses a whole JSON body; undefined for an empty one. Throws `Problem`: 400 malformed, too deep or with
 * duplicate keys; 408 too slow; 413 above `maxBytes`; 415 compressed, or text that is not UTF-8.
 */
export async function readJsonBody(
  open: () => IncomingMessage,
  headers: IncomingMessage['headers'],
  maxBytes: number = limits.jsonBodyBytes,
): Promise<unknown> {
  const encoding = headers['content-encoding']?.trim().toLowerCase();
  if (encoding !== undefined && encoding !== '' && encoding !== 'identity')
    throw new Problem('compressedBody');
  const charset = /;\s*charset\s*=\s*"?([^\s;"]+)/i.exec(headers['content-type'] ?? '')?.[1]?.toLowerCase();
  if (charset !== undefined && !['utf-8', 'utf8', 'us-ascii'].includes(charset)) {
    throw new Problem('unsupportedMediaType', { message: 'JSON bodies must be UTF-8.' });
  }
  if (Number(headers['content-length'] ?? '0') > maxBytes) throw new Problem('bodyTooLarge');
  const bytes = await collect(open(), maxBytes);
  return parseJsonBytes(bytes);
}

/** Parses the bytes of a JSON body by the rules above; undefined for none. */
export function parseJsonBytes(bytes: Uint8Array): unknown {
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

async function collect(stream: IncomingMessage, maxBytes: number): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  return await new Promise((resolve, reject) => {
    const done = (act: () => void) => {
      stream.off('data', onData).off('end', onEnd).off('error', onError).off('close', onClose);
      act();
    };
    const onData = (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > maxBytes) done(() => reject(new Problem('bodyTooLarge')));
      else chunks.push(chunk);
    };
    const onEnd = () => done(() => resolve(Buffer.concat(chunks)));
    const onError = (cause: Error) => done(() => reject(new Problem('malformedRequest', { cause })));
    const onClose = () => done(() => reject(new Problem('malformedRequest')));
    stream.on('data', onData).on('end', onEnd).on('error', onError).on('close', onClose);
  });
}
