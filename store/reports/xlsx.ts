/**
 * A report as xlsx, written as a stream: sheets first, the parts that list them last, so that only the rows of one
 * batch are in memory. Text is stored in cells as text, never as a formula.
 */
import { once } from 'node:events';
import type { TransformOptions } from 'node:stream';
import { finished } from 'node:stream/promises';
import { crc32, createDeflateRaw, type ZlibOptions } from 'node:zlib';
import { type AsyncFlateStreamHandler, Zip, type ZipInputFile } from 'fflate';
import type { Cell, ReportColumn } from '../../domain/reports/report.ts';
import { contentTypes, packageRelations, Styles, workbook, workbookRelations } from './xlsx-parts.ts';
import { escapeXml } from './xml-text.ts';

/** Rows of a sheet, with the header. */
const sheetRows = 1_048_576;
const cellCharacters = 32_767;
const dayMs = 24 * 60 * 60 * 1000;
/** Days from the calendar's beginning to 1970. */
const epochDays = 25_569;

export async function* writeXlsx(
  columns: readonly ReportColumn[],
  batches: AsyncIterable<readonly (readonly Cell[])[]>,
): AsyncGenerator<Buffer> {
  const book = new Book(columns);
  try {
    for await (const rows of batches) {
      await book.add(rows);
      yield* book.drainChunks();
    }
    await book.end();
    yield* book.drainChunks();
  } finally {
    book.close();
  }
}

const deflateMethod = 8;
/** The next rows are made while the last ones are compressed; a higher level hardly makes cells shorter. */
const deflateOptions: ZlibOptions & TransformOptions = {
  level: 3,
  chunkSize: 65_536,
  highWaterMark: 262_144,
};

/** A file of the archive, compressed by zlib on another thread: in JavaScript it would take most of a report's time. */
class DeflatedFile implements ZipInputFile {
  readonly filename: string;
  readonly compression = deflateMethod;
  /** The size of what was pushed. */
  size = 0;
  crc = 0;
  /** Set by the archive. */
  declare ondata: AsyncFlateStreamHandler;
  readonly #deflate = createDeflateRaw(deflateOptions);

  constructor(name: string) {
    this.filename = name;
    this.#deflate.on('data', (chunk: Buffer<ArrayBuffer>) => this.ondata(null, chunk, false));
  }

  push(chunk: Buffer): void {
    this.size += chunk.length;
    this.crc = crc32(chunk, this.crc);
    this.#deflate.write(chunk);
  }

  /** Resolves when it accepts more. */
  async drained(): Promise<void> {
    if (this.#deflate.writableNeedDrain) await once(this.#deflate, 'drain');
  }

  async end(text: string): Promise<void> {
    this.push(Buffer.from(text));
    this.#deflate.end();
    await finished(this.#deflate);
    this.ondata(null, new Uint8Array(0), true);
  }

  close(): void {
    this.#deflate.destroy();
  }
}

class Book {
  readonly #columns: readonly ReportColumn[];
  readonly #styles: Styles;
  readonly #letters: readonly string[];
  readonly #chunks: Buffer[] = [];
  readonly #zip: Zip;
  #sheet: DeflatedFile | undefined;
  #sheets = 0;
  #row = 0;

  constructor(columns: readonly ReportColumn[]) {
    this.#columns = columns;
    this.#styles = new Styles(columns);
    this.#letters = columns.map((_column, index) => lettersOf(index));
    this.#zip = new Zip((error, chunk) => {
      if (error !== null) throw error;
      this.#chunks.push(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength));
    });
    this.#openSheet();
  }

  async add(rows: readonly (readonly Cell[])[]): Promise<void> {
    let text = '';
    for (const cells of rows) {
      if (this.#row === sheetRows) {
        this.#write(text);
        text = '';
        await this.#closeSheet();
        this.#openSheet();
      }
      text += this.#rowText(cells);
    }
    this.#write(text);
    await this.#sheet?.drained();
  }

  async end(): Promise<void> {
    await this.#closeSheet();
    await this.#part('xl/styles.xml', this.#styles.text);
    await this.#part('xl/workbook.xml', workbook(this.#sheets));
    await this.#part('xl/_rels/workbook.xml.rels', workbookRelations(this.#sheets));
    await this.#part('_rels/.rels', packageRelations);
    await this.#part('[Content_Types].xml', contentTypes(this.#sheets));
    this.#zip.end();
  }

  /** Also called when the reader stops early. */
  close(): void {
    this.#sheet?.close();
  }

  *drainChunks(): Generator<Buffer> {
    // Not `yield*`: a list cannot be told why its reader stops, which would be an error of its own.
    for (const chunk of this.#chunks.splice(0)) yield chunk;
  }

  #openSheet(): void {
    this.#sheets += 1;
    this.#row = 0;
    this.#sheet = new DeflatedFile(`xl/worksheets/sheet${this.#sheets}.xml`);
    this.#zip.add(this.#sheet);
    const widths = this.#columns
      .map(
        (column, index) =>
          `<col min="${index + 1}" max="${index + 1}" width="${widthOf(column)}" customWidth="1"/>`,
      )
      .join('');
    this.#write(
      '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n' +
        '<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">' +
        '<sheetViews><sheetView workbookViewId="0"><pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/>' +
        `</sheetView></sheetViews>${widths === '' ? '' : `<cols>${widths}</cols>`}<sheetData>`,
    );
    this.#row += 1;
    const names = this.#columns.map(({ name }, index) =>
      textCell(`${this.#letters[index]}1`, name, this.#styles.header),
    );
    this.#write(`<row r="1">${names.join('')}</row>`);
  }

  async #closeSheet(): Promise<void> {
    await this.#sheet?.end('</sheetData></worksheet>');
    this.#sheet = undefined;
  }

  #rowText(cells: readonly Cell[]): string {
    this.#row += 1;
    const texts = cells.map((cell, index) =>
      this.#cellText(`${this.#letters[index]}${this.#row}`, cell, index),
    );
    return `<row r="${this.#row}">${texts.join('')}</row>`;
  }

  #cellText(place: string, cell: Cell, index: number): string {
    const style = this.#styles.of(index);
    switch (cell.type) {
      case 'empty':
        return '';
      case 'string':
        return textCell(place, cell.value, this.#styles.text0);
      case 'boolean':
        return `<c r="${place}" t="b"><v>${cell.value ? 1 : 0}</v></c>`;
      case 'number':
        return `<c r="${place}" s="${style}"><v>${cell.value}</v></c>`;
      case 'date':
        return `<c r="${place}" s="${style}"><v>${cell.value.getTime() / dayMs + epochDays}</v></c>`;
      case 'duration':
        return `<c r="${place}" s="${style}"><v>${(cell.value * 1000) / dayMs}</v></c>`;
    }
  }

  #write(text: string): void {
    if (text !== '') this.#sheet?.push(Buffer.from(text));
  }

  async #part(name: string, text: string): Promise<void> {
    const part = new DeflatedFile(name);
    this.#zip.add(part);
    await part.end(text);
  }
}

/** Spreadsheets read `_x0041_` as the letter A: its first character is written as one of these itself. */
const escapeLike = /_(?=x[\da-f]{4}_)/gi;

function textCell(place: string, text: string, style: number): string {
  const cut = text.length > cellCharacters ? text.slice(0, cellCharacters) : text;
  const safe = escapeXml(cut.replace(escapeLike, '_x005F_'));
  return `<c r="${place}" t="inlineStr" s="${style}"><is><t xml:space="preserve">${safe}</t></is></c>`;
}

/** A, B ... Z, AA ... */
function lettersOf(index: number): string {
  const last = String.fromCharCode(65 + (index % 26));
  return index < 26 ? last : lettersOf(Math.floor(index / 26) - 1) + last;
}

function widthOf({ type, name }: ReportColumn): number {
  const least = type === 'date' ? 20 : type === 'string' ? 24 : 12;
  return Math.min(60, Math.max(least, name.length + 2));
}
