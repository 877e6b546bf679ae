import { expect, test } from 'vitest';
import { z } from 'zod';
import { inputFault } from '../../http/input-faults.ts';
import { pathId, uuid } from '../../http/schemas.ts';

const fault = (schema: z.ZodType, value: unknown) =>
  schema.safeParse(value, { error: inputFault }).error?.issues[0]?.message;

test('a text of the wrong form is refused in words for its sender', () => {
  expect(fault(uuid(), 'abc')).toBe('must be a UUID');
  for (const id of ['abc', '0', '01', '9'.repeat(16)])
    expect(fault(pathId(), id)).toBe('must be a positive integer');
  expect(fault(z.string().regex(/^a$/), 'b')).toBe('is not valid');
  expect(fault(z.object({ id: uuid() }), {})).toBe('is required');
});

test('a value of another kind or outside its bounds is refused in words for its sender', () => {
  expect(fault(z.array(z.int()), 'a')).toBe('must be a list');
  expect(fault(z.object({}), [])).toBe('must be an object');
  expect(fault(z.record(z.string(), z.int()), 1)).toBe('must be an object');
  expect(fault(z.int(), 1.5)).toBe('must be a whole number');
  expect(fault(z.boolean(), null)).toBe('must be true or false');
  expect(fault(z.literal('a'), 'b')).toBe('must be a');
  expect(fault(z.enum(['a', 'b']), 'c')).toBe('must be one of a, b');
  expect(fault(z.number().gt(1), 1)).toBe('must be more than 1');
  expect(fault(z.number().lt(1), 1)).toBe('must be less than 1');
  expect(fault(z.number().max(1), 2)).toBe('must be at most 1');
});

test('a limit of one is said in the singular', () => {
  expect(fault(z.array(z.int()).min(1), [])).toBe('must have at least 1 item');
  expect(fault(z.string().min(1), '')).toBe('must have at least 1 character');
  expect(fault(z.array(z.int()).max(2), [1, 2, 3])).toBe('must have at most 2 items');
});
