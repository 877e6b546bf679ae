/** What schemas find wrong with an input, in words for its sender. A message that a schema has itself is used instead. */
import type { z } from 'zod';

const kinds: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
};

const units: Readonly<Record<string, string>> = { string: 'character', array: 'item' };

export const inputFault: z.core.$ZodErrorMap = (issue) => {
  // JSON and queries know no `undefined`, by which the schemas would name what is missing.
  if (issue.input === undefined && (issue.code === 'invalid_type' || issue.code === 'invalid_value'))
    return 'is required';
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${kinds[issue.expected] ?? issue.expected}`;
    case 'invalid_value':
      return `must be ${issue.values.length === 1 ? '' : 'one of '}${issue.values.map(String).join(', ')}`;
    case 'too_small':
      return bound(issue.origin, issue.inclusive === false ? 'more than' : 'at least', issue.minimum);
    case 'too_big':
      return bound(issue.origin, issue.inclusive === false ? 'less than' : 'at most', issue.maximum);
    case 'invalid_format':
      return issue.format === 'guid' ? 'must be a UUID' : 'is not valid';
    case 'custom':
    case 'invalid_union':
      return 'is not valid';
    default:
      return undefined;
  }
};

function bound(origin: string, words: string, limit: number | bigint): string {
  const unit = units[origin];
  return unit === undefined
    ? `must be ${words} ${limit}`
    : `must have ${words} ${limit} ${unit}${Number(limit) === 1 ? '' : 's'}`;
}
