/** Casts of text columns in SQL, for the readers without casts. */
import type { Engine, Query } from '../engine.ts';
import { excerpt, type TabularError } from '../errors.ts';
import { durationSql } from '../text/duration-text.ts';
import { expectedKind, type ReadAs, type ReadPlan, type TableSource, type TimeType } from './source.ts';

/** Marks the failure of a time cast, so that the row can be found. */
export const timeFault = 'sdp-bad-time';

const timeTypes: readonly (ReadAs | null)[] = ['TIMESTAMP', 'TIMESTAMPTZ', 'INTERVAL', 'MILLISECONDS'];

export function isTime(readAs: ReadAs | null): readAs is TimeType {
  return timeTypes.includes(readAs);
}

/**
 * SQL of a value from an SQL text expression. A text that is not a time ends the statement with {@link timeFault}.
 * @param formatParameter the parameter that holds the strptime format of a TIMESTAMP
 */
export function castText(text: string, readAs: ReadAs, formatParameter: string): string {
  switch (readAs) {
    case 'VARCHAR':
      return text;
    // A later step leaves out numbers that are not finite: a check here would cast the text twice.
    case 'DOUBLE':
    case 'BIGINT':
    case 'BOOLEAN':
      return `CAST(${text} AS ${readAs})`;
    default:
      return `CASE WHEN coalesce(trim(${text}), '') = '' THEN NULL
        ELSE coalesce(${tryTime(text, readAs, formatParameter)}, error('${timeFault}')) END`;
  }
}

function tryTime(text: string, readAs: ReadAs, formatParameter: string): string {
  if (readAs === 'MILLISECONDS') return durationSql(text);
  if (readAs === 'TIMESTAMP') return `try_strptime(${text}, ${formatParameter})::TIMESTAMP`;
  // The cast makes times of words such as `infinity`, which are no times of a recording.
  const cast = (value: string) =>
    `CASE WHEN regexp_matches(${text}, '[0-9]') THEN try_cast(${value} AS ${readAs}) END`;
  if (readAs === 'TIMESTAMPTZ') return cast(text);
  // The cast leaves out what follows a comma, and AM and PM.
  const plain = `replace(${text}, ',', '.')`;
  return `CASE WHEN ${text} ILIKE '%m' THEN try_strptime(${plain}, ${halfDayClocks}) - TIMESTAMP '1900-01-01'
    ELSE ${cast(plain)} END`;
}

const halfDayClocks = "['%I:%M:%S.%f %p', '%I:%M:%S %p', '%I:%M %p']";

/** Infinity and not-a-number are read as missing: neither a chart nor JSON can show them. */
export function finite(value: string): string {
  return `CASE WHEN isfinite(${value}) THEN ${value} END`;
}

/** The fault of the first text that is no time, with its place. */
export async function badTime(
  engine: Engine,
  source: Pick<TableSource, 'select' | 'faultAt'>,
  plan: ReadPlan,
): Promise<TabularError> {
  const select = source.select.bind(source);
  let first: { row: number; index: number; fault: string } | undefined;
  for (const [index, readAs] of plan.readAs.entries()) {
    if (!isTime(readAs)) continue;
    const found = await findBadTime(engine, select, plan, index, readAs);
    if (found === null || found.row >= (first?.row ?? Number.POSITIVE_INFINITY)) continue;
    first = { row: found.row, index, fault: `${found.value} is not ${expectedKind(readAs)}.` };
  }
  if (first === undefined) throw new Error('A text was no time, and all texts are times.');
  return source.faultAt(first.row, first.index, first.fault);
}

/** Finds the first row whose text is not a time; `select` returns the rows with that column as text. */
async function findBadTime(
  engine: Engine,
  select: (plan: ReadPlan) => Query,
  plan: ReadPlan,
  index: number,
  readAs: ReadAs,
): Promise<{ row: number; value: string } | null> {
  // The format stays among the parameters of the inner query, at the place where casts expect it.
  const inner = asText(select, plan, index);
  const format = `$${inner.parameters.length}`;
  const [found] = await engine.rows({
    sql: `SELECT row, c${index} FROM (SELECT row_number() OVER () AS row, c${index} FROM (${inner.sql}))
      WHERE trim(c${index}) <> '' AND ${tryTime(`c${index}`, readAs, format)} IS NULL LIMIT 1`,
    parameters: inner.parameters,
  });
  return found === undefined ? null : { row: Number(found[0]), value: excerpt(String(found[1] ?? '')) };
}

/** The text of a value, for messages; `row` counts from 1. */
export async function findValue(
  engine: Engine,
  select: (plan: ReadPlan) => Query,
  plan: ReadPlan,
  index: number,
  row: number,
): Promise<string> {
  const { sql, parameters } = asText(select, { ...plan, timestampFormat: null }, index);
  const [found] = await engine.rows({ sql: `${sql} LIMIT 1 OFFSET ${row - 1}`, parameters });
  return excerpt(String(found?.[0] ?? ''));
}

function asText(select: (plan: ReadPlan) => Query, plan: ReadPlan, index: number): Query {
  const readAs = plan.readAs.map((_, other): ReadAs | null => (other === index ? 'VARCHAR' : null));
  return select({ readAs, timestampFormat: plan.timestampFormat });
}
