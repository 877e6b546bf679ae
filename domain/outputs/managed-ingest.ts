/** Managed ingest: upload URLs that operators make (contract: Managed ingest; decisions 8). */
import { Problem } from '../errors.ts';
import { limits } from '../limits.ts';

export const creationBehaviours = ['NewSession', 'LatestSession'] as const;
/** Whether each upload makes a session, or feeds the newest one that is neither frozen nor closed. */
export type CreationBehaviour = (typeof creationBehaviours)[number];

export const ingestDataTypes = ['Csv', 'Json', 'Binary', 'Any'] as const;
export type IngestDataType = (typeof ingestDataTypes)[number];

const pathForm = new RegExp(`^[a-z0-9_-]+(/[a-z0-9_-]+){0,${limits.ingestPathSegments - 1}}$`);

/** 1 to 8 segments of `a-z0-9-_`, with no slash at either end. */
export function isIngestPath(value: string): boolean {
  return value.length <= limits.nameCharacters && pathForm.test(value);
}

const csvTypes = /^(text|application)\/(x-)?(csv|comma-separated-values)$/;
const jsonTypes =
  /^((text|application)\/(x-)?(json|ndjson|jsonl|json-?lines)|application\/[a-z0-9.+_-]+\+json)$/;
const textTypes = /^(text\/.*|multipart\/.*|message\/.*|application\/x-www-form-urlencoded)$/;

/**
 * Whether the data type of an ingest covers a Content-Type. `Binary` covers all that is neither text nor a form; an
 * upload without a Content-Type is bytes.
 */
function coversContentType(dataType: IngestDataType, contentType: string | undefined): boolean {
  if (dataType === 'Any') return true;
  const mediaType = (contentType ?? 'application/octet-stream').split(';', 1)[0]!.trim().toLowerCase();
  const isCsv = csvTypes.test(mediaType);
  const isJson = jsonTypes.test(mediaType);
  if (dataType === 'Csv') return isCsv;
  if (dataType === 'Json') return isJson;
  return /^[^/\s]+\/[^/\s]+$/.test(mediaType) && !isCsv && !isJson && !textTypes.test(mediaType);
}

/** @throws Problem `unsupportedMediaType` for a Content-Type that the data type of an ingest does not cover */
export function requireDataType(dataType: IngestDataType, contentType: string | undefined): void {
  if (coversContentType(dataType, contentType)) return;
  const message = `The ingest accepts only data of the type ${dataType}. Send its Content-Type.`;
  throw new Problem('unsupportedMediaType', { message });
}
