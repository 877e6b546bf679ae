/** The media type that a file's name tells of; raw bytes where it tells nothing. */
import { extname } from 'node:path';

const types: Readonly<Record<string, string>> = {
  '.csv': 'text/csv',
  '.json': 'application/json',
  '.ndjson': 'application/x-ndjson',
  '.parquet': 'application/vnd.apache.parquet',
  '.tsv': 'text/tab-separated-values',
  '.txt': 'text/plain',
};

export const contentTypeOf = (name: string) =>
  types[extname(name).toLowerCase()] ?? 'application/octet-stream';
