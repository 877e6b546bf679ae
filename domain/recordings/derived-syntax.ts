/**
 * Expressions of derived channels: arithmetic, comparison and a few functions over the channels of one recording. The
 * parser is bounded in length, depth and nodes, so that an expression of a caller costs little to read and each of its rows
 * a known number of steps.
 *
 * Loosest first: one comparison (`< <= > >= == !=`), `+ -`, `* /`, `-` as a sign, `^` (to the right). A channel is written
 * bare (`speed`, `engine.rpm`) or in quotation marks (`"engine speed"`, `"502:c3"`; `""` is one quotation mark).
 */
import { quote } from '../issue.ts';
import { limits } from '../limits.ts';

const comparisons = ['<', '<=', '>', '>=', '==', '!='] as const;
export type Operator = '+' | '-' | '*' | '/' | '^' | (typeof comparisons)[number];

/** Arguments of each function, least and most. `lag` takes its rows apart. */
const functions = {
  abs: [1, 1],
  min: [2, limits.derivedArguments],
  max: [2, limits.derivedArguments],
  sqrt: [1, 1],
  sin: [1, 1],
  cos: [1, 1],
  atan2: [2, 2],
  if: [3, 3],
  integrate: [1, 1],
  differentiate: [1, 1],
  lag: [1, 2],
} as const;
export type FunctionName = keyof typeof functions;

/** `position` counts characters of the expression from 0. */
export type Derived =
  | { readonly kind: 'number'; readonly value: number }
  | { readonly kind: 'channel'; readonly name: string; readonly position: number }
  | {
      readonly kind: 'call';
      readonly call: Operator | FunctionName | 'negate';
      readonly operands: readonly Derived[];
      readonly position: number;
      /** The rows by which `lag` shifts. */
      readonly rows?: number;
    };

/** What is wrong with an expression, as a sentence without its place. */
export class DerivedFault extends Error {
  /** Characters of the expression before the fault. */
  readonly position: number;

  constructor(position: number, message: string) {
    super(message);
    this.position = position;
  }
}

/** @throws DerivedFault */
export function parseDerived(expression: string): Derived {
  return new Parser(expression).parse();
}

export interface NamedChannel {
  readonly name: string;
  readonly position: number;
}

/** The channels that an expression names, in the order of its text, repeats included. */
export function channelsOf(derived: Derived): NamedChannel[] {
  if (derived.kind === 'channel') return [{ name: derived.name, position: derived.position }];
  return derived.kind === 'number' ? [] : derived.operands.flatMap(channelsOf);
}

export function nodesOf(derived: Derived): number {
  return derived.kind === 'call' ? derived.operands.reduce((sum, one) => sum + nodesOf(one), 1) : 1;
}

const overRows: ReadonlySet<string> = new Set(['integrate', 'differentiate', 'lag']);

/** The place of the first function whose value depends on the rows before; null when there is none. */
export function positionOverRows(derived: Derived): number | null {
  if (derived.kind !== 'call') return null;
  if (overRows.has(derived.call)) return derived.position;
  return derived.operands.map(positionOverRows).find((position) => position !== null) ?? null;
}

interface Token {
  readonly kind: 'number' | 'name' | 'quoted' | 'sign' | 'end';
  readonly text: string;
  readonly position: number;
}

const tokenForms: readonly [Token['kind'] | 'space', RegExp][] = [
  ['space', /\s+/y],
  ['number', /(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?/y],
  ['name', /[\p{L}_][\p{L}\p{N}_]*(?:\.[\p{L}\p{N}_]+)*/uy],
  ['quoted', /"(?:[^"]|"")*"/y],
  ['sign', /<=|>=|==|!=|[-+*/^<>(),]/y],
];

function* readTokens(text: string): Generator<Token> {
  let position = 0;
  while (position < text.length) {
    let found: string | undefined;
    for (const [kind, form] of tokenForms) {
      form.lastIndex = position;
      found = form.exec(text)?.[0];
      if (found === undefined) continue;
      if (kind !== 'space') yield { kind, text: found, position };
      break;
    }
    if (found === undefined) throw new DerivedFault(position, unreadable(text, position));
    position += found.length;
  }
  yield { kind: 'end', text: '', position };
}

function unreadable(text: string, position: number): string {
  const character = String.fromCodePoint(text.codePointAt(position) as number);
  if (character === '"') return 'A quotation mark is not closed';
  if (character === '=') return 'Equality is written ==';
  return `${quote(character)} is not part of an expression`;
}

class Parser {
  readonly #tokens: readonly Token[];
  #at = 0;
  #depth = 0;
  #nodes = 0;

  constructor(expression: string) {
    if (expression.length > limits.derivedCharacters) {
      throw new DerivedFault(
        limits.derivedCharacters,
        `An expression holds at most ${limits.derivedCharacters} characters`,
      );
    }
    this.#tokens = [...readTokens(expression)];
  }

  parse(): Derived {
    const derived = this.#comparison();
    if (this.#token.kind !== 'end') throw this.#unexpected('an operator');
    return derived;
  }

  get #token(): Token {
    return this.#tokens[this.#at] as Token;
  }

  /** Reads the operator at this place, if it is one of these. */
  #readOperator(...some: readonly Operator[]): { operator: Operator; position: number } | null {
    const { kind, text, position } = this.#token;
    const operator = kind === 'sign' ? some.find((one) => one === text) : undefined;
    if (operator === undefined) return null;
    this.#at++;
    return { operator, position };
  }

  #comparison(): Derived {
    const left = this.#sum();
    const found = this.#readOperator(...comparisons);
    if (found === null) return left;
    const right = this.#sum();
    const { kind, text, position } = this.#token;
    if (kind === 'sign' && comparisons.some((one) => one === text))
      throw new DerivedFault(position, 'Comparisons follow one another; put one in parentheses');
    return this.#call(found.operator, [left, right], found.position);
  }

  #sum(): Derived {
    return this.#chain(['+', '-'], () => this.#product());
  }

  #product(): Derived {
    return this.#chain(['*', '/'], () => this.#signed());
  }

  #chain(some: readonly Operator[], operand: () => Derived): Derived {
    let left = operand();
    for (;;) {
      const found = this.#readOperator(...some);
      if (found === null) return left;
      left = this.#call(found.operator, [left, operand()], found.position);
    }
  }

  #signed(): Derived {
    return this.#deeper(() => {
      const minus = this.#readOperator('-');
      if (minus !== null) return this.#call('negate', [this.#signed()], minus.position);
      const base = this.#primary();
      const power = this.#readOperator('^');
      return power === null ? base : this.#call('^', [base, this.#signed()], power.position);
    });
  }

  /** Each level of nesting comes through here. */
  #deeper(read: () => Derived): Derived {
    if (++this.#depth > limits.derivedLevels) {
      throw new DerivedFault(
        this.#token.position,
        `An expression is nested at most ${limits.derivedLevels} levels`,
      );
    }
    const derived = read();
    this.#depth--;
    return derived;
  }

  #primary(): Derived {
    const { kind, text, position } = this.#token;
    if (kind === 'number') {
      this.#at++;
      return this.#counted({ kind: 'number', value: Number(text) }, position);
    }
    if (kind === 'quoted') {
      this.#at++;
      const name = text.slice(1, -1).replaceAll('""', '"');
      return this.#counted({ kind: 'channel', name, position }, position);
    }
    if (kind === 'name') {
      this.#at++;
      if (this.#token.text === '(' && this.#token.kind === 'sign') return this.#function(text, position);
      return this.#counted({ kind: 'channel', name: text, position }, position);
    }
    if (kind === 'sign' && text === '(') {
      this.#at++;
      const inner = this.#comparison();
      this.#expect(')');
      return inner;
    }
    throw this.#unexpected('a number, a channel, a function or "("');
  }

  #function(name: string, position: number): Derived {
    if (!Object.hasOwn(functions, name)) {
      const known = Object.keys(functions).join(', ');
      throw new DerivedFault(position, `${quote(name)} is not a function; functions are ${known}`);
    }
    const call = name as FunctionName;
    const [least, most] = functions[call];
    this.#expect('(');
    const operands = [this.#comparison()];
    const positions = [position];
    while (this.#token.kind === 'sign' && this.#token.text === ',') {
      this.#at++;
      positions.push(this.#token.position);
      operands.push(this.#comparison());
    }
    this.#expect(')');
    if (operands.length < least || operands.length > most) {
      const wanted = least === most ? `${least}` : `${least} to ${most}`;
      const noun = most === 1 ? 'argument' : 'arguments';
      throw new DerivedFault(position, `${name} takes ${wanted} ${noun}, not ${operands.length}`);
    }
    if (call !== 'lag') return this.#call(call, operands, position);
    const rows = lagRows(operands[1], positions[1] ?? position);
    return { ...this.#call('lag', operands.slice(0, 1), position), rows } as Derived;
  }

  #expect(sign: string): void {
    if (this.#token.kind !== 'sign' || this.#token.text !== sign) throw this.#unexpected(`"${sign}"`);
    this.#at++;
  }

  #unexpected(wanted: string): DerivedFault {
    const { kind, text, position } = this.#token;
    const found = kind === 'end' ? 'the expression ends' : `there is ${quote(text)}`;
    return new DerivedFault(position, `Where ${found}, ${wanted} is expected`);
  }

  #call(call: Extract<Derived, { kind: 'call' }>['call'], operands: Derived[], position: number): Derived {
    return this.#counted({ kind: 'call', call, operands, position }, position);
  }

  #counted(derived: Derived, position: number): Derived {
    if (++this.#nodes > limits.derivedNodes)
      throw new DerivedFault(
        position,
        `An expression has at most ${limits.derivedNodes} numbers, channels and operations`,
      );
    return derived;
  }
}

function lagRows(given: Derived | undefined, position: number): number {
  if (given === undefined) return 1;
  const isRows =
    given.kind === 'number' &&
    Number.isInteger(given.value) &&
    given.value >= 1 &&
    given.value <= limits.derivedLagRows;
  if (isRows) return given.value;
  throw new DerivedFault(
    position,
    `The second argument of lag is a whole number of rows, 1 to ${limits.derivedLagRows}`,
  );
}
