/** Answers of a separate authentication service, read within bounds. */
import { limits } from '../../domain/limits.ts';

/** The bytes of an answer; rejects above `limits.authAnswerBytes`. */
export async function readAnswer(body: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    // Leaving the loop cancels the rest.
    if (bytes > limits.authAnswerBytes)
      throw new Error('The authentication service’s response is incomplete.');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/**
 * The JSON of an answer; undefined when it is not JSON. The parser's message quotes the text, so it is not passed on.
 */
export function parseAnswer(bytes: Buffer): unknown {
  if (bytes.length === 0) return undefined;
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    throw new Error('The authentication service’s response is not JSON.');
  }
}
