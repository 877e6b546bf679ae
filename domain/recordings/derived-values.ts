/**
 * Values of derived channels, computed over stretches of rows as they are read. Empty is NaN: a row is empty where an operand
 * is, and where the result of any part is no finite number. A comparison is 1 or 0.
 */
import type { Derived, FunctionName, Operator } from './derived-syntax.ts';

/** Rows that follow those of the stretch before. */
interface Stretch {
  /** Milliseconds. */
  readonly times: Float64Array;
  readonly column: (channel: string) => Float64Array;
  readonly rows: number;
}

/** Computes the next stretch; functions over rows remember the one before. The result is valid until the next call. */
export type Compute = (stretch: Stretch) => Float64Array;

/**
 * A computation that begins before the first row of a recording.
 * @param unitMs integrals and derivatives are over so many milliseconds: a second, or a row where rows are numbered
 */
export function startComputing(derived: Derived, unitMs = 1000): Compute {
  const compute = computing(derived, unitMs);
  let kept = new Float64Array(0);
  return (stretch) => {
    const found = compute(stretch);
    if (kept.length !== stretch.rows) kept = new Float64Array(stretch.rows);
    for (let row = 0; row < stretch.rows; row++) kept[row] = finite(found[row] as number);
    return kept;
  };
}

const finite = (value: number) => (Number.isFinite(value) ? value : Number.NaN);

function computing(derived: Derived, unitMs: number): Compute {
  switch (derived.kind) {
    case 'number':
      return ({ rows }) => new Float64Array(rows).fill(derived.value);
    case 'channel':
      return ({ column }) => column(derived.name);
    case 'call': {
      const operands = derived.operands.map((operand) => computing(operand, unitMs));
      switch (derived.call) {
        case 'integrate':
          return overTime(operands[0] as Compute, integral(unitMs));
        case 'differentiate':
          return overTime(operands[0] as Compute, derivative(unitMs));
        case 'lag':
          return lagging(operands[0] as Compute, derived.rows ?? 1);
        default:
          return byRow(rowFunctions[derived.call], operands);
      }
    }
  }
}

type OverRows = 'integrate' | 'differentiate' | 'lag';
/** Operands beyond those that a function takes are 0. */
type RowFunction = (a: number, b: number, c: number) => number;

const truth = (a: number, b: number, is: boolean) =>
  Number.isNaN(a) || Number.isNaN(b) ? Number.NaN : is ? 1 : 0;

const rowFunctions: Readonly<Record<Exclude<Operator | FunctionName | 'negate', OverRows>, RowFunction>> = {
  '+': (a, b) => a + b,
  '-': (a, b) => a - b,
  '*': (a, b) => a * b,
  '/': (a, b) => a / b,
  '^': (a, b) => (Number.isNaN(a) ? a : a ** b),
  '<': (a, b) => truth(a, b, a < b),
  '<=': (a, b) => truth(a, b, a <= b),
  '>': (a, b) => truth(a, b, a > b),
  '>=': (a, b) => truth(a, b, a >= b),
  '==': (a, b) => truth(a, b, a === b),
  '!=': (a, b) => truth(a, b, a !== b),
  negate: (a) => -a,
  abs: Math.abs,
  min: (a, b) => Math.min(a, b),
  max: (a, b) => Math.max(a, b),
  sqrt: Math.sqrt,
  sin: Math.sin,
  cos: Math.cos,
  atan2: (a, b) => Math.atan2(a, b),
  // The operand that is not taken may be empty.
  if: (a, b, c) => (Number.isNaN(a) ? a : a === 0 ? c : b),
};

function byRow(apply: RowFunction, [first, ...rest]: readonly Compute[]): Compute {
  return (stretch) => {
    const { rows } = stretch;
    const none = new Float64Array(rows);
    const a = (first as Compute)(stretch);
    const others = rest.map((compute) => compute(stretch));
    const result = new Float64Array(rows);
    const [b = none, c = none] = others;
    for (let row = 0; row < rows; row++)
      result[row] = finite(apply(a[row] as number, b[row] as number, c[row] as number));
    // `min` and `max` alone take more than three.
    for (const more of apply === rowFunctions.if ? [] : others.slice(1)) {
      for (let row = 0; row < rows; row++)
        result[row] = finite(apply(result[row] as number, more[row] as number, 0));
    }
    return result;
  };
}

/** Given each row with a value in turn. */
type OverTime = (timeMs: number, value: number) => number;

function overTime(compute: Compute, step: OverTime): Compute {
  return (stretch) => {
    const values = compute(stretch);
    const result = new Float64Array(stretch.rows);
    for (let row = 0; row < stretch.rows; row++) {
      const value = values[row] as number;
      result[row] = Number.isFinite(value) ? finite(step(stretch.times[row] as number, value)) : Number.NaN;
    }
    return result;
  };
}

/** Trapezoids, 0 at the first value; they span rows without a value. */
function integral(unitMs: number): OverTime {
  let [sum, lastTime, lastValue] = [0, Number.NaN, Number.NaN];
  return (time, value) => {
    if (!Number.isNaN(lastTime)) sum += (((time - lastTime) / unitMs) * (value + lastValue)) / 2;
    [lastTime, lastValue] = [time, value];
    return sum;
  };
}

/** Change since the last row with a value; empty at the first one and at an equal time. */
function derivative(unitMs: number): OverTime {
  let [lastTime, lastValue] = [Number.NaN, Number.NaN];
  return (time, value) => {
    const change = ((value - lastValue) / (time - lastTime)) * unitMs;
    [lastTime, lastValue] = [time, value];
    return change;
  };
}

/** The value so many rows before, in a ring. */
function lagging(compute: Compute, rows: number): Compute {
  const ring = new Float64Array(rows).fill(Number.NaN);
  let at = 0;
  return (stretch) => {
    const values = compute(stretch);
    const result = new Float64Array(stretch.rows);
    for (let row = 0; row < stretch.rows; row++) {
      result[row] = ring[at] as number;
      ring[at] = values[row] as number;
      at = (at + 1) % rows;
    }
    return result;
  };
}
