/**
 * Expressions of reports, in CEL. They cannot run for long: no loop inside a loop, within a loop nothing but its own
 * variable (others may be compared with it), patterns that are literals and do not backtrack, nothing that repeats a text
 * or names a value, few nodes; so the cost of one is at most its nodes times the size of its row.
 */
import { type ASTNode, Environment } from '@marcbachmann/cel-js';
import { limits } from '../limits.ts';
import { type LinearPattern, PatternError, readPattern } from '../templates/linear-pattern.ts';
import { utf8Bytes } from '../text.ts';
import { channelTable, channelUse } from './channel-use.ts';
import { registerConversions } from './expression-conversions.ts';
import { type ExpressionFault, type ExpressionNode, isNode, iterationFunctions } from './expression-nodes.ts';
import { registerNumbers } from './expression-numbers.ts';
import { type ExpressionReads, expressionReads } from './expression-reads.ts';
import { ownTimeFunctions, registerTimeParts, timeFunction } from './expression-times.ts';
import { type ReportRow, reportSources } from './report.ts';
import { annotationList, unknownName } from './report-names.ts';
import { plainPath } from './report-path.ts';

const maxPatternStates = 100;
/** The characters of all texts in loops together: each is read once for each element. */
const maxLoopCharacters = 2_000;
const maxInteger = 2n ** 63n;
/** A reason may quote a name, which may be as long as the expression. */
const maxReasonCharacters = 200;
const environment = new Environment({
  unlistedVariablesAreDyn: true,
  homogeneousAggregateLiterals: false,
  enableOptionalTypes: true,
  limits: { maxAstNodes: 200, maxDepth: 30, maxListElements: 50, maxMapEntries: 50, maxCallArguments: 10 },
});
for (const source of reportSources) environment.registerVariable(source, 'map');
environment.registerVariable(annotationList, 'list');
environment.registerVariable(channelTable, 'map');
registerNumbers(environment);
registerConversions(environment);
registerTimeParts(environment);
/** Replaces `matches`, whose engine backtracks. */
const linearMatches = 'linearMatches';
environment.registerFunction(`string.${linearMatches}(string): bool`, (text: string, pattern: string) =>
  patternOf(pattern).test(text),
);

const patterns = new Map<string, LinearPattern>();
const keptPatterns = 100;

function patternOf(text: string): LinearPattern {
  let pattern = patterns.get(text);
  if (pattern === undefined) {
    if (patterns.size >= keptPatterns) patterns.clear();
    pattern = readPattern(text, maxPatternStates);
    patterns.set(text, pattern);
  }
  return pattern;
}

/** Evaluates over one row; undefined for a missing value and for whatever fails. */
export type Evaluate = (row: ReportRow) => unknown;

export type Compiled =
  | {
      readonly ok: true;
      readonly evaluate: Evaluate;
      readonly channels: ReadonlySet<string>;
      readonly reads: ExpressionReads;
    }
  | { readonly ok: false; readonly reason: string; readonly position: number };

/**
 * @param source the source of bare names: `name` is `user.name` in a column of the source `user`
 * @param options.checksNames whether a name that no row has is a fault
 */
export function compileExpression(
  expression: string,
  source: keyof ReportRow,
  options: { readonly checksNames?: boolean } = {},
): Compiled {
  if (utf8Bytes(expression) > limits.longTextBytes)
    return refused({ reason: `longer than ${limits.longTextBytes} bytes`, position: 0 });
  try {
    const parsed = environment.parse(expression);
    const unknown = options.checksNames === true ? unknownName(parsed.ast, source) : undefined;
    const channels = channelUse(parsed.ast);
    const fault = unknown ?? channels.fault ?? boundCost(parsed.ast);
    if (fault !== undefined) return refused(fault);
    const check = parsed.check();
    if (!check.valid) return refused(faultOfEngine(check.error));
    const reads = expressionReads(parsed.ast);
    const byEngine: Evaluate = (row) => {
      try {
        return parsed(reads.bareNames ? { ...row[source], ...row } : row);
      } catch {
        return undefined;
      }
    };
    return { ok: true, evaluate: plainPath(parsed.ast) ?? byEngine, channels: channels.names, reads };
  } catch (error) {
    return refused(faultOfEngine(error));
  }
}

function refused({ reason, position }: ExpressionFault): Compiled {
  const isLong = reason.length > maxReasonCharacters;
  return { ok: false, reason: isLong ? `${reason.slice(0, maxReasonCharacters)}...` : reason, position };
}

function faultOfEngine(error: unknown): ExpressionFault {
  // The engine counts the levels of signs only after it has read them, and its stack may be too small for that.
  if (error instanceof RangeError) return { reason: 'nested too deeply', position: 0 };
  const { message, range } = error as { message?: string; range?: { start: number } };
  const [reason] = (message ?? 'not an expression').split('\n');
  return { reason: reason ?? '', position: range?.start ?? 0 };
}

interface Pending {
  readonly value: unknown;
  /** True also for the list of a loop: chained loops are not allowed either. */
  readonly inLoop: boolean;
  /** The variable of the loop whose body it is in. */
  readonly variable: string | null;
}

/** Finds what could cost much; calls of `matches` and of parts of a time become calls of ours. */
function boundCost(root: ASTNode): ExpressionFault | undefined {
  const pending: Pending[] = [{ value: root, inLoop: false, variable: null }];
  let loopCharacters = 0;
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { value, inLoop, variable } = next;
    if (Array.isArray(value)) {
      for (const item of value) pending.push({ ...next, value: item });
      continue;
    }
    if (!isNode(value)) continue;
    if (variable !== null) loopCharacters += charactersOf(value);
    if (loopCharacters > maxLoopCharacters) {
      return { reason: `more than ${maxLoopCharacters} characters of text in loops`, position: value.start };
    }
    const call = callOf(value);
    const isLoop = typeof call[0] === 'string' && iterationFunctions.has(call[0]);
    const reason =
      isLoop && inLoop
        ? 'a loop inside a loop'
        : (callFault(call) ?? nameFault(value, variable) ?? integerFault(value));
    if (reason !== undefined) return { reason, position: value.start };
    const own = call[0] === 'matches' ? linearMatches : timeFunction(call);
    if (own !== undefined) call[0] = own;
    if (isLoop) {
      const [, over, body] = call;
      const [declared] = Array.isArray(body) ? (body as unknown[]) : [];
      const own = isNode(declared) && typeof declared.args === 'string' ? declared.args : '';
      pending.push(
        { value: over, inLoop: true, variable: null },
        { value: body, inLoop: true, variable: own },
      );
    } else for (const operand of costlyOperands(value, variable)) pending.push({ ...next, value: operand });
  }
  return undefined;
}

/** The characters of a literal; 0 for anything else. */
const charactersOf = ({ op, args }: ExpressionNode) =>
  op === 'value' && (typeof args === 'string' || args instanceof Uint8Array) ? args.length : 0;

/** Refuses long integers: writing one of 65,000 digits takes tens of milliseconds, for each row. */
const integerFault = ({ op, args }: ExpressionNode) =>
  op === 'value' && typeof args === 'bigint' && args > maxInteger
    ? 'an integer of more than 64 bits'
    : undefined;

const callOf = ({ op, args }: ExpressionNode) => (op === 'rcall' || op === 'call' ? (args as unknown[]) : []);

function callFault(call: readonly unknown[]): string | undefined {
  switch (call[0]) {
    case 'matches':
      return patternFault(call);
    case 'bind':
      return 'cel.bind is not available';
    case 'join':
      return isLiteral(lastArgument(call)) ? undefined : 'the separator of join must be a literal';
    default:
      return undefined;
  }
}

const lastArgument = (call: readonly unknown[]): unknown => {
  const parameters = call.at(-1);
  return Array.isArray(parameters) ? parameters.at(-1) : undefined;
};
const isLiteral = (value: unknown) => value === undefined || (isNode(value) && value.op === 'value');

/** Inside a loop an outer name can only be compared: a long text that is read again for each entry of a long list costs much. */
function nameFault({ op, args }: ExpressionNode, variable: string | null): string | undefined {
  return op !== 'id' || variable === null || args === variable
    ? undefined
    : `inside a loop '${String(args)}' can only be compared with '${variable}'`;
}

const comparisons = new Set(['==', '!=', '<', '<=', '>', '>=']);

/** The operands of a node, without one from outside the loop that is compared with something of the loop. */
function costlyOperands({ op, args }: ExpressionNode, variable: string | null): readonly unknown[] {
  if (!Array.isArray(args)) return [args];
  if (variable === null || !comparisons.has(op)) return args;
  const ofLoop = args.filter((operand) => rootOf(operand) === variable);
  return ofLoop.length > 0 ? args.filter((operand) => rootOf(operand) === undefined) : args;
}

/** The name at the beginning of `a.b.c`; undefined for anything else. */
function rootOf(value: unknown): string | undefined {
  let at = value;
  while (isNode(at) && at.op === '.' && Array.isArray(at.args)) [at] = at.args as unknown[];
  return isNode(at) && at.op === 'id' && typeof at.args === 'string' ? at.args : undefined;
}

function patternFault(call: readonly unknown[]): string | undefined {
  const pattern = lastArgument(call);
  if (!isNode(pattern) || pattern.op !== 'value' || typeof pattern.args !== 'string') {
    return 'the pattern of matches must be a literal';
  }
  try {
    patternOf(pattern.args);
    return undefined;
  } catch (error) {
    if (error instanceof PatternError) return error.message;
    throw error;
  }
}

const ownNames = new Set(['dyn', 'matches', 'bind', linearMatches, ...ownTimeFunctions]);

/** Functions of the language that expressions may call: `size(x)`, and with a dot in front `x.size()`. */
export function reportFunctions(): readonly string[] {
  const { functions } = environment.getDefinitions();
  const names = functions
    .filter(({ name, receiverType }) => !ownNames.has(name) && !/^bytes$|Namespace$/.test(receiverType ?? ''))
    .map(({ name, receiverType }) => `${receiverType === null ? '' : '.'}${name}(`);
  return [...new Set([...names, '.matches('])].sort();
}
