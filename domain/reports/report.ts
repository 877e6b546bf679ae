/** Reports: a table of dimensions or sessions, one row for each, its scenario instances and members (decisions 12). */

export const reportSources = ['dimension', 'metadata', 'scenarioInstance', 'user', 'dashboard'] as const;
type ReportSource = (typeof reportSources)[number];

/** Which sessions have rows: those with a dashboard, one for each; or all, those without one too. */
export const reportCoverages = ['dashboards', 'sessions'] as const;
export type ReportCoverage = (typeof reportCoverages)[number];

export const columnTypes = ['string', 'number', 'boolean', 'date', 'duration'] as const;
export type ColumnType = (typeof columnTypes)[number];

export interface ReportColumn {
  readonly columnKey: string;
  readonly name: string;
  /** CEL over {@link ReportRow}. */
  readonly expression: string;
  readonly type: ColumnType;
  /** An Excel number format; empty for the type's own. */
  readonly format: string;
  readonly source: ReportSource;
  readonly order: number;
}

export interface ReportFilter {
  readonly filterKey: string;
  readonly expression: string;
  /** Rows for which the expression equals this stay. */
  readonly value: string | number | boolean | null;
  readonly source: ReportSource;
}

/** The data that expressions see; missing parts are empty. */
export type ReportRow = Readonly<Record<ReportSource, Readonly<Record<string, unknown>>>>;

/** The value of a cell. A duration is in seconds. */
export type Cell =
  | { readonly type: 'empty' }
  | { readonly type: 'string'; readonly value: string }
  | { readonly type: 'number'; readonly value: number }
  | { readonly type: 'boolean'; readonly value: boolean }
  | { readonly type: 'date'; readonly value: Date }
  | { readonly type: 'duration'; readonly value: number };

/** `session-list` becomes `sessionList`. */
export function configurationKeyOf(key: string): string {
  return key.replace(/-([a-z0-9])/g, (_match, letter: string) => letter.toUpperCase());
}

/** Columns in the order in which they are shown. */
export function orderedColumns(columns: readonly ReportColumn[]): readonly ReportColumn[] {
  return [...columns].sort((a, b) => a.order - b.order);
}

/** Entries of `changed` replace those with the same key; others stay, new ones follow. */
export function mergeByKey<Item>(
  stored: readonly Item[],
  changed: readonly Item[],
  keyOf: (item: Item) => string,
): readonly Item[] {
  const byKey = new Map(stored.map((item) => [keyOf(item), item]));
  for (const item of changed) byKey.set(keyOf(item), item);
  return [...byKey.values()];
}

/** `{prefix}_{ddMMyyyy_HH.mm}.{extension}`, in UTC. */
export function reportFileName(prefix: string, extension: string, now: Date): string {
  const two = (number: number) => String(number).padStart(2, '0');
  const day = `${two(now.getUTCDate())}${two(now.getUTCMonth() + 1)}${now.getUTCFullYear()}`;
  return `${prefix}_${day}_${two(now.getUTCHours())}.${two(now.getUTCMinutes())}.${extension}`;
}
