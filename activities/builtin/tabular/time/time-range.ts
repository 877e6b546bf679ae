/** Finds the time that no reply and no database can hold: one of them breaks every chart of its session. */
import { isRecordingTime, recordingTimes } from '../../../../domain/outputs/recording.ts';
import type { Engine } from '../engine.ts';
import type { TabularError } from '../errors.ts';
import { findValue } from '../read/cast-text.ts';
import type { ReadPlan, TableSource } from '../read/source.ts';
import type { TimePlan } from './time-plan.ts';

export interface WrittenTimes {
  readonly source: TableSource;
  readonly plan: ReadPlan;
  readonly time: TimePlan;
  /** The rows as written first, in the order of the file. */
  readonly path: string;
  readonly from: number;
  readonly to: number;
}

/** The first time outside the years 1 to 9999, as a fault with its place; null when there is none. */
export async function findTimeOutside(engine: Engine, written: WrittenTimes): Promise<TabularError | null> {
  const { source, plan, time, path, from, to } = written;
  const hasTimes = from <= to;
  if (time.column === null || !hasTimes || (isRecordingTime(from) && isRecordingTime(to))) return null;
  const [found] = await engine.rows({
    sql: `SELECT min(file_row_number) FROM read_parquet($1, file_row_number = true)
      WHERE t < CAST($2 AS DOUBLE) OR t >= CAST($3 AS DOUBLE)`,
    parameters: [path, recordingTimes.fromMs, recordingTimes.beforeMs],
  });
  const row = Number(found?.[0] ?? 0) + 1;
  const value = await findValue(engine, source.select.bind(source), plan, time.column, row);
  const start = time.kind === 'absolute' ? '' : ', counted from 1970';
  return source.faultAt(row, time.column, `The time ${value} is outside the years 1 to 9999${start}.`);
}
