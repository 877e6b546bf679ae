import { describe, expect, test } from 'vitest';
import { limits } from '../../domain/limits.ts';
import { DerivedFault, parseDerived } from '../../domain/recordings/derived-syntax.ts';
import { startComputing } from '../../domain/recordings/derived-values.ts';

const nothing = Number.NaN;

/** Computes over rows that come in stretches of two, as a file's rows come in chunks. */
function compute(
  expression: string,
  columns: Readonly<Record<string, readonly number[]>>,
  times = Array.from({ length: 8 }, (_, row) => row * 500),
): number[] {
  const rows = Object.values(columns)[0]?.length ?? 1;
  const next = startComputing(parseDerived(expression));
  const found: number[] = [];
  for (let first = 0; first < rows; first += 2) {
    const end = Math.min(rows, first + 2);
    found.push(
      ...next({
        times: Float64Array.from(times.slice(first, end)),
        rows: end - first,
        column: (name) => Float64Array.from(columns[name]!.slice(first, end)),
      }),
    );
  }
  return found;
}

const fault = (expression: string) => {
  try {
    parseDerived(expression);
  } catch (error) {
    if (error instanceof DerivedFault) return `${error.position}: ${error.message}`;
    throw error;
  }
  return 'no fault';
};

describe('an expression of a derived channel', () => {
  test.each([
    ['1 + 2 * 3 ^ 2 ^ 0', 7],
    ['(1 + 2) * 3', 9],
    ['-2 ^ 2', -4],
    ['8 / 4 / 2 - 1 - 1', -1],
    ['2 * -3', -6],
    ['1.5e2 + .5', 150.5],
    ['1 + 1 == 2', 1],
    ['3 <= 2', 0],
    ['(3 != 2) + (2 >= 2) + (1 > 0) + (1 < 0)', 3],
    ['abs(-3) + min(4, 2, 3, 1) + max(1, 5)', 9],
    ['sqrt(16) + sin(0) + cos(0)', 5],
    ['atan2(1, 1) * 4', Math.PI],
    ['if(2 > 1, 10, 20) + if(0, 1, 2)', 12],
    ['1 / 0', nothing],
    ['sqrt(-1)', nothing],
    ['10 ^ 300 * 10 ^ 300', nothing],
  ])('%s is %d', (expression, value) => {
    expect(compute(expression, {})).toEqual(
      [expect.closeTo(value, 12)].map((one) => (Number.isNaN(value) ? nothing : one)),
    );
  });

  test('names channels bare, with points, or in quotation marks', () => {
    const columns = { rpm: [1], 'engine.rpm': [2], 'wheel speed, "left"': [3], '502:c3': [4], größe: [5] };
    expect(
      compute('rpm+engine.rpm*10+"wheel speed, ""left"""*100+"502:c3"*1000+größe*10000', columns),
    ).toEqual([54321]);
  });

  test('is empty where an operand is, but for the operand that a condition does not take', () => {
    const a = [1, nothing, 3];
    expect(compute('a + 1', { a })).toEqual([2, nothing, 4]);
    expect(compute('a > 2', { a })).toEqual([0, nothing, 1]);
    expect(compute('a ^ 0', { a })).toEqual([1, nothing, 1]);
    expect(compute('if(1, 7, a)', { a })).toEqual([7, 7, 7]);
    expect(compute('if(a > 2, a, 0)', { a })).toEqual([0, nothing, 3]);
    expect(compute('min(a, 2, 5)', { a })).toEqual([1, nothing, 2]);
  });

  test('is empty where a part of it has no value, also within what would hide it', () => {
    const a = [2, 0, -1];
    expect(compute('1 / a > 1', { a })).toEqual([0, nothing, 0]);
    expect(compute('min(1 / a, 5)', { a })).toEqual([0.5, nothing, -1]);
    expect(compute('atan2(1, 1 / a)', { a })).toEqual([Math.atan2(1, 0.5), nothing, Math.atan2(1, -1)]);
    expect(compute('if(differentiate(a) > 1, 1, 0)', { a }, [0, 0, 1000])).toEqual([nothing, nothing, 0]);
    expect(compute('lag(1 / a) == 1', { a })).toEqual([nothing, 0, nothing]);
  });

  test('integrates, differentiates and lags over rows as if they came at once', () => {
    const a = [2, 4, nothing, 4, 0];
    expect(compute('integrate(a)', { a })).toEqual([0, 1.5, nothing, 5.5, 6.5]);
    expect(compute('differentiate(a)', { a })).toEqual([nothing, 4, nothing, 0, -8]);
    expect(compute('lag(a)', { a })).toEqual([nothing, 2, 4, nothing, 4]);
    expect(compute('lag(a, 3)', { a })).toEqual([nothing, nothing, nothing, 2, 4]);
    expect(compute('differentiate(integrate(a))', { a })).toEqual([nothing, 3, nothing, 4, 2]);
    expect(compute('differentiate(a)', { a: [1, 5] }, [100, 100])).toEqual([nothing, nothing]);
  });

  test.each([
    ['', '0: Where the expression ends, a number, a channel, a function or "(" is expected'],
    ['speed *', '7: Where the expression ends, a number, a channel, a function or "(" is expected'],
    ['speed rpm', "6: Where there is 'rpm', an operator is expected"],
    ['(speed', '6: Where the expression ends, ")" is expected'],
    ['a < b < c', '6: Comparisons follow one another; put one in parentheses'],
    ['a = 1', '2: Equality is written =='],
    ['"open', '0: A quotation mark is not closed'],
    ['a ; drop', "2: ';' is not part of an expression"],
    [
      '1 + sum(a)',
      "4: 'sum' is not a function; functions are abs, min, max, sqrt, sin, cos, atan2, if, integrate, differentiate, lag",
    ],
    [
      'toString(a)',
      "0: 'toString' is not a function; functions are abs, min, max, sqrt, sin, cos, atan2, if, integrate, differentiate, lag",
    ],
    ['abs(a, b)', '0: abs takes 1 argument, not 2'],
    ['if(a)', '0: if takes 3 arguments, not 1'],
    ['lag(a, b)', '7: The second argument of lag is a whole number of rows, 1 to 10000'],
    ['lag(a, 10001)', '7: The second argument of lag is a whole number of rows, 1 to 10000'],
  ])('reports the place of the fault in %j', (expression, message) => {
    expect(fault(expression)).toBe(message);
  });

  test('is bounded in characters, levels and nodes', () => {
    expect(fault(`1${' '.repeat(limits.derivedCharacters)}`)).toMatch(/at most 1000 characters$/);
    expect(fault(`${'('.repeat(30)}1${')'.repeat(30)}`)).toBe('no fault');
    expect(fault(`${'('.repeat(33)}1${')'.repeat(33)}`)).toMatch(/nested at most 32 levels$/);
    expect(fault(`${'-'.repeat(40)}1`)).toMatch(/nested at most 32 levels$/);
    expect(fault(`1${'^1'.repeat(40)}`)).toMatch(/nested at most 32 levels$/);
    expect(fault(`1${'+1'.repeat(99)}`)).toBe('no fault');
    expect(fault(`1${'+1'.repeat(100)}`)).toMatch(/at most 200 numbers, channels and operations$/);
  });
});
