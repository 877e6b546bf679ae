/** Text in csv files that a spreadsheet must not run as a formula. */

/** Text that a spreadsheet would read as a formula gets an apostrophe in front. */
const formula = /^(?=[=+\-@\t\r])/;
/**
 * The same within a text: spreadsheets that separate columns by `;` or tabs see a cell or a line begin there, even
 * within quotes. Quotes that follow open a new cell.
 */
const innerFormula = /(?<=[;\t\r\n])(?="*[=+\-@\t\r])/g;
/** At the end of a quoted text the closing quote would open a cell with the text that follows. */
const innerEnd = /(?<=[;\t\r\n]"*)$/;
/** Text with none of these needs neither quotes nor an apostrophe. */
const needsCare = /^[=+\-@]|[;\t\r\n",]/;
/** RFC 4180: a text with one of these needs quotes. */
export const needsQuotes = /[",\r\n]/;

/** Text as a cell of a csv file. Numbers are not text: they stay as they are, a minus sign included. */
export function guardedText(text: string): string {
  if (!needsCare.test(text)) return text;
  const safe = text.replace(formula, "'").replaceAll(innerFormula, "'");
  return needsQuotes.test(safe) ? safe.replace(innerEnd, "'") : safe;
}

/** SQL of DuckDB for the same. Its patterns cannot look behind, so a second pass finds what the first one consumed. */
export function guardedSql(value: string): string {
  const inner = (sql: string) =>
    String.raw`regexp_replace(${sql}, '([;\t\r\n])("*[=+\-@\t\r])', '\1''\2', 'g')`;
  const safe = inner(inner(String.raw`regexp_replace(${value}, '^([=+\-@\t\r])', '''\1')`));
  return String.raw`CASE WHEN regexp_matches(${value}, '[",\r\n]')
    THEN regexp_replace(${safe}, '([;\t\r\n]"*)$', '\1''') ELSE ${safe} END`;
}
