/** Whether the bytes of an output are a JSON document of 4 MB or less (contract: Limits; decisions 8). */
import { PassThrough, pipeline, type Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { limits } from '../../domain/limits.ts';
import { KeyedLimiter } from '../keyed-limiter.ts';
import { isGzipFault } from '../output-data.ts';

/** Documents read and parsed at the same time; each needs several times its size in memory. */
const readersAtOnce = 2;
const rememberedAnswers = 10_000;
/** Compressing incompressible bytes makes them longer, by less than this. */
const packedSlackBytes = 64 * 1024;

export interface Candidate {
  /** Identifies these bytes, which never change under this name. */
  readonly name: string;
  readonly sizeBytes: number;
  readonly contentEncoding: string | null;
  /** Opens the stored bytes. */
  readonly open: () => Promise<Readable>;
}

const answers = new Map<string, boolean>();
const readers = new KeyedLimiter(readersAtOnce);

/** Decided by parsing the decoded bytes; the answer is cached. Rejects when the bytes cannot be read. */
export async function isJsonDocument(candidate: Candidate): Promise<boolean> {
  const slack = candidate.contentEncoding === null ? 0 : packedSlackBytes;
  if (candidate.sizeBytes === 0 || candidate.sizeBytes > limits.latestJsonBytes + slack) return false;
  const known = answers.get(candidate.name);
  if (known !== undefined) return known;
  return await readers.run(async () => {
    const bytes = await readDecoded(await candidate.open(), candidate.contentEncoding);
    const answer = bytes !== null && parses(bytes);
    remember(candidate.name, answer);
    return answer;
  });
}

/** Null when there are more than 4 MB of them, or they cannot be decoded. */
async function readDecoded(stored: Readable, contentEncoding: string | null): Promise<Buffer | null> {
  const decoder = contentEncoding === null ? new PassThrough() : createGunzip();
  const decoded = pipeline(stored, decoder, () => undefined);
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  try {
    for await (const chunk of decoded as AsyncIterable<Buffer>) {
      sizeBytes += chunk.length;
      if (sizeBytes > limits.latestJsonBytes) return null;
      chunks.push(chunk);
    }
  } catch (error) {
    if (isGzipFault(error)) return null;
    throw error;
  } finally {
    stored.destroy();
  }
  return Buffer.concat(chunks);
}

function parses(bytes: Buffer): boolean {
  try {
    JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
    return true;
  } catch {
    return false;
  }
}

function remember(name: string, answer: boolean): void {
  if (answers.size >= rememberedAnswers) answers.delete(answers.keys().next().value!);
  answers.set(name, answer);
}
