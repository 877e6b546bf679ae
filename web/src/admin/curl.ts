import type { Ingest } from '../admin-api.ts';

const contentTypes: Record<string, string> = {
  Csv: 'text/csv',
  Json: 'application/json',
  Binary: 'application/octet-stream',
};
const fileNames: Record<string, string> = { Csv: 'recording.csv', Json: 'recording.json' };

/** A line for a shell that sends a file to the ingest. A secret that begins with `$` stays a variable of the shell. */
export function curlLine(ingest: Ingest, secret: string): string {
  const contentType = contentTypes[ingest.ingestDataType] ?? 'text/csv';
  const fileName = fileNames[ingest.ingestDataType] ?? 'recording.csv';
  return [
    'curl --fail-with-body',
    ...(ingest.allowAnonymous ? [] : [`-H "X-Ingest-Secret: ${secret}"`]),
    `-H "Content-Type: ${contentType}"`,
    `-X POST -T ${ingest.ingestDataType === 'Binary' ? 'recording.bin' : fileName}`,
    window.location.origin + ingest.url,
  ].join(' ');
}
