/**
 * Numbers of JSON in expressions. CEL takes each for a double, whole or not, and computes with two doubles or two
 * integers, not with one of each; a person who writes `metadata.speed + 1` means the number 1.
 */
import { Environment } from '@marcbachmann/cel-js';

type Arithmetic = (left: number, right: number) => number;

const operators: Readonly<Record<string, Arithmetic>> = {
  '+': (left, right) => left + right,
  '-': (left, right) => left - right,
  '*': (left, right) => left * right,
  '/': (left, right) => left / divisor(right),
  '%': (left, right) => left % divisor(right),
};
const mixed = [
  ['int', 'double'],
  ['double', 'int'],
] as const;

/** As for two integers: a division by 0 has no value. */
function divisor(value: number): number {
  if (value === 0) throw new RangeError('division by zero');
  return value;
}

export function registerNumbers(environment: Environment): void {
  for (const [operator, compute] of Object.entries(operators)) {
    // The language has no remainder of two doubles.
    const operands = operator === '%' ? [...mixed, ['double', 'double'] as const] : mixed;
    for (const [left, right] of operands) {
      // The result has the type `dyn`, so that an integer may be compared with it: `metadata.speed * 3.6 == 36`.
      environment.registerOperator(
        `${left} ${operator} ${right}: dyn`,
        (a: number | bigint, b: number | bigint) => compute(Number(a), Number(b)),
      );
    }
  }
  registerWholeDoubles(environment);
}

/** Functions that take an integer, such as `substring`, take a whole double too. */
function registerWholeDoubles(environment: Environment): void {
  const { functions } = environment.getDefinitions();
  const signatures = new Set(functions.map(({ signature }) => signature));
  for (const { name, receiverType, returnType, params } of functions) {
    const receiver = receiverType === null ? '' : `${receiverType}.`;
    for (const types of withDoubles(params.map(({ type }) => type))) {
      const signature = `${receiver}${name}(${types.join(', ')}): ${returnType}`;
      // `string` and other conversions have a form of their own.
      if (signatures.has(signature)) continue;
      const call = calling(name, receiverType !== null, params.length);
      const taken = receiverType === null ? types : [receiverType, ...types];
      environment.registerFunction(signature, (...values: unknown[]) =>
        call(values.map((value, index) => (taken[index] === 'double' ? wholeOf(value) : value))),
      );
    }
  }
}

/** The types with a double in place of one or more of the integers. */
function withDoubles(types: readonly string[]): string[][] {
  const forms = types.reduce<string[][]>(
    (all, type) =>
      all.flatMap((form) =>
        type === 'int'
          ? [
              [...form, 'int'],
              [...form, 'double'],
            ]
          : [[...form, type]],
      ),
    [[]],
  );
  return forms.filter((form) => form.some((type, index) => type !== types[index]));
}

/** The function as the language has it. */
function calling(name: string, hasReceiver: boolean, parameters: number) {
  const names = Array.from({ length: parameters + (hasReceiver ? 1 : 0) }, (_, index) => `v${index}`);
  const [receiver, ...rest] = names;
  const call = new Environment({ unlistedVariablesAreDyn: true }).parse(
    hasReceiver ? `${receiver}.${name}(${rest.join(', ')})` : `${name}(${names.join(', ')})`,
  );
  return (values: readonly unknown[]): unknown =>
    call(Object.fromEntries(names.map((one, index) => [one, values[index]])));
}

/** Throws for a number that is not whole. */
const wholeOf = (value: unknown) => BigInt(value as number);
