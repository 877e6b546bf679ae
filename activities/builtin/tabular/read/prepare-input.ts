/** Makes a plain local file of an upload for DuckDB: unpacked, UTF-8, under a generated name. */
import { createReadStream, createWriteStream } from 'node:fs';
import { constants, copyFile, link, open, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { limits } from '../../../../domain/limits.ts';
import { NoTabularData, TabularError } from '../errors.ts';

export interface PlainInput {
  path: string;
  sizeBytes: number;
  /** The first bytes, up to {@link headBytes}. */
  head: Buffer;
  /** True when `head` is the whole file. */
  isWhole: boolean;
}

export interface PrepareSettings {
  inputPath: string;
  folder: string;
  /** Most bytes that the unpacked file may have. */
  maxPlainBytes: number;
  /** How many times its own size a packed file may unpack to. */
  unpackRatio: number;
  signal?: AbortSignal | undefined;
}

const headBytes = 8 * 1024 * 1024;

/**
 * Unpacks gzip (recognised by its magic bytes, declared or not), rewrites UTF-16 to UTF-8 and drops a byte order mark.
 * @throws TabularError for an empty file, a broken or over-long gzip stream, and other kinds of archive.
 */
export async function prepareInput(settings: PrepareSettings): Promise<PlainInput> {
  const first = await readHead(settings.inputPath, 8);
  refuseOtherArchives(first);
  let path = join(settings.folder, 'input');
  if (first[0] === 0x1f && first[1] === 0x8b) await gunzip(settings, path);
  else await linkOrCopy(settings.inputPath, path);
  const start = await readHead(path, 4);
  const encoding = byteOrderMark(start);
  if (encoding !== null) {
    const rewritten = join(settings.folder, 'input-utf8');
    await rewriteAsUtf8(path, rewritten, encoding, settings);
    path = rewritten;
  }
  const { size } = await stat(path);
  if (size === 0) throw new NoTabularData('The file is empty.');
  const head = await readHead(path, headBytes);
  return { path, sizeBytes: size, head, isWhole: head.length === size };
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
      pipelineOptions(settings.signal),
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

type Encoding = 'utf-8' | 'utf-16le' | 'utf-16be';

function byteOrderMark(start: Buffer): Encoding | null {
  if (start[0] === 0xef && start[1] === 0xbb && start[2] === 0xbf) return 'utf-8';
  if (start[0] === 0xff && start[1] === 0xfe) return 'utf-16le';
  if (start[0] === 0xfe && start[1] === 0xff) return 'utf-16be';
  return null;
}

async function rewriteAsUtf8(
  from: string,
  to: string,
  encoding: Encoding,
  settings: PrepareSettings,
): Promise<void> {
  const source = createReadStream(from, { highWaterMark: 1 << 20, start: encoding === 'utf-8' ? 3 : 0 });
  const target = createWriteStream(to, { highWaterMark: 1 << 20 });
  if (encoding === 'utf-8') {
    await pipeline(source, target, pipelineOptions(settings.signal));
    return;
  }
  const decoder = new TextDecoder(encoding, { fatal: true });
  const recode = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      recoded(() => decoder.decode(chunk, { stream: true }), done);
    },
    flush(done) {
      recoded(() => decoder.decode(), done);
    },
  });
  await pipeline(source, recode, target, pipelineOptions(settings.signal));
}

function recoded(decode: () => string, done: (error: Error | null, data?: Buffer) => void): void {
  try {
    done(null, Buffer.from(decode(), 'utf8'));
  } catch {
    done(new TabularError('The file starts as UTF-16 and contains bytes that are not.'));
  }
}

function pipelineOptions(signal: AbortSignal | undefined): { signal?: AbortSignal } {
  return signal === undefined ? {} : { signal };
}
