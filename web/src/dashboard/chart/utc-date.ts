/** Moments for the axis of a chart in UTC. Pure: tested without a browser. */

/**
 * A moment whose parts are those of UTC. uPlot asks dates for their parts in the zone of the machine, and counts with the
 * moment at which the clock of the machine shows the same; where that clock is changed it shows some hours twice or never, so
 * that moment alone cannot say the hour.
 */
export class UtcDate extends Date {
  readonly #moment: Date;

  constructor(timeMs: number) {
    const at = new Date(timeMs);
    super(timeMs);
    this.#moment = at;
    this.setFullYear(at.getUTCFullYear(), at.getUTCMonth(), at.getUTCDate());
    this.setHours(at.getUTCHours(), at.getUTCMinutes(), at.getUTCSeconds(), at.getUTCMilliseconds());
  }

  override getFullYear(): number {
    return this.#moment.getUTCFullYear();
  }

  override getMonth(): number {
    return this.#moment.getUTCMonth();
  }

  override getDate(): number {
    return this.#moment.getUTCDate();
  }

  override getHours(): number {
    return this.#moment.getUTCHours();
  }

  override getMinutes(): number {
    return this.#moment.getUTCMinutes();
  }

  override getSeconds(): number {
    return this.#moment.getUTCSeconds();
  }

  override getMilliseconds(): number {
    return this.#moment.getUTCMilliseconds();
  }
}
