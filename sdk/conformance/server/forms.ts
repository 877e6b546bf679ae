/** Forms of requests: bodies, query, headers (contract: Runner routes; the bounds of its Limits). */
import { z } from 'zod';
import { limits } from './limits.ts';
import { Refusal } from './refusal.ts';

const isStorable = (value: string) => !value.includes('\u0000') && value.isWellFormed();

function text(maxCharacters: number = limits.descriptionCharacters) {
  return z.string().refine((value) => isStorable(value) && [...value].length <= maxCharacters, {
    error: `must hold at most ${maxCharacters} characters`,
  });
}

function textOfBytes(maxBytes: number) {
  return z.string().refine((value) => isStorable(value) && Buffer.byteLength(value) <= maxBytes, {
    error: `must hold at most ${maxBytes} bytes`,
  });
}

const jsonBytes = (value: unknown) => Buffer.byteLength(JSON.stringify(value));

function depthLevels(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthLevels));
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const state = z
  .custom<Record<string, unknown>>(
    (value) =>
      isObject(value) &&
      depthLevels(value) <= limits.stateDepthLevels &&
      jsonBytes(value) <= limits.stateBytes,
    {
      error: `must be an object of at most ${limits.stateBytes} bytes and ${limits.stateDepthLevels} levels`,
    },
  )
  .nullish();
const statusText = text().nullish();
const count = z.number().min(0).max(Number.MAX_SAFE_INTEGER);
export const instanceForm = new RegExp(`^[A-Za-z0-9._:-]{1,${limits.instanceCharacters}}$`);

/** The task to claim together with an end. */
const next = z
  .object({
    waitSeconds: z.number().int().min(0).max(limits.nextWaitMaxSeconds).default(0),
    templates: z.array(text(limits.nameCharacters)).max(limits.templateNames).nullish(),
  })
  .nullish();
const logTail = textOfBytes(limits.logTailBytes).nullish();
const category = z.enum(['error', 'validation', 'memory', 'timeout']);

export const claimForm = z.object({
  instanceId: z.string().regex(instanceForm, 'must hold 1 to 128 characters of A-Za-z0-9._:-'),
  templates: z.array(text(limits.nameCharacters)).max(limits.templateNames).nullish(),
  waitSeconds: z.number().int().min(0).max(limits.claimWaitMaxSeconds).default(0),
});

export const heartbeatForm = z
  .object({
    phase: text(limits.nameCharacters).nullish(),
    message: text().nullish(),
    progress: z
      .object({ done: count, total: count.nullish(), unit: text(limits.nameCharacters).nullish() })
      .nullish(),
  })
  .prefault({});

export const watermarkForm = z.object({
  inputId: z.number().int().min(1).max(limits.maxId),
  state,
});

export const completeForm = z.object({
  outcome: z.enum(['completed', 'no-output', 'suspended']),
  hasMore: z.boolean().nullish(),
  statusDetails: statusText,
  state,
  next,
});

export const failForm = z.object({
  reason: text(),
  category,
  logTail,
  next,
});

export const releaseForm = z.object({ reason: statusText, logTail, next }).prefault({});

export const rejectionForm = z.object({ category, reason: text() });

const fields = z
  .custom<Record<string, unknown>>((value) => isObject(value) && jsonBytes(value) <= limits.logFieldsBytes, {
    error: `must be an object of at most ${limits.logFieldsBytes} bytes`,
  })
  .nullish();

export const logsForm = z.object({
  sequence: z.number().int().min(1).max(limits.maxId),
  entries: z
    .array(
      z.object({
        at: z.iso.datetime({ offset: true }),
        level: z.enum(['debug', 'info', 'warning', 'error']),
        message: textOfBytes(limits.logMessageBytes),
        fields,
      }),
    )
    .min(1)
    .max(limits.logEntries, `A call holds at most ${limits.logEntries} entries`),
});

const annotationWord = (maxCharacters: number) =>
  text(maxCharacters).refine((value) => value.trim() !== '', { error: 'must not be empty' });
const moment = z.iso.datetime({ offset: true });

export const annotationsForm = z.object({
  annotations: z
    .array(
      z
        .object({
          from: moment,
          to: moment.nullish(),
          label: annotationWord(limits.nameCharacters),
          text: text().optional(),
          tags: z.array(annotationWord(limits.annotationTagCharacters)).max(limits.annotationTags).optional(),
          channel: annotationWord(limits.nameCharacters).nullish(),
        })
        .refine(({ from, to }) => !to || Date.parse(to) >= Date.parse(from), {
          error: 'must not be before from',
        }),
    )
    .min(1)
    .max(limits.annotationsPerCall),
});

const cursorForm = /^p[0-9a-z]{1,11}$/;

export const inputDataForm = z.object({
  redirect: z
    .enum(['true', 'false', '1', '0'])
    .transform((value) => value === 'true' || value === '1')
    .optional(),
});

export const inputsForm = z.object({
  mode: z.enum(['since-watermark', 'latest', 'all']).default('since-watermark'),
  cursor: z
    .string()
    .regex(cursorForm, 'must be a nextCursor')
    .transform((value) => Number.parseInt(value.slice(1), 36))
    .refine((position) => position <= limits.maxId, 'must be a nextCursor')
    .optional(),
  limit: z
    .string()
    .regex(/^-?(0|[1-9]\d{0,15})$/, `must be an integer from 1 to ${limits.inputsPageMax}`)
    .transform(Number)
    .refine((value) => value >= 1 && value <= limits.inputsPageMax, {
      error: `must be an integer from 1 to ${limits.inputsPageMax}`,
    })
    .optional(),
});

/** The place after an input in its list. */
export function cursorAt(position: number): string {
  return `p${position.toString(36)}`;
}

/** Parses, or throws the 400 that names the field. */
export function parsed<T>(where: string, form: z.ZodType<T>, value: unknown): T {
  const result = form.safeParse(value);
  if (result.success) return result.data;
  const issue = result.error.issues[0];
  const path = [where, ...(issue?.path ?? []).map(String)].join('.');
  throw new Refusal('invalidRequest', { message: `${path}: ${issue?.message ?? 'is not valid'}.` });
}

/** A JSON body, read as strictly as the platform reads it; undefined for none. */
export function parseJson(bytes: Buffer): unknown {
  if (bytes.length === 0) return undefined;
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    const value: unknown = JSON.parse(text, onlyStorable);
    if (isUnambiguous(text) && depthLevels(value) <= limits.jsonDepthLevels) return value;
  } catch {
    // Thrown below.
  }
  throw new Refusal('malformedJson');
}

/** False for an object with the same name twice and for numbers beyond a double. The text is known to be JSON. */
function isUnambiguous(text: string): boolean {
  const open: (Set<unknown> | undefined)[] = [];
  let isName = false;
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"|[{}[\],:]|[-+.\deE]+/g)) {
    if (token === '{' || token === '[') open.push(token === '{' ? new Set() : undefined);
    else if (token === '}' || token === ']') open.pop();
    else if (token.startsWith('"') && isName) {
      const names = open.at(-1);
      const name: unknown = JSON.parse(token);
      if (names?.has(name)) return false;
      names?.add(name);
    } else if (/^[-\d]/.test(token) && !Number.isFinite(Number(token))) return false;
    isName = (token === '{' || token === ',') && open.at(-1) !== undefined;
  }
  return true;
}

function onlyStorable(key: string, value: unknown): unknown {
  if (!isStorable(key) || (typeof value === 'string' && !isStorable(value))) throw new Error('not storable');
  return value;
}

/** An id in a path or header; undefined for text that is not an id. */
export function idOf(value: string): number | undefined {
  const id = /^[1-9]\d{0,15}$/.test(value) ? Number(value) : Number.NaN;
  return id <= limits.maxId ? id : undefined;
}

export type Headers = Readonly<Record<string, string | undefined>>;

/** The instance that a task's call names: 400 when it is missing or has a form that no instance can have. */
export function instanceOf(headers: Headers): string {
  const value = headers['x-platform-runner-instance'];
  if (value === undefined || value === '') throw new Refusal('instanceHeaderMissing');
  if (instanceForm.test(value)) return value;
  throw new Refusal('invalidRequest', {
    message: 'X-Platform-Runner-Instance must hold 1 to 128 characters of A-Za-z0-9._:-',
  });
}

/** The headers of an output (contract: Runner rules 3). */
export interface OutputHeaders {
  readonly identifier: string | null;
  readonly metadata: Record<string, unknown> | null;
  readonly watermarkInputId: number | undefined;
  readonly contentType: string | null;
}

export function outputHeaders(headers: Headers): OutputHeaders {
  const identifier = headers['x-platform-output-identifier'] ?? null;
  const form = new RegExp(`^[A-Za-z0-9._-]{1,${limits.outputIdentifierCharacters}}$`);
  if (identifier !== null && !form.test(identifier)) throw new Refusal('invalidOutputIdentifier');
  const metadata = readMetadata(headers['x-platform-output-metadata']);
  const watermarkInputId = watermarkHeader(headers);
  return { identifier, metadata, watermarkInputId, contentType: headers['content-type'] ?? null };
}

/** The id in `X-Platform-Watermark`; undefined where it is absent. */
export function watermarkHeader(headers: Headers): number | undefined {
  const value = headers['x-platform-watermark'];
  if (value === undefined) return undefined;
  const id = idOf(value.trim());
  if (id !== undefined) return id;
  throw new Refusal('invalidRequest', { message: 'X-Platform-Watermark must be the id of an input.' });
}

function readMetadata(value: string | undefined): Record<string, unknown> | null {
  if (value === undefined) return null;
  const refuse = () => new Refusal('invalidOutputMetadata');
  if (value.length > limits.outputMetadataBytes) throw refuse();
  let metadata: unknown;
  try {
    metadata = parseJson(Buffer.from(value, 'latin1'));
  } catch {
    throw refuse();
  }
  if (!isObject(metadata) || Object.keys(metadata).some((key) => key.startsWith('$'))) throw refuse();
  return metadata;
}

/** `Content-Encoding` of an output: gzip or nothing. */
export function contentEncodingOf(headers: Headers): 'gzip' | null {
  const coding = (headers['content-encoding'] ?? '').trim().toLowerCase();
  if (coding === '' || coding === 'identity') return null;
  if (coding === 'gzip' || coding === 'x-gzip') return 'gzip';
  throw new Refusal('unsupportedMediaType', { message: 'Content-Encoding must be gzip or absent.' });
}
