/** The parts of an xlsx file other than its sheets. */
import { numberFormatFault } from '../../domain/reports/number-format.ts';
import type { ColumnType, ReportColumn } from '../../domain/reports/report.ts';
import { escapeXml } from './xml-text.ts';

const head = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';
const main = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
const relations = 'http://schemas.openxmlformats.org/package/2006/relationships';
const office = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const media = 'application/vnd.openxmlformats-officedocument.spreadsheetml';

const defaultFormats: Record<ColumnType, string> = {
  string: '@',
  number: 'General',
  boolean: 'General',
  date: 'yyyy-mm-dd hh:mm:ss',
  duration: '[h]:mm:ss',
};
/** The first number for a file's own formats. */
const firstFormat = 164;

/** Cell styles: 0 plain, 1 header, 2 text, then one for each column. */
export class Styles {
  readonly header = 1;
  readonly text0 = 2;
  readonly text: string;
  readonly #styles: readonly number[];

  constructor(columns: readonly ReportColumn[]) {
    const formats = [...new Set(columns.map(formatOf))];
    this.#styles = columns.map((column) => 3 + formats.indexOf(formatOf(column)));
    const numbers = formats.map(
      (format, index) => `<numFmt numFmtId="${firstFormat + index}" formatCode="${escapeXml(format)}"/>`,
    );
    const own = formats.map(
      (_format, index) =>
        `<xf numFmtId="${firstFormat + index}" fontId="0" fillId="0" borderId="0" applyNumberFormat="1"/>`,
    );
    const plain = '<xf numFmtId="0" fontId="0" fillId="0" borderId="0"/>';
    const bold = '<xf numFmtId="0" fontId="1" fillId="0" borderId="0" applyFont="1"/>';
    // Text that looks like a formula stays text when the cell is edited.
    const quoted =
      '<xf numFmtId="49" fontId="0" fillId="0" borderId="0" quotePrefix="1" applyNumberFormat="1"/>';
    this.text =
      `${head}<styleSheet xmlns="${main}">` +
      (numbers.length === 0 ? '' : `<numFmts count="${numbers.length}">${numbers.join('')}</numFmts>`) +
      '<fonts count="2"><font><sz val="11"/><name val="Calibri"/></font><font><b/><sz val="11"/><name val="Calibri"/></font></fonts>' +
      '<fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills>' +
      '<borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders>' +
      `<cellStyleXfs count="1">${plain}</cellStyleXfs>` +
      `<cellXfs count="${3 + own.length}">${plain}${bold}${quoted}${own.join('')}</cellXfs>` +
      // Without it openpyxl and pandas warn at every file.
      '<cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles>' +
      '</styleSheet>';
  }

  /** The style of a column's values. */
  of(index: number): number {
    return this.#styles[index] ?? 0;
  }
}

/** Earlier versions stored formats that Excel does not understand. */
const formatOf = ({ format, type }: ReportColumn) =>
  format === '' || numberFormatFault(format) !== undefined ? defaultFormats[type] : format;

const numbersTo = (count: number) => Array.from({ length: count }, (_item, index) => index + 1);

export function workbook(sheets: number): string {
  const list = numbersTo(sheets).map(
    (number) =>
      `<sheet name="Report${number === 1 ? '' : ` ${number}`}" sheetId="${number}" r:id="rId${number}"/>`,
  );
  return `${head}<workbook xmlns="${main}" xmlns:r="${office}"><sheets>${list.join('')}</sheets></workbook>`;
}

export function workbookRelations(sheets: number): string {
  const list = numbersTo(sheets).map(
    (number) =>
      `<Relationship Id="rId${number}" Type="${office}/worksheet" Target="worksheets/sheet${number}.xml"/>`,
  );
  const styles = `<Relationship Id="rId${sheets + 1}" Type="${office}/styles" Target="styles.xml"/>`;
  return `${head}<Relationships xmlns="${relations}">${list.join('')}${styles}</Relationships>`;
}

export const packageRelations =
  `${head}<Relationships xmlns="${relations}">` +
  `<Relationship Id="rId1" Type="${office}/officeDocument" Target="xl/workbook.xml"/></Relationships>`;

export function contentTypes(sheets: number): string {
  const list = numbersTo(sheets).map(
    (number) =>
      `<Override PartName="/xl/worksheets/sheet${number}.xml" ContentType="${media}.worksheet+xml"/>`,
  );
  return (
    `${head}<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">` +
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>' +
    '<Default Extension="xml" ContentType="application/xml"/>' +
    `<Override PartName="/xl/workbook.xml" ContentType="${media}.sheet.main+xml"/>` +
    `<Override PartName="/xl/styles.xml" ContentType="${media}.styles+xml"/>${list.join('')}</Types>`
  );
}
