/** The media type of a file by its name; raw bytes when the name has no known ending. */
import { extname } from 'node:path';
import { InvalidArgumentError } from 'commander';

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

/** As an option: the platform would store what is no media type as raw bytes. */
export function mediaType(value: string): string {
  if (/^[\w!#$%&'*+.^`|~-]+\/[\w!#$%&'*+.^`|~-]+\s*(;[\x20-\x7e]*)?$/.test(value)) return value;
  throw new InvalidArgumentError('It must be a media type, as in text/csv.');
}
