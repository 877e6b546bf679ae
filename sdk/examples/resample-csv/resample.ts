/** From rows at any times to rows at a fixed rate. */
import { TaskFailure } from '@simulation-data-platform/runner';

export interface ResampleOptions {
  readonly rateHz: number;
  readonly timeColumn?: string;
  readonly timeUnit?: 's' | 'ms';
  readonly method?: 'linear' | 'previous';
}

/** A wrong time unit would turn a few rows into billions. */
const maxSteps = 50_000_000;
const chunkCharacters = 64 * 1024;

interface Sample {
  readonly timeSeconds: number;
  readonly cells: readonly string[];
}

/**
 * The resampled table as csv text: the same columns, from the first row's time to the last row's. Numbers are interpolated;
 * other cells keep the value of the row before.
 * @param rows the first is the header
 * @throws TaskFailure `validation` with the row, the header being row 1
 */
export async function* resample(
  rows: AsyncGenerator<readonly string[], void, void>,
  options: ResampleOptions,
): AsyncGenerator<string, void, void> {
  const columns = ((await rows.next()).value ?? ['']).map((name) => name.trim());
  const timeAt = options.timeColumn === undefined ? 0 : columns.indexOf(options.timeColumn);
  if (timeAt < 0) throw new TaskFailure('validation', `row 1: there is no column '${options.timeColumn}'`);
  const clock = new Clock(options.timeUnit ?? 's');
  let text = lineOf(columns);
  let before: Sample | undefined;
  let beginSeconds = 0;
  let step = 0;
  let row = 1;
  for await (const cells of rows) {
    row += 1;
    const sample = { timeSeconds: clock.read(cells[timeAt] ?? '', row), cells };
    if (before === undefined) beginSeconds = sample.timeSeconds;
    else if (sample.timeSeconds < before.timeSeconds) {
      throw new TaskFailure('validation', `row ${row}: the time goes back`);
    }
    for (;;) {
      // Computed from the step's number, so that errors do not add up.
      const timeSeconds = beginSeconds + step / options.rateHz;
      if (timeSeconds > sample.timeSeconds) break;
      const cells = between(before ?? sample, sample, timeSeconds, options.method ?? 'linear');
      text += lineOf(cells.with(timeAt, clock.write(timeSeconds)));
      step += 1;
      if (step > maxSteps)
        throw new TaskFailure('validation', `more than ${maxSteps} steps: is timeUnit right?`);
      if (text.length < chunkCharacters) continue;
      yield text;
      text = '';
    }
    before = sample;
  }
  yield text;
}

function between(
  before: Sample,
  after: Sample,
  timeSeconds: number,
  method: 'linear' | 'previous',
): string[] {
  if (timeSeconds === after.timeSeconds) return [...after.cells];
  if (method === 'previous') return [...before.cells];
  const share = (timeSeconds - before.timeSeconds) / (after.timeSeconds - before.timeSeconds);
  return before.cells.map((cell, index) => {
    const [from, to] = [toNumber(cell), toNumber(after.cells[index] ?? '')];
    return from === undefined || to === undefined ? cell : toText(from + (to - from) * share);
  });
}

/** Reads times and writes them in the same form. */
class Clock {
  readonly #perSecond: number;
  #isNumeric: boolean | undefined;

  constructor(unit: 's' | 'ms') {
    this.#perSecond = unit === 's' ? 1 : 1_000;
  }

  read(text: string, row: number): number {
    const cell = text.trim();
    const value = toNumber(cell);
    this.#isNumeric ??= value !== undefined;
    const seconds = this.#isNumeric ? (value ?? Number.NaN) / this.#perSecond : Date.parse(cell) / 1_000;
    if (Number.isFinite(seconds)) return seconds;
    throw new TaskFailure('validation', `row ${row}: '${cell}' is not a time`);
  }

  write(seconds: number): string {
    return this.#isNumeric === true
      ? toText(seconds * this.#perSecond)
      : new Date(seconds * 1_000).toISOString();
  }
}

function toNumber(cell: string): number | undefined {
  const value = cell.trim() === '' ? Number.NaN : Number(cell);
  return Number.isFinite(value) ? value : undefined;
}

/** Without the noise of binary fractions. */
function toText(value: number): string {
  return String(Number(value.toPrecision(12)));
}

function lineOf(cells: readonly string[]): string {
  return `${cells.map((cell) => (/[",\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)).join(',')}\n`;
}
