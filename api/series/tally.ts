/** Number, mean, spread and extremes of values that come in parts: rows, or blocks of the coarse level. */
import { addMoments, momentNumbers } from '../../domain/outputs/recording.ts';
import type { Extreme } from './protocol.ts';

export class Tally {
  readonly #moments = new Float64Array(momentNumbers);
  #min: Extreme | null = null;
  #max: Extreme | null = null;

  get count(): number {
    return this.#moments[0] as number;
  }

  get min(): Extreme | null {
    return this.#min;
  }

  get max(): Extreme | null {
    return this.#max;
  }

  get mean(): number | null {
    return this.count === 0 ? null : (this.#moments[1] as number);
  }

  /** The standard deviation of the sample. */
  get standardDeviation(): number | null {
    return this.count < 2 ? null : Math.sqrt((this.#moments[2] as number) / (this.count - 1));
  }

  /** Adds rows; a value that is NaN is missing. */
  addRows(times: Float64Array, values: Float64Array): void {
    let [count, origin, sum, squares, lowest, highest] = [0, 0, 0, 0, -1, -1];
    for (let row = 0; row < values.length; row++) {
      const value = values[row] as number;
      if (Number.isNaN(value)) continue;
      if (count === 0) {
        origin = value;
        lowest = row;
        highest = row;
      }
      count++;
      // Distances from one of the values: sums of the values themselves would lose digits.
      const distance = value - origin;
      sum += distance;
      squares += distance * distance;
      if (value < (values[lowest] as number)) lowest = row;
      if (value > (values[highest] as number)) highest = row;
    }
    if (count === 0) return;
    this.addMoments(count, origin + sum / count, Math.max(0, squares - (sum * sum) / count));
    this.addLowest(times[lowest] as number, values[lowest] as number);
    this.addHighest(times[highest] as number, values[highest] as number);
  }

  addMoments(count: number, mean: number, squares: number): void {
    addMoments(this.#moments, 0, count, mean, squares);
  }

  /** The earliest of equal values counts. */
  addLowest(time: number, value: number): void {
    if (
      this.#min !== null &&
      (value > this.#min.value || (value === this.#min.value && time >= this.#min.time))
    )
      return;
    this.#min = { value, time };
  }

  addHighest(time: number, value: number): void {
    if (
      this.#max !== null &&
      (value < this.#max.value || (value === this.#max.value && time >= this.#max.time))
    )
      return;
    this.#max = { value, time };
  }
}
