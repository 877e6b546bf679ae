/**
 * Delimited text. Delimiter, heading and types are found from the file's start; then the whole file is read with these
 * as options and without sniffing, so that a row with too many or too few fields is an error, not a row.
 */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type DuckDBValue, listValue } from '@duckdb/node-api';
import type { InputFormat } from '../../configuration.ts';
import { type RecordingFormat, recordingLimits } from '../../description.ts';
import { excerpt, TabularError } from '../../errors.ts';
import { blankAsNull, isBlank, isMissingText, sampleColumn } from '../../text/text-values.ts';
import { badTime, castText, isTime, timeFault } from '../cast-text.ts';
import { copyPart } from '../copy-part.ts';
import { decodeHead } from '../decode-head.ts';
import { numberOptions } from '../number-style.ts';
import {
  expectedKind,
  type ReadPlan,
  type SourceColumn,
  type TableSource,
  type TextSettings,
} from '../source.ts';
import { fileFault, lineTooLong, maxLineBytes, readerBytes, rowFault } from './faults.ts';
import { refuseLongEnd } from './footer.ts';
import { copyWithout, type LeftOut, leftOut } from './left-out.ts';
import { copyWithLineFeeds, lineOfLongRecord, lineOfRecord } from './lines.ts';
import { type CsvLayout, fieldAt, readCsvLayout } from './sample.ts';
import { copyWithTabs, findSpaced, type SpacedTable, withTabs } from './spaced.ts';

const maxRereads = 12;

/** @throws TabularError when the file's start is not a table */
export async function openCsv(settings: TextSettings): Promise<TableSource> {
  const source = await openLayout(settings);
  for (const what of leftOut) if (source.layout.leftOut.has(what)) await source.leaveOut(what);
  await refuseLongEnd(settings.input.path);
  return source;
}

async function openLayout(settings: TextSettings): Promise<CsvSource> {
  const { input, configuration } = settings;
  const format = configuration.inputFormat ?? 'auto';
  const text = decodeHead(input, (whole, before) => fieldAt(whole, before, format));
  const layout = readCsvLayout(text, input.isWhole, format, settings.maxRows);
  if (layout.headings.length > recordingLimits.columns) {
    throw new TabularError(
      `The file has ${layout.headings.length} columns; at most ${recordingLimits.columns} are read.`,
    );
  }
  const spaced = isFree(format) ? findSpaced(text, input.isWhole, layout) : null;
  if (spaced !== null) return openSpaced(settings, text, spaced);
  if (!layout.skippedText.includes('"')) return new CsvSource(settings, layout, input.path, layout.skipLines);
  // The strict reader would search for the end of the quote.
  const copy = join(settings.folder, 'input-table');
  const start = Buffer.byteLength(layout.skippedText);
  await copyPart({ from: input.path, to: copy, start }, null, settings.signal);
  return new CsvSource(settings, layout, copy, 0);
}

/** Whether the configuration leaves the delimiter to the file. */
function isFree(format: InputFormat): boolean {
  return format === 'auto' || format === 'csv';
}

async function openSpaced(settings: TextSettings, text: string, table: SpacedTable): Promise<CsvSource> {
  const { input, folder, maxRows, signal } = settings;
  const path = join(folder, 'input-tabs');
  const skippedBytes = Buffer.byteLength(text.slice(0, table.characters));
  await copyWithTabs(input.path, path, { top: table.top, skippedBytes }, signal);
  const layout = readCsvLayout(withTabs(text, table), input.isWhole, 'tsv', maxRows);
  return new CsvSource(settings, { ...layout, hasSettings: table.hasSettings }, path, layout.skipLines);
}

class CsvSource implements TableSource {
  readonly format: RecordingFormat;
  readonly columns: SourceColumn[];
  readonly decimalComma: boolean;
  readonly thousands: TableSource['thousands'];
  readonly warnings: string[] = [];
  readonly #settings: TextSettings;
  readonly layout: CsvLayout;
  readonly #nullTokens = new Set(['', 'NaN', 'nan', 'NAN']);
  #path: string;
  readonly #skipLines: number;
  #rereads = 0;
  /** The lines were copied, so that all end alike. */
  #hasLineFeeds = false;
  readonly #leftOut = new Set<LeftOut>();

  constructor(settings: TextSettings, layout: CsvLayout, path: string, skipLines: number) {
    this.#settings = settings;
    this.layout = layout;
    this.#path = path;
    this.#skipLines = skipLines;
    ({ decimalComma: this.decimalComma, thousands: this.thousands } = layout.numbers);
    this.format = formats[layout.delimiter];
    this.columns = layout.headings.map((heading, index) => {
      const cells = layout.records.map((record) => record.cells[index] ?? null);
      const { kind, nullTokens } = sampleColumn(cells, this.decimalComma);
      for (const token of nullTokens) this.#nullTokens.add(token);
      return { heading, unit: layout.units?.[index] ?? null, kind, sample: cells.map(blankAsNull) };
    });
    if (layout.hasSettings)
      this.warnings.push('The lines above the table, such as settings of the recorder, were not read.');
    if (this.columns.length === 1 && this.columns[0]?.kind === 'text')
      this.warnings.push('The lines have no comma, semicolon, tab or |; each was read as one text.');
    const { inputFormat } = settings.configuration;
    if (inputFormat === 'csv' && layout.delimiter !== ',') {
      this.warnings.push(`The delimiter is ${excerpt(layout.delimiter)}, not a comma.`);
    }
  }

  /** Leaves out lines that are no rows. @returns whether there were some, so that a read may be repeated */
  async leaveOut(what: LeftOut): Promise<boolean> {
    if (this.#leftOut.has(what)) return false;
    this.#leftOut.add(what);
    const { layout } = this;
    const { signal } = this.#settings;
    const remark = await this.#copy(`input-${what}`, (from, to) =>
      copyWithout[what]({ layout, skipLines: this.#skipLines, from, to, signal }),
    );
    if (remark !== null) this.warnings.push(remark);
    return remark !== null;
  }

  /** Reads the copy from now on, unless the result is null: then there is none. */
  async #copy<T>(name: string, copy: (from: string, to: string) => Promise<T>): Promise<T> {
    const [from, to] = [this.#path, join(this.#settings.folder, name)];
    const result = await copy(from, to);
    const unused = result === null ? to : from;
    if (result !== null) this.#path = to;
    if (unused !== this.#settings.input.path) await rm(unused, { force: true });
    return result;
  }

  select(plan: ReadPlan): { sql: string; parameters: DuckDBValue[] } {
    // Every column is named, also those not wanted: the reader counts fields by them. It leaves their values unread.
    // Times are texts for it: its own cast to a time with a zone treats unreadable values as missing.
    const columns = plan.readAs.map(
      (readAs, index) => `'c${index}': '${isTime(readAs) ? 'VARCHAR' : readAs}'`,
    );
    const selected = plan.readAs.flatMap((readAs, index) => {
      if (readAs === null) return [];
      return [isTime(readAs) ? `${castText(`c${index}`, readAs, '$5')} AS c${index}` : `c${index}`];
    });
    const options = [
      `columns = {${columns.join(', ')}}`,
      'auto_detect = false',
      `header = ${this.layout.hasHeading}`,
      'delim = $2',
      `quote = '"'`,
      `escape = '"'`,
      `comment = ''`,
      'skip = $3',
      'nullstr = $4',
      ...numberOptions(this.layout.numbers),
      'strict_mode = true',
      'null_padding = false',
      'ignore_errors = false',
      `max_line_size = ${maxLineBytes}`,
      `buffer_size = ${readerBytes}`,
    ];
    const parameters: DuckDBValue[] = [
      this.#path,
      this.layout.delimiter,
      BigInt(this.#skipLines),
      listValue([...this.#nullTokens]),
    ];
    if (plan.timestampFormat !== null) parameters.push(plan.timestampFormat);
    return { sql: `SELECT ${selected.join(', ')} FROM read_csv($1, ${options.join(', ')})`, parameters };
  }

  async judge(error: Error, plan: ReadPlan): Promise<'again' | TabularError | null> {
    const verdict = await this.#judge(error, plan);
    if (!(verdict instanceof TabularError)) return verdict;
    for (const what of leftOut) if (await this.leaveOut(what)) return 'again';
    return verdict;
  }

  async #judge(error: Error, plan: ReadPlan): Promise<'again' | TabularError | null> {
    const { message } = error;
    if (message.includes(timeFault)) return badTime(this.#settings.engine, this, plan);
    const record = /CSV Error on Line: (\d+)/.exec(message)?.[1];
    if (record === undefined) return this.#judgeWithoutRecord(message);
    const cast = /Error when converting column "c(\d+)"\. Could not convert string "([\s\S]*?)" to '/.exec(
      message,
    );
    const index = cast === null ? -1 : Number(cast[1]);
    if (cast !== null && this.#amend(plan, index, cast[2] as string)) return 'again';
    const line = await this.#lineOf(Number(record), true);
    if (cast !== null) {
      const readAs = plan.readAs[index] ?? null;
      const place = { line, column: index + 1, columnName: this.columns[index]?.heading };
      return new TabularError(`${excerpt(cast[2] as string)} is not ${expectedKind(readAs)}.`, place);
    }
    return rowFault(message, line, this.layout.delimiter);
  }

  async faultAt(row: number, index: number, fault: string): Promise<TabularError> {
    // Skipped lines and the heading are records without being rows.
    const blankLines =
      this.layout.skippedText.split(/\r\n|\r|\n/).filter((line) => line.trim() === '').length - 1;
    const before =
      (this.#skipLines === 0 ? 0 : this.#skipLines - blankLines) + (this.layout.hasHeading ? 1 : 0);
    const line = await this.#lineOf(row + before, false);
    return new TabularError(fault, { line, column: index + 1, columnName: this.columns[index]?.heading });
  }

  async #lineOf(record: number, countsBlank: boolean): Promise<number> {
    const { delimiter } = this.layout;
    const line = await lineOfRecord(this.#path, delimiter, record, countsBlank, this.#settings.signal);
    return this.#inFile(line);
  }

  /** A line of the read copy, which has no skipped lines where none are skipped. */
  #inFile(line: number): number {
    return this.#skipLines === 0 ? line + this.layout.skipLines : line;
  }

  /**
   * Lets the next read accept values that the sample did not show: words for missing values, and texts in an empty column.
   */
  #amend(plan: ReadPlan, index: number, value: string): boolean {
    if (this.#rereads >= maxRereads) return false;
    const column = this.columns[index];
    if (column === undefined) return false;
    const isMissing = isMissingText(value) || isBlank(value);
    if (isMissing && !this.#nullTokens.has(value)) this.#nullTokens.add(value);
    else if (column.kind === 'empty') {
      // After a few of them, all the columns that were empty in the sample are read as texts.
      for (const [other, { kind }] of this.columns.entries()) {
        const isAmended = other === index || (this.#rereads > maxRereads / 2 && kind === 'empty');
        if (isAmended && plan.readAs[other] !== null) plan.readAs[other] = 'VARCHAR';
      }
      column.kind = 'text';
    } else return false;
    this.#rereads++;
    return true;
  }

  async #judgeWithoutRecord(message: string): Promise<'again' | TabularError | null> {
    // The reader's words for a line longer than its buffers.
    if (message.includes('Parallel CSV Reader')) {
      const line = await lineOfLongRecord(this.#path, this.layout.delimiter, this.#settings.signal);
      return lineTooLong(line === null ? undefined : this.#inFile(line));
    }
    if (/state machine reached an invalid state/i.test(message)) {
      if (this.#hasLineFeeds) {
        return new TabularError('The lines of the file do not follow the rules of csv (RFC 4180).');
      }
      await this.#copy('input-lines', (from, to) =>
        copyWithLineFeeds(from, to, this.layout.delimiter, this.#settings.signal),
      );
      this.#hasLineFeeds = true;
      return 'again';
    }
    return fileFault(message);
  }
}

const formats = { ',': 'csv', '\t': 'tsv', ';': 'semicolon', '|': 'pipe' } as const;
