/** The media type of a file by its name; raw bytes when the name has no known ending. */
import { extname } from 'node:path';

const types: Readonly<Record<string, string>> = {
  '.csv': 'text/csv',
  '.gz': 'application/gzip',
  '.json': 'application/json',
  '.jsonl': 'application/x-ndjson',
  '.ndjson': 'application/x-ndjson',
  '.parquet': 'application/vnd.apache.parquet',
  '.tsv': 'text/tab-separated-values',
  '.txt': 'text/plain',
};

export const contentTypeOf = (name: string) =>
  types[extname(name).toLowerCase()] ?? 'application/octet-stream';
