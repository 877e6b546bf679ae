/** How the engine writes the Parquet file of a recording: wide tables within the same memory as narrow ones. */
import { descriptionKey } from '../description.ts';

/**
 * Options of `COPY`, as SQL.
 * @param placeholder of the description; generated, without quotes
 */
export function parquetOptions(columns: number, placeholder: string): string {
  return [
    'FORMAT parquet',
    'COMPRESSION zstd',
    `ROW_GROUP_SIZE ${rowGroupRows(columns)}`,
    `STRING_DICTIONARY_PAGE_SIZE_LIMIT ${dictionaryBytes(columns)}`,
    `KV_METADATA {'${descriptionKey}': '${placeholder}'}`,
  ].join(', ');
}

const maxRowGroupRows = 61_440;
const rowGroupCells = 4_000_000;
/** Rows that the engine passes on at once. */
const chunkRows = 2048;

/**
 * Fewer rows for wide files: a row group is held in memory while it is written, and the chunk beside it that begins the
 * next one, unless each chunk fills a group.
 */
function rowGroupRows(columns: number): number {
  const rows = Math.floor(rowGroupCells / columns / chunkRows) * chunkRows;
  return Math.min(maxRowGroupRows, Math.max(chunkRows / 2, rows));
}

const maxDictionaryBytes = 1024 ** 2;
const minDictionaryBytes = 8 * 1024;
const dictionariesBytes = 64 * 1024 ** 2;

/** Largest dictionary of a column of texts, which is allocated before it is filled. */
function dictionaryBytes(columns: number): number {
  const share = Math.floor(dictionariesBytes / columns);
  return Math.max(minDictionaryBytes, Math.min(maxDictionaryBytes, share));
}
