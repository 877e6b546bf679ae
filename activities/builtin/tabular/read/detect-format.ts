/** The format of an upload by its first bytes; the declared content type decides only where the bytes do not. */
import type { InputFormat } from '../configuration.ts';
import type { PlainInput } from './prepare-input.ts';

export type Reader = 'text' | 'json' | 'parquet';

export function chooseReader(
  input: PlainInput,
  inputFormat: InputFormat,
  contentType: string | null,
): Reader {
  switch (inputFormat) {
    case 'csv':
    case 'tsv':
    case 'semicolon':
      return 'text';
    case 'json':
    case 'ndjson':
      return 'json';
    case 'parquet':
      return 'parquet';
    case 'auto':
      break;
  }
  if (input.head.subarray(0, 4).toString('latin1') === 'PAR1') return 'parquet';
  const type = (contentType ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
  if (type === 'application/vnd.apache.parquet' || type === 'application/x-parquet') return 'parquet';
  const start = input.head
    .subarray(0, 64 * 1024)
    .toString('utf8')
    .trimStart();
  const looksLikeJson = /^(?:\{\s*(?:"|\}|$)|\[\s*(?:[{["\]\-\d]|true|false|null|$))/.test(start);
  if (!looksLikeJson) return /[/+](?:x-)?(?:nd)?json(?:l|lines)?$/.test(type) ? 'json' : 'text';
  // A csv whose first heading is `[s]` or `{"a"}` is rare; its owner has to declare the format.
  return /^text\/(?:csv|tab-separated-values)$/.test(type) && start.startsWith('[') ? 'text' : 'json';
}
