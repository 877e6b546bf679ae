/** Building blocks for route schemas, with the bounds of decisions 2. Messages that are sentences reach the caller. */
import { z } from 'zod';
import { exampleValues } from '../domain/examples.ts';
import { limits } from '../domain/limits.ts';
import {
  isFreeJson,
  isName,
  isStorableText,
  type JsonObject,
  utf8Bytes,
  withinCharacters,
} from '../domain/text.ts';
import { parseTimestamp } from '../domain/timestamp.ts';

const integerText = /^-?(0|[1-9]\d{0,15})$/;

/** An id in a path: digits alone, 1 to 2^53 - 1. Parsed to a number. */
export function pathId() {
  const error = 'must be a positive integer';
  return z
    .string()
    .regex(/^[1-9]\d{0,15}$/, { error })
    .transform(Number)
    .refine((value) => value <= limits.maxId, { error })
    .meta({ type: 'integer', minimum: 1, maximum: limits.maxId, example: 7 });
}

/** A UUID of any version, in a path or elsewhere; lower-cased. */
export function uuid() {
  return z
    .guid()
    .transform((value) => value.toLowerCase())
    .meta({ type: 'string', format: 'uuid', example: exampleValues.sessionId });
}

/**
 * Values of a query separated by commas, each once; spaces beside a comma are passed over.
 * @param error a sentence
 * @param most where the values are not from a list of few
 */
export function commaList<Item>(
  item: z.ZodType<Item, string>,
  error: string,
  most: { readonly items?: number; readonly characters?: number } = {},
) {
  const { items = Number.POSITIVE_INFINITY, characters } = most;
  const text = characters === undefined ? z.string() : z.string().max(characters, { error });
  return text
    .transform((value, context) => {
      const found = z.array(item).safeParse(value.split(',').map((part) => part.trim()));
      if (found.success && found.data.length <= items) return [...new Set(found.data)];
      context.addIssue({ code: 'custom', message: error, input: value });
      return z.NEVER;
    })
    .meta({ type: 'string' });
}

/**
 * Page and size of a list.
 * @param what the list has: `Sessions`
 */
export const pageParameters = (what: string) => ({
  page: integerParameter({ min: 1, initial: 1, message: 'page must be 1 or greater.' }).meta({
    description: 'Page number, from 1.',
  }),
  pageSize: integerParameter({
    min: 1,
    max: limits.sessionPageSizeMax,
    initial: limits.sessionPageSizeDefault,
    message: `pageSize must be between 1 and ${limits.sessionPageSizeMax}.`,
  }).meta({ description: `${what} per page.` }),
});

/** An id in a JSON body; `error` (a sentence) is the text for any other. */
export function bodyId(error?: string) {
  const given = error === undefined ? {} : { error };
  return z.int(given).min(limits.minId, given).max(limits.maxId, given);
}

/** A signed 32-bit integer in a JSON body. */
export function int32() {
  return z.number().int().min(limits.minInt32).max(limits.maxInt32);
}

/** An integer in a query or header; `message` (a sentence) is the error when it is out of range. */
export function integerParameter(options: {
  readonly min?: number;
  readonly max?: number;
  readonly initial: number;
  readonly message?: string;
}) {
  const min = options.min ?? limits.minInt32;
  const max = options.max ?? limits.maxInt32;
  const error = options.message ?? `must be an integer from ${min} to ${max}`;
  return z
    .string()
    .regex(integerText, { error })
    .transform(Number)
    .refine((value) => value >= min && value <= max, { error })
    .meta({ type: 'integer', minimum: min, maximum: max, default: options.initial })
    .prefault(String(options.initial));
}

/** An optional id in a query (`?projectId=`); an empty one counts as absent. */
export function idParameter(message = 'must be a positive integer') {
  return z
    .string()
    .regex(/^([1-9]\d{0,15})?$/, { error: message })
    .transform((text) => (text === '' ? undefined : Number(text)))
    .refine((value) => value === undefined || value <= limits.maxId, { error: message })
    .optional()
    .meta({ type: 'integer', minimum: 1 });
}

/** A required name or title: 1 to 255 characters after trimming, no control characters; `sentence` is the error for any other. */
export function nameText(maxCharacters: number = limits.nameCharacters, sentence?: string) {
  return z
    .string(sentence === undefined ? {} : { error: sentence })
    .refine((value) => isName(value, maxCharacters), {
      error: sentence ?? `must hold 1 to ${maxCharacters} characters and no control characters`,
    })
    .transform((value) => value.trim())
    .meta({ type: 'string', minLength: 1, maxLength: maxCharacters });
}

/** Text that may be empty, up to `maxCharacters`; `sentence` is the error for any other. */
export function optionalText(maxCharacters: number = limits.descriptionCharacters, sentence?: string) {
  return z
    .string(sentence === undefined ? {} : { error: sentence })
    .refine((value) => isStorableText(value) && withinCharacters(value, maxCharacters), {
      error: sentence ?? `must hold at most ${maxCharacters} characters`,
    })
    .meta({ type: 'string', maxLength: maxCharacters });
}

/** Icons, logos, configuration values, expressions: up to 64 KB. */
export function longText(maxBytes: number = limits.longTextBytes) {
  return z
    .string()
    .refine((value) => isStorableText(value) && utf8Bytes(value) <= maxBytes, {
      error: `must hold at most ${maxBytes} bytes`,
    })
    .meta({ type: 'string' });
}

/** A timestamp that a caller sends, read strictly; parsed to a Date. */
export function timestamp(parse = parseTimestamp) {
  return z
    .string()
    .max(64)
    .transform((value, context) => {
      const date = parse(value);
      if (date !== null) return date;
      context.addIssue({ code: 'custom', message: 'must be an ISO 8601 timestamp', input: value });
      return z.NEVER;
    })
    .meta({ type: 'string', format: 'date-time', example: exampleValues.startedAt });
}

/** A timestamp that we send: write it with `formatTimestamp`. */
export function timestampOut() {
  return z
    .string()
    .regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    .meta({ type: 'string', format: 'date-time', example: exampleValues.startedAt });
}

/** Free JSON such as `Metadata`: an object within its bounds, passed on unchanged (`__proto__` is data). */
export function freeJson(maxBytes: number = limits.freeJsonBytes, sentence?: string) {
  return z
    .custom<JsonObject>((value) => isFreeJson(value, maxBytes), {
      error:
        sentence ?? `must be an object of at most ${maxBytes} bytes and ${limits.freeJsonDepthLevels} levels`,
    })
    .meta({ type: 'object', additionalProperties: true });
}

/** Any JSON object that we send. */
export function jsonObjectOut() {
  return z
    .custom<JsonObject>((value) => typeof value === 'object' && value !== null && !Array.isArray(value))
    .meta({ type: 'object', additionalProperties: true });
}

/** A parameter that is false unless it is given: `true`, `false`, `1`, `0`. */
export function booleanParameter() {
  return z
    .enum(['true', 'false', '1', '0'])
    .transform((value) => value === 'true' || value === '1')
    .meta({ type: 'boolean', default: false })
    .prefault('false');
}

/**
 * An optional header for the reference; the route reads it itself.
 * @param form of its values
 */
export const textHeader = (description: string, example: string, form?: RegExp) =>
  z
    .string()
    .optional()
    .meta({ description, example, ...(form && { pattern: form.source }) });

/** Whether `from` is not after `to`, where both are given. */
export const isInOrder = ({ from, to }: { from?: Date | undefined; to?: Date | undefined }) =>
  from === undefined || to === undefined || from <= to;
export const orderMessage = 'from must not be after to.';

/** 400 where `from` is after `to`: a list would be empty without a word. */
export function inTimeOrder<Query extends z.ZodType<{ from?: Date | undefined; to?: Date | undefined }>>(
  query: Query,
): Query {
  return query.refine(isInOrder, { error: orderMessage });
}

/** The object of parameters in a schema that may have checks across them. */
export function parametersOf(schema: z.ZodType): z.ZodObject {
  if (schema instanceof z.ZodObject) return schema;
  throw new Error('Parameters need an object schema.');
}
