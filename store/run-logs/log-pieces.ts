/** The bytes of a piece of a log: the entries of one call, compressed. */
import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { type LogEntry, type LogLevel, logLevels } from '../../domain/runs/run-log.ts';

/** An entry as its runner sent it. */
export type WrittenEntry = Pick<LogEntry, 'at' | 'level' | 'message' | 'fields'>;

type Packed = [atMs: number, level: number, message: string, fields: Record<string, unknown> | null];

/** Within a millisecond for the largest call; handing it to another thread costs four times the work. */
export function packEntries(entries: readonly WrittenEntry[]): Buffer {
  const packed = entries.map(
    ({ at, level, message, fields }): Packed => [at.getTime(), logLevels.indexOf(level), message, fields],
  );
  return zstdCompressSync(JSON.stringify(packed), { params: { [constants.ZSTD_c_compressionLevel]: 1 } });
}

export function unpackEntries(body: Buffer): WrittenEntry[] {
  const packed = JSON.parse(zstdDecompressSync(body).toString('utf8')) as Packed[];
  return packed.map(([atMs, level, message, fields]) => ({
    at: new Date(atMs),
    level: logLevels[level] as LogLevel,
    message,
    fields,
  }));
}
