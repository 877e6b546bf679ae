/** Writes the Parquet file of a recording: rows, order, coarse level, description. */

import type { TabularConfiguration } from '../configuration.ts';
import type { RecordingDescription } from '../description.ts';
import { type Engine, isOutOfMemory, isResourceFault, type Query, sqlText } from '../engine.ts';
import { NoTabularData, TabularError } from '../errors.ts';
import { finite } from '../read/cast-text.ts';
import { findWrongMark } from '../read/number-style.ts';
import { type ReadPlan, readChannelAs, type TableSource } from '../read/source.ts';
import { periods, timesOverMidnights } from '../time/midnights.ts';
import { OverDayError, overDayMark, type TimePlan, timeName } from '../time/time-plan.ts';
import { findTimeOutside } from '../time/time-range.ts';
import { type DescribedColumn, describeRecording } from './describe.ts';
import { type ColumnKinds, type Inspection, inspect } from './inspect.ts';
import { additionOffset, completeParquet, newPlaceholder } from './parquet-footer.ts';
import { parquetOptions } from './parquet-options.ts';
import { roundedRemark } from './rounded.ts';

export interface WriteSettings {
  engine: Engine;
  source: TableSource;
  time: TimePlan;
  configuration: TabularConfiguration;
  identity: RecordingDescription['source'];
  realm: string;
  /** Free path in the engine's folder. */
  path: string;
  /** Recordings that would spill more than this are not sorted. */
  maxTempBytes: number;
  /** Called when the rows are written for the first time. */
  onWritten: () => void;
}

export interface WrittenRecording {
  description: RecordingDescription;
  sizeBytes: number;
  path: string;
}

/** @throws NoTabularData, TabularError for faults of the file; OverDayError where the plan of the time is wrong */
export async function writeRecording(settings: WriteSettings): Promise<WrittenRecording> {
  const { source, time } = settings;
  const channels = source.columns.flatMap((column, index) => {
    const isUnnamedAndEmpty = column.heading.trim() === '' && column.kind === 'empty';
    return index === time.column || index === time.clock || isUnnamedAndEmpty ? [] : [index];
  });
  if (channels.length === 0) throw new NoTabularData('The file has no column other than the time.');
  const plan: ReadPlan = {
    readAs: source.columns.map((column, index) => {
      if (index === time.column) return time.readAs;
      if (index === time.clock) return 'INTERVAL';
      return channels.includes(index) ? readChannelAs(column.kind) : null;
    }),
    timestampFormat: time.timestampFormat,
  };
  if (channels.length > wideChannels) await settings.engine.useOneThread();
  const writer = new Writer(settings, channels, plan);
  await writer.writeRows();
  settings.onWritten();
  await writer.putInOrder();
  return writer.complete();
}

/** From this number of columns on, a table is wide: steps that hold whole rows in memory are avoided. */
const wideChannels = 400;

class Writer {
  readonly #settings: WriteSettings;
  readonly #channels: readonly number[];
  readonly #plan: ReadPlan;
  readonly #options: string;
  readonly #placeholder: ReturnType<typeof newPlaceholder>;
  readonly #warnings: string[];
  /** Rows are numbered when they are written again: numbering them while they are read holds many in memory. */
  readonly #isNumberedLater: boolean;
  #path: string;
  #rowCount = 0;
  #inspection: Inspection | null = null;

  constructor(settings: WriteSettings, channels: readonly number[], plan: ReadPlan) {
    this.#settings = settings;
    this.#channels = channels;
    this.#plan = plan;
    this.#path = settings.path;
    this.#isNumberedLater = settings.time.column === null && channels.length > wideChannels;
    this.#warnings = [...settings.time.warnings];
    const draft = JSON.stringify(this.#describe(null, null));
    this.#placeholder = newPlaceholder(
      Math.ceil(1.3 * Buffer.byteLength(draft)) + 200 * channels.length + 32_768,
    );
    this.#options = parquetOptions(channels.length + 1, this.#placeholder.text);
  }

  /** Reads the upload; repeats the read when the reader amended its plan. */
  async writeRows(): Promise<void> {
    const { source, time } = this.#settings;
    for (;;) {
      const rows = source.select(this.#plan);
      const t = this.#isNumberedLater ? '0' : time.milliseconds(`c${time.column ?? 0}`);
      try {
        this.#rowCount = await this.#copy({
          sql: `SELECT ${finite(`CAST(${t} AS DOUBLE)`)} AS t, ${this.#columns().join(', ')} FROM (${rows.sql})`,
          parameters: rows.parameters,
        });
        break;
      } catch (error) {
        if (!(error instanceof Error) || error instanceof TabularError || isAbort(error)) throw error;
        if (error.message.includes(overDayMark)) throw new OverDayError();
        const verdict = isResourceFault(error) ? null : await source.judge(error, this.#plan);
        if (verdict === null) throw error;
        if (verdict !== 'again') throw verdict;
      }
    }
    if (this.#rowCount === 0) throw new NoTabularData('The file has no rows.');
    const seen = await this.#inspect();
    const { engine } = this.#settings;
    const { from, to } = seen;
    const written = { source, time, plan: this.#plan, path: this.#path, from, to };
    const fault =
      (await findWrongMark(engine, source, this.#plan)) ?? (await findTimeOutside(engine, written));
    if (fault !== null) throw fault;
    this.#inspection = seen;
  }

  /** Writes the rows once more when they are not in the order of time, lack a time, or hold what is no finite number. */
  async putInOrder(): Promise<void> {
    await this.#goOverMidnights();
    const seen = this.#inspected();
    const { numbers } = this.#kinds();
    const infinite = numbers.filter((column) => seen.facts.get(column)?.hasInfinity);
    const nullCounts = await this.#nullCounts();
    // The reader of csv takes some texts for not-a-number. Leaving them out while it reads costs a third of its time, and
    // for a wide table more memory than there is.
    const notNumbers = numbers.filter((column) => {
      const filled = seen.rowCount - (nullCounts.get(column) ?? 0);
      return filled > (seen.facts.get(column)?.values ?? filled);
    });
    const isRight = seen.isSorted && seen.rowsWithoutTime === 0 && infinite.length + notNumbers.length === 0;
    if (isRight && !this.#isNumberedLater) return;
    if (seen.rowsWithoutTime === seen.rowCount) throw new NoTabularData('No row of the file has a time.');
    if (seen.rowsWithoutTime > 0)
      this.#warnings.push(`${seen.rowsWithoutTime} rows without a time were skipped.`);
    if (infinite.length > 0)
      this.#warnings.push(`Infinite numbers in ${infinite.length} columns were skipped.`);
    const unfit = new Set([...infinite, ...notNumbers]);
    const columns = this.#columns().map((column) =>
      unfit.has(column) ? `${finite(column)} AS ${column}` : column,
    );
    const t = this.#isNumberedLater ? 'CAST(file_row_number AS DOUBLE)' : 't';
    const query = this.#rewritten(t, columns, 'WHERE isfinite(t)');
    if (seen.isSorted) this.#rowCount = await this.#copy(query);
    else await this.#copySorted(query, seen.rowCount);
    this.#inspection = await this.#inspect();
  }

  /** The query that writes the rows once more, into a new file. */
  #rewritten(t: string, columns: readonly string[], where = ''): Query {
    const from = this.#path;
    this.#path = `${from}.ordered`;
    return {
      sql: `SELECT ${t} AS t, ${columns.join(', ')} FROM read_parquet($1, file_row_number = true) ${where}`,
      parameters: [from],
    };
  }

  /** Adds a day to times of the day after each midnight, where they fall. */
  async #goOverMidnights(): Promise<void> {
    const { engine, time } = this.#settings;
    if (time.beginsAnew === null || this.#inspected().isSorted) return;
    const { milliseconds, warning } = periods[time.beginsAnew];
    const t = await timesOverMidnights(engine, this.#path, milliseconds);
    if (t === null) return;
    this.#rowCount = await this.#copy(this.#rewritten(t, this.#columns()));
    this.#warnings.push(warning);
    this.#inspection = await this.#inspect();
  }

  /** Rows that this machine cannot sort within its bounds stay unsorted, and the description says so. */
  async #copySorted(query: Query, rowCount: number): Promise<void> {
    const { maxTempBytes } = this.#settings;
    const spillBytes = rowCount * (this.#channels.length + 1) * 16;
    if (spillBytes <= maxTempBytes) {
      try {
        this.#rowCount = await this.#copy({ ...query, sql: `${query.sql} ORDER BY t, file_row_number` });
        this.#warnings.push('The rows were sorted by time.');
        return;
      } catch (error) {
        if (!isOutOfMemory(error)) throw error;
      }
    }
    this.#rowCount = await this.#copy(query);
    this.#warnings.push('The rows are not sorted by time; there are too many to sort.');
  }

  async complete(): Promise<WrittenRecording> {
    const nullCounts = await this.#nullCounts();
    const offset = await additionOffset(this.#path);
    const { overview, facts } = this.#inspected();
    const rounded = roundedRemark(this.#settings.source.columns, facts);
    if (rounded !== null) this.#warnings.push(rounded);
    const description = this.#describe(nullCounts, overview === null ? null : offset);
    const sizeBytes = await completeParquet(
      this.#path,
      overview?.parts ?? [],
      this.#placeholder,
      JSON.stringify(description),
    );
    return { description, sizeBytes, path: this.#path };
  }

  #inspected(): Inspection {
    if (this.#inspection === null) throw new Error('The rows are not written yet.');
    return this.#inspection;
  }

  /** The channels by what the plan reads them as. */
  #kinds(): ColumnKinds {
    const readAs = (...types: string[]) =>
      this.#channels
        .filter((index) => types.includes(this.#plan.readAs[index] ?? ''))
        .map((index) => `c${index}`);
    return { numbers: readAs('DOUBLE', 'BIGINT'), truths: readAs('BOOLEAN'), texts: readAs('VARCHAR') };
  }

  #columns(): string[] {
    return this.#channels.map((index) => `c${index}`);
  }

  #inspect(): Promise<Inspection> {
    return inspect(this.#settings.engine, this.#path, this.#kinds(), this.#rowCount);
  }

  /** @returns the number of rows written */
  async #copy(query: Query): Promise<number> {
    const [row] = await this.#settings.engine.rows({
      sql: `COPY (${query.sql}) TO ${sqlText(this.#path)} (${this.#options})`,
      parameters: query.parameters,
    });
    return Number(row?.[0] ?? 0);
  }

  async #nullCounts(): Promise<Map<string, number>> {
    const rows = await this.#settings.engine.rows({
      sql: `SELECT path_in_schema, CAST(sum(stats_null_count) AS DOUBLE) FROM parquet_metadata($1) GROUP BY ALL`,
      parameters: [this.#path],
    });
    return new Map(rows.map(([column, count]) => [String(column), Number(count ?? 0)]));
  }

  #describe(nullCounts: Map<string, number> | null, offset: number | null): RecordingDescription {
    const { source, time, configuration, identity, realm } = this.#settings;
    const seen = this.#inspection;
    const columns = this.#channels.map((index): DescribedColumn => {
      const column = `c${index}`;
      const { heading, unit } = source.columns[index] as TableSource['columns'][number];
      return {
        heading,
        unit,
        column,
        readAs: this.#plan.readAs[index] ?? 'VARCHAR',
        nullCount: nullCounts?.get(column) ?? 0,
        facts: seen?.facts.get(column) ?? null,
      };
    });
    const overview =
      offset === null || seen?.overview == null
        ? undefined
        : {
            offset,
            blocks: seen.overview.blocks,
            blockRows: seen.overview.blockRows,
            columns: [...seen.overview.columns],
            ...(seen.overview.texts.length === 0 ? {} : { texts: [...seen.overview.texts] }),
            moments: true as const,
          };
    return describeRecording({
      identity,
      format: source.format,
      realm,
      configuration,
      columns,
      columnCount: source.columns.length,
      rowCount: seen?.rowCount ?? 0,
      time: {
        kind: time.kind,
        from: seen?.from ?? 0,
        to: seen?.to ?? 0,
        name: timeName(source.columns, time),
        isSorted: seen?.isSorted ?? true,
      },
      warnings: [...source.warnings, ...this.#warnings],
      overview,
    });
  }
}

function isAbort(error: Error): boolean {
  return error.name === 'AbortError';
}
