/** A running aggregate of one column. */

export interface Aggregate {
  /** Tables that were added. */
  readonly tables: number;
  /** Files that are not tables or lack the column. */
  readonly skipped: number;
  readonly count: number;
  readonly sum: number;
  readonly least: number | null;
  readonly greatest: number | null;
}

export const nothing: Aggregate = { tables: 0, skipped: 0, count: 0, sum: 0, least: null, greatest: null };

/** The aggregate with one table more, whose first row is its header; cells without a number are left out. */
export async function withTable(
  before: Aggregate,
  rows: AsyncGenerator<readonly string[], void, void>,
  column: string,
): Promise<Aggregate> {
  const header = (await rows.next()).value ?? [];
  const place = header.findIndex((name) => name.trim() === column);
  if (place < 0) {
    await rows.return();
    return { ...before, skipped: before.skipped + 1 };
  }
  let { count, sum, least, greatest } = before;
  for await (const cells of rows) {
    const cell = (cells[place] ?? '').trim();
    const value = cell === '' ? Number.NaN : Number(cell);
    if (!Number.isFinite(value)) continue;
    count += 1;
    sum += value;
    least = Math.min(least ?? value, value);
    greatest = Math.max(greatest ?? value, value);
  }
  return { tables: before.tables + 1, skipped: before.skipped, count, sum, least, greatest };
}

export function present(aggregate: Aggregate): Aggregate & { readonly mean: number | null } {
  return { ...aggregate, mean: aggregate.count === 0 ? null : aggregate.sum / aggregate.count };
}
