/** Casts of text columns in SQL, for the readers without casts. */
import type { Engine, Query } from '../engine.ts';
import { shown } from '../errors.ts';
import type { ReadAs, ReadPlan } from './source.ts';

/** Marks the failure of a time cast, so that the row can be found. */
export const timeFault = 'sdp-bad-time';

export function isTime(readAs: ReadAs | null): readAs is 'TIMESTAMP' | 'TIMESTAMPTZ' | 'INTERVAL' {
  return readAs === 'TIMESTAMP' || readAs === 'TIMESTAMPTZ' || readAs === 'INTERVAL';
}

/**
 * SQL of a value from an SQL text expression. A text that is not a time ends the statement with {@link timeFault}.
 * @param formatParameter the parameter that holds the strptime format of a TIMESTAMP
 */
export function castText(text: string, readAs: ReadAs, formatParameter: string): string {
  switch (readAs) {
    case 'VARCHAR':
      return text;
    case 'DOUBLE':
      return finite(`CAST(${text} AS DOUBLE)`);
    case 'BIGINT':
    case 'BOOLEAN':
      return `CAST(${text} AS ${readAs})`;
    default:
      return `CASE WHEN trim(${text}) = '' THEN NULL
        ELSE coalesce(${tryTime(text, readAs, formatParameter)}, error('${timeFault}')) END`;
  }
}

function tryTime(text: string, readAs: ReadAs, formatParameter: string): string {
  if (readAs === 'TIMESTAMP') return `try_strptime(${text}, ${formatParameter})::TIMESTAMP`;
  // The cast leaves out what follows a comma.
  const value = readAs === 'INTERVAL' ? `replace(${text}, ',', '.')` : text;
  // Of words, such as `infinity`, the cast makes times that are no times of a recording.
  return `CASE WHEN regexp_matches(${text}, '[0-9]') THEN try_cast(${value} AS ${readAs}) END`;
}

/** Infinity and not-a-number are read as missing: neither a chart nor JSON can show them. */
export function finite(value: string): string {
  return `CASE WHEN isfinite(${value}) THEN ${value} END`;
}

/** Numbers of a csv: the reader takes `-nan` for a number, and leaves infinite ones, which are reported. */
export function withoutNaN(value: string): string {
  return `CASE WHEN NOT isnan(${value}) THEN ${value} END`;
}

/** Finds the first row whose text is not a time; `select` returns the rows with that column as text. */
export async function findBadTime(
  engine: Engine,
  select: (plan: ReadPlan) => Query,
  plan: ReadPlan,
  index: number,
): Promise<{ row: number; value: string }> {
  const readAs = plan.readAs[index] ?? 'TIMESTAMPTZ';
  // The format stays among the parameters of the inner query, at the place where casts expect it.
  const inner = asText(select, plan, index);
  const format = `$${inner.parameters.length}`;
  const [found] = await engine.rows({
    sql: `SELECT row, c${index} FROM (SELECT row_number() OVER () AS row, c${index} FROM (${inner.sql}))
      WHERE trim(c${index}) <> '' AND ${tryTime(`c${index}`, readAs, format)} IS NULL LIMIT 1`,
    parameters: inner.parameters,
  });
  return { row: Number(found?.[0] ?? 0), value: shown(String(found?.[1] ?? '')) };
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
  return shown(String(found?.[0] ?? ''));
}

function asText(select: (plan: ReadPlan) => Query, plan: ReadPlan, index: number): Query {
  const readAs = plan.readAs.map((_, other): ReadAs | null => (other === index ? 'VARCHAR' : null));
  return select({ readAs, timestampFormat: plan.timestampFormat });
}
