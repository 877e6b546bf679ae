/** Shared parts of the three readers (csv, JSON, Parquet). */

import type { TabularConfiguration } from '../configuration.ts';
import type { RecordingFormat } from '../description.ts';
import type { Engine, Query } from '../engine.ts';
import type { TabularError } from '../errors.ts';
import type { PlainInput } from './prepare-input.ts';

/** What the readers of texts (csv, JSON) need. */
export interface TextSettings {
  input: PlainInput;
  engine: Engine;
  folder: string;
  configuration: TabularConfiguration;
  maxRows: number;
  signal?: AbortSignal | undefined;
}

/**
 * Kind of a source column: `empty` had no value in the sample, `time` is a date or time type of the file itself,
 * `integer` is a 64-bit integer type of the file itself (texts and JSON numbers are `number`).
 */
export type SourceKind = 'number' | 'integer' | 'boolean' | 'text' | 'empty' | 'time';

export interface SourceColumn {
  heading: string;
  /** Unit from a line of units; null when the heading may hold it. */
  unit: string | null;
  kind: SourceKind;
  /** Values from the file's start as text, null where there is none. Times are ISO 8601. */
  sample: readonly (string | null)[];
}

/**
 * How a column leaves the reader. `time` is TIMESTAMP WITH TIME ZONE or, by format, TIMESTAMP. MILLISECONDS are numbers
 * that texts of durations become.
 */
export type ReadAs = 'DOUBLE' | 'BIGINT' | 'BOOLEAN' | 'VARCHAR' | TimeType;
export type TimeType = 'TIMESTAMPTZ' | 'TIMESTAMP' | 'INTERVAL' | 'MILLISECONDS';

export interface ReadPlan {
  /** One for each source column; null: not wanted. */
  readAs: (ReadAs | null)[];
  /** strptime format of the one TIMESTAMP column. */
  timestampFormat: string | null;
}

export interface TableSource {
  format: RecordingFormat;
  columns: SourceColumn[];
  /** Numbers in texts are written with a comma. */
  decimalComma: boolean;
  /** What stands between the thousands of numbers in texts. */
  thousands: ',' | '.' | null;
  /** Warnings for the owner. */
  warnings: string[];
  /** The file's rows as a query whose columns are named `c<index>`. */
  select(plan: ReadPlan): Query;
  /**
   * Judges a failed read: `again` when the plan was amended and the read may be repeated, else the message for the
   * owner; null when the file is not at fault.
   */
  judge(error: Error, plan: ReadPlan): Promise<'again' | TabularError | null>;
  /** A fault of the value in a row, from 1, of a column, with its place in the file. */
  faultAt(row: number, index: number, fault: string): Promise<TabularError>;
}

/** How a column of a kind is read when it is not the time column. */
export function readChannelAs(kind: SourceKind): ReadAs {
  switch (kind) {
    case 'integer':
      return 'BIGINT';
    case 'number':
    case 'empty':
      return 'DOUBLE';
    case 'boolean':
      return 'BOOLEAN';
    case 'text':
    case 'time':
      return 'VARCHAR';
  }
}

/** The value that an SQL cast to a type expected, for messages. */
export function expectedKind(readAs: ReadAs | null): string {
  switch (readAs) {
    case 'DOUBLE':
    case 'BIGINT':
      return 'a number';
    case 'BOOLEAN':
      return 'true or false';
    case 'TIMESTAMP':
    case 'TIMESTAMPTZ':
      return "a time in the format of the column's first values";
    case 'INTERVAL':
      return 'a duration (hh:mm:ss)';
    case 'MILLISECONDS':
      return 'a duration (mm:ss.f, or a number with its unit)';
    default:
      return 'text';
  }
}
