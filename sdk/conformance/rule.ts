/** A rule of the contract, as findings name it. */

export type Level = 'fail' | 'warn';

export interface Rule {
  readonly level: Level;
  /** The rule, in words that need no other document. */
  readonly says: string;
  /** Its source: the part of the interface document. */
  readonly from: string;
}

export const rule = (level: Level, from: string, says: string) =>
  ({ level, from, says }) as const satisfies Rule;
export const routes = 'Runner routes';
export const rules1to4 = 'Runner rules';
