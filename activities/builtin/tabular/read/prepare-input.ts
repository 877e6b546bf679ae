/** Makes a plain local file of an upload for DuckDB: unpacked, UTF-8, under a generated name. */
import { createReadStream, createWriteStream } from 'node:fs';
import { constants, copyFile, link, open, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { limits } from '../../../../domain/limits.ts';
import type { TextEncoding } from '../configuration.ts';
import { NoTabularData, TabularError } from '../errors.ts';
import { copyPart } from './copy-part.ts';
import { encodingOf, type FoundEncoding } from './encoding.ts';

export interface PlainInput {
  path: string;
  sizeBytes: number;
  /** The first bytes, up to {@link headBytes}. */
  head: Buffer;
  /** True when `head` is the whole file. */
  isWhole: boolean;
  /** What the text was taken for because its bytes suggest it; null when something says what it is. */
  guessedEncoding: string | null;
}

export interface PrepareSettings {
  inputPath: string;
  folder: string;
  /** Most bytes that the unpacked file may have. */
  maxPlainBytes: number;
  /** How many times its own size a packed file may unpack to. */
  unpackRatio: number;
  /** The encoding of a text that has no byte order mark. */
  encoding: TextEncoding;
  signal?: AbortSignal | undefined;
}

const headBytes = 8 * 1024 * 1024;

/**
 * Unpacks gzip (recognised by its magic bytes, declared or not), rewrites text to UTF-8 and drops a byte order mark.
 * @throws TabularError for an empty file, a broken or over-long gzip stream, and other kinds of archive.
 */
export async function prepareInput(settings: PrepareSettings): Promise<PlainInput> {
  const first = await readHead(settings.inputPath, 8);
  refuseOtherArchives(first);
  let path = join(settings.folder, 'input');
  if (first[0] === 0x1f && first[1] === 0x8b) await gunzip(settings, path);
  else await linkOrCopy(settings.inputPath, path);
  const found = await readStart(path);
  const isParquet = found.head.toString('latin1', 0, 4) === 'PAR1';
  const encoding = isParquet ? null : encodingOf(found.head, found.isWhole, settings.encoding);
  if (encoding === null || (encoding.name === 'utf-8' && encoding.mark === 0))
    return { path, ...found, guessedEncoding: null };
  const rewritten = join(settings.folder, 'input-utf8');
  await rewriteAsUtf8(path, rewritten, encoding, settings.signal);
  path = rewritten;
  return { path, ...(await readStart(path)), guessedEncoding: encoding.isGuess ? encoding.name : null };
}

async function readStart(path: string): Promise<Pick<PlainInput, 'sizeBytes' | 'head' | 'isWhole'>> {
  const { size } = await stat(path);
  if (size === 0) throw new NoTabularData('The file is empty.');
  const head = await readHead(path, Math.min(size, headBytes));
  return { sizeBytes: size, head, isWhole: head.length === size };
}

/** The reader follows no symbolic link out of its folder, so the file gets a second name there. */
async function linkOrCopy(from: string, to: string): Promise<void> {
  try {
    await link(from, to);
  } catch {
    await copyFile(from, to, constants.COPYFILE_FICLONE);
  }
}

async function readHead(path: string, bytes: number): Promise<Buffer> {
  const file = await open(path, 'r');
  try {
    const buffer = Buffer.alloc(bytes);
    let filled = 0;
    while (filled < bytes) {
      const { bytesRead } = await file.read(buffer, filled, bytes - filled, filled);
      if (bytesRead === 0) break;
      filled += bytesRead;
    }
    return buffer.subarray(0, filled);
  } finally {
    await file.close();
  }
}

function refuseOtherArchives(first: Buffer): void {
  const hex = first.toString('hex');
  if (hex.startsWith('504b0304')) {
    throw new TabularError('The file is a zip archive or a workbook; unpack it, or save the sheet as csv.');
  }
  const known: [string, string][] = [
    ['28b52ffd', 'zstd'],
    ['425a68', 'bzip2'],
    ['fd377a585a00', 'xz'],
    ['377abcaf271c', '7z'],
  ];
  for (const [magic, archive] of known) {
    if (hex.startsWith(magic))
      throw new TabularError(`The file is packed with ${archive}; only gzip is read.`);
  }
}

async function gunzip(settings: PrepareSettings, path: string): Promise<void> {
  let unpacked = 0;
  const gunzip = createGunzip({ chunkSize: 1 << 18 });
  const bound = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      unpacked += chunk.length;
      if (unpacked > settings.maxPlainBytes) {
        done(new TabularError(`The file unpacks to more than ${settings.maxPlainBytes} bytes.`));
      } else if (
        unpacked > Math.max(gunzip.bytesWritten * settings.unpackRatio, limits.builtinUnpackFreeBytes)
      ) {
        done(new TabularError(`The file unpacks to more than ${settings.unpackRatio} times its size.`));
      } else done(null, chunk);
    },
  });
  try {
    await pipeline(
      createReadStream(settings.inputPath, { highWaterMark: 1 << 20 }),
      gunzip,
      bound,
      createWriteStream(path, { highWaterMark: 1 << 20 }),
      settings.signal === undefined ? {} : { signal: settings.signal },
    );
  } catch (error) {
    settings.signal?.throwIfAborted();
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'Z_BUF_ERROR')
      throw new TabularError('The gzip stream ends too early; the file is incomplete.');
    if (code === 'Z_DATA_ERROR') throw new TabularError('The gzip stream is broken.');
    throw error;
  }
}

async function rewriteAsUtf8(
  from: string,
  to: string,
  { name, mark }: FoundEncoding,
  signal: AbortSignal | undefined,
): Promise<void> {
  if (name === 'utf-8') return copyPart({ from, to, start: mark }, null, signal);
  const decoder = new TextDecoder(name, { fatal: true });
  const decoded = (chunk?: Buffer) => {
    try {
      return chunk === undefined ? decoder.decode() : decoder.decode(chunk, { stream: true });
    } catch {
      throw new TabularError(`The text contains bytes that are not ${name.replace('utf-16', 'UTF-16')}.`);
    }
  };
  await copyPart({ from, to, start: mark }, { transform: decoded, flush: decoded }, signal);
}
