/** The query parameters `from` and `to` of catalog and reports: ISO dates, a `to` without a time is the whole day. */
import { z } from 'zod';
import { exampleValues } from '../../domain/examples.ts';
import { isDateOnly, parseTimestamp } from '../../domain/timestamp.ts';
import { isInOrder, orderMessage } from '../../http/schemas.ts';

const dayMs = 24 * 60 * 60 * 1000;

/** Clients get one type for both forms: text. */
const dateOrTimestamp = '^\\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\\d|3[01])([Tt ].+)?$';

function date(name: string, endOfDay: boolean, description: string) {
  const error = `${name} must be an ISO 8601 date or timestamp.`;
  return z
    .string()
    .max(64, { error })
    .transform((text, context) => {
      const time = parseTimestamp(text);
      if (time !== null) return endOfDay && isDateOnly(text) ? new Date(time.getTime() + dayMs - 1) : time;
      context.addIssue({ code: 'custom', message: error, input: text });
      return z.NEVER;
    })
    .optional()
    .meta({
      type: 'string',
      pattern: dateOrTimestamp,
      description,
      example: exampleValues.startedAt,
    });
}

/** Adds `from` and `to` to a query; 400 when `from` is after `to`. */
export function dateRange<Shape extends z.ZodRawShape>(query: z.ZodObject<Shape>) {
  return query
    .extend({
      from: date('from', false, 'A date or timestamp.'),
      to: date('to', true, 'A date, which includes the whole day, or a timestamp.'),
    })
    .refine((value) => isInOrder(value as { readonly from?: Date; readonly to?: Date }), {
      error: orderMessage,
    });
}
