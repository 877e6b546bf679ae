/** The parts of a parsed expression, as its checks walk over them. */

export interface ExpressionNode {
  readonly op: string;
  readonly args: unknown;
  readonly start: number;
}

/** What is wrong with an expression, and where. */
export interface ExpressionFault {
  readonly reason: string;
  readonly position: number;
}

export function isNode(value: unknown): value is ExpressionNode {
  return typeof value === 'object' && value !== null && 'op' in value && 'args' in value;
}

export const iterationFunctions: ReadonlySet<string> = new Set([
  'map',
  'filter',
  'all',
  'exists',
  'exists_one',
]);

/** The variables known to the parts of a call: a loop declares its own as the first of its parameters. */
export function variablesWithin(call: readonly unknown[], outside: ReadonlySet<string>): ReadonlySet<string> {
  const parameters = call.at(-1);
  if (typeof call[0] !== 'string' || !iterationFunctions.has(call[0]) || !Array.isArray(parameters))
    return outside;
  const [declared] = parameters as unknown[];
  return isNode(declared) && declared.op === 'id' ? new Set([...outside, String(declared.args)]) : outside;
}
