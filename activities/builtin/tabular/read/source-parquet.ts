/** Parquet. Columns are read by position, never by name; nested structures become dotted headings. */
import {
  DuckDBStructType,
  type DuckDBType,
  DuckDBTypeId,
  type DuckDBValue,
  listValue,
} from '@duckdb/node-api';
import { recordingLimits } from '../description.ts';
import { type Engine, isResourceFault } from '../engine.ts';
import { TabularError } from '../errors.ts';
import { badTime, castText, finite, isTime, timeFault } from './cast-text.ts';
import { durationUnits } from './parquet-durations.ts';
import type { ReadAs, ReadPlan, SourceColumn, SourceKind, TableSource } from './source.ts';

const sampleCells = 500_000;
const maxFlatLevels = 16;

interface Leaf {
  heading: string;
  kind: SourceKind;
  typeId: DuckDBTypeId;
  /** SQL of the value in the file's own type; of nested values, of its JSON text. */
  value: string;
  isNested: boolean;
}

interface ParquetInput {
  readonly path: string;
  /** Rows that detection reads. */
  readonly maxRows: number;
  /** Most bytes that a file of text may have: two for each value at the least. */
  readonly maxPlainBytes: number;
}

/** @throws TabularError when the file is not readable Parquet, or holds more values than a file of text may */
export async function openParquet(engine: Engine, input: ParquetInput): Promise<TableSource> {
  const { path, maxRows } = input;
  const pointers: string[] = [];
  try {
    const { names, types } = await engine.columns({
      sql: `SELECT * FROM ${table} LIMIT 0`,
      parameters: [path],
    });
    if (names.length > recordingLimits.columns) {
      throw new TabularError(
        `The file has ${names.length} columns; at most ${recordingLimits.columns} are read.`,
      );
    }
    const leaves = names.flatMap((name, index) =>
      leavesOf(name, types[index] as DuckDBType, `s${index}`, pointers),
    );
    if (leaves.length > recordingLimits.columns) {
      throw new TabularError(`The file has more than ${recordingLimits.columns} values a row.`);
    }
    await refuseLongDecimals(engine, path);
    await refuseTooManyValues(engine, input, leaves.length);
    const from = `(SELECT * FROM ${table}) AS s(${names.map((_, index) => `s${index}`).join(', ')})`;
    const rows = Math.min(maxRows, Math.floor(sampleCells / Math.max(1, leaves.length)));
    const sample = await engine.rows({
      sql: `SELECT ${leaves.map(asText).join(', ')} FROM ${from} LIMIT ${rows}`,
      parameters: pointers.length === 0 ? [path] : [path, listValue(pointers)],
    });
    const units = await durationUnits(engine, path);
    const columns = leaves.map(
      (leaf, index): SourceColumn => ({
        heading: leaf.heading,
        unit: units.get(leaf.heading) ?? null,
        kind: leaf.kind,
        sample: sample.map((row) =>
          row[index] === null || row[index] === undefined ? null : String(row[index]),
        ),
      }),
    );
    return new ParquetSource(engine, path, from, pointers, leaves, columns);
  } catch (error) {
    throw unreadable(error) ?? error;
  }
}

const maxDecimalDigits = 38;

/** DuckDB reads longer decimals as other numbers. */
async function refuseLongDecimals(engine: Engine, path: string): Promise<void> {
  const sql = 'SELECT name FROM parquet_schema($1) WHERE precision > $2 LIMIT 1';
  const [found] = await engine.rows({ sql, parameters: [path, maxDecimalDigits] });
  if (found === undefined) return;
  throw new TabularError(
    `Decimals of more than ${maxDecimalDigits} digits are not read; write the column as DOUBLE or as text.`,
    { columnName: String(found[0]) },
  );
}

/** A repeated value needs almost no bytes in the file: a few kilobytes may mean years of work. */
async function refuseTooManyValues(
  engine: Engine,
  { path, maxPlainBytes }: ParquetInput,
  columns: number,
): Promise<void> {
  const sql = 'SELECT num_rows FROM parquet_file_metadata($1)';
  const rows = Number((await engine.rows({ sql, parameters: [path] }))[0]?.[0] ?? 0);
  const most = Math.floor(maxPlainBytes / 2);
  if (rows * columns <= most) return;
  throw new TabularError(`The file has ${rows * columns} values; at most ${most} are read.`);
}

const table = `read_parquet($1, hive_partitioning = false, union_by_name = false)`;

function leavesOf(name: string, type: DuckDBType, column: string, pointers: string[]): Leaf[] {
  if (!(type instanceof DuckDBStructType) || type.entryCount === 0) {
    const isNested = nestedTypes.has(type.typeId);
    const value = isNested ? `CAST(to_json(${column}) AS VARCHAR)` : column;
    return [
      { heading: name, kind: isNested ? 'text' : kindOf(type.typeId), typeId: type.typeId, value, isNested },
    ];
  }
  const leaves: Leaf[] = [];
  const visit = (heading: string, pointer: string, inner: DuckDBType, level: number): void => {
    if (inner instanceof DuckDBStructType && inner.entryCount > 0 && level < maxFlatLevels) {
      for (const [index, entry] of inner.entryNames.entries()) {
        const step = entry.replaceAll('~', '~0').replaceAll('/', '~1');
        visit(`${heading}.${entry}`, `${pointer}/${step}`, inner.entryTypes[index] as DuckDBType, level + 1);
      }
      return;
    }
    pointers.push(pointer);
    // $1 is the path, $2 the list of pointers.
    const value = `json_extract_string(to_json(${column}), $2[${pointers.length}])`;
    leaves.push({
      heading,
      kind: nestedTypes.has(inner.typeId) ? 'text' : kindOf(inner.typeId),
      typeId: inner.typeId,
      value,
      isNested: true,
    });
  };
  visit(name, '', type, 0);
  return leaves;
}

const nestedTypes = new Set([
  DuckDBTypeId.STRUCT,
  DuckDBTypeId.LIST,
  DuckDBTypeId.ARRAY,
  DuckDBTypeId.MAP,
  DuckDBTypeId.UNION,
]);

function kindOf(typeId: DuckDBTypeId): SourceKind {
  switch (typeId) {
    case DuckDBTypeId.TINYINT:
    case DuckDBTypeId.SMALLINT:
    case DuckDBTypeId.INTEGER:
    case DuckDBTypeId.BIGINT:
    case DuckDBTypeId.UTINYINT:
    case DuckDBTypeId.USMALLINT:
    case DuckDBTypeId.UINTEGER:
      return 'integer';
    case DuckDBTypeId.UBIGINT:
    case DuckDBTypeId.HUGEINT:
    case DuckDBTypeId.UHUGEINT:
    case DuckDBTypeId.FLOAT:
    case DuckDBTypeId.DOUBLE:
    case DuckDBTypeId.DECIMAL:
      return 'number';
    case DuckDBTypeId.BOOLEAN:
      return 'boolean';
    case DuckDBTypeId.DATE:
    case DuckDBTypeId.TIMESTAMP:
    case DuckDBTypeId.TIMESTAMP_S:
    case DuckDBTypeId.TIMESTAMP_MS:
    case DuckDBTypeId.TIMESTAMP_NS:
    case DuckDBTypeId.TIMESTAMP_TZ:
      return 'time';
    case DuckDBTypeId.SQLNULL:
      return 'empty';
    default:
      return 'text';
  }
}

/** Dates stay dates; times become ISO 8601 in UTC. */
function asText(leaf: Leaf): string {
  if (leaf.isNested) return leaf.value;
  switch (leaf.typeId) {
    case DuckDBTypeId.DATE:
      return `strftime(${leaf.value}, '%Y-%m-%d')`;
    case DuckDBTypeId.BLOB:
    case DuckDBTypeId.GEOMETRY:
      return `hex(${leaf.value})`;
    default:
      return leaf.kind === 'time'
        ? `strftime(CAST(${leaf.value} AS TIMESTAMP), '%Y-%m-%dT%H:%M:%S.%fZ')`
        : `CAST(${leaf.value} AS VARCHAR)`;
  }
}

class ParquetSource implements TableSource {
  readonly format = 'parquet';
  readonly columns: SourceColumn[];
  readonly decimalComma = false;
  readonly thousands = null;
  readonly warnings: string[] = [];
  readonly #engine: Engine;
  readonly #path: string;
  readonly #from: string;
  readonly #pointers: string[];
  readonly #leaves: Leaf[];

  constructor(
    engine: Engine,
    path: string,
    from: string,
    pointers: string[],
    leaves: Leaf[],
    columns: SourceColumn[],
  ) {
    this.#engine = engine;
    this.#path = path;
    this.#from = from;
    this.#pointers = pointers;
    this.#leaves = leaves;
    this.columns = columns;
  }

  select(plan: ReadPlan): { sql: string; parameters: DuckDBValue[] } {
    const usesPointers = this.#leaves.some(
      (leaf, i) => leaf.value.includes('$2[') && (plan.readAs[i] ?? null) !== null,
    );
    const format = usesPointers ? '$3' : '$2';
    const values = this.#leaves.flatMap((leaf, index) => {
      const readAs = plan.readAs[index] ?? null;
      return readAs === null ? [] : [`${cast(leaf, readAs, format)} AS c${index}`];
    });
    const parameters: DuckDBValue[] = usesPointers ? [this.#path, listValue(this.#pointers)] : [this.#path];
    if (plan.timestampFormat !== null) parameters.push(plan.timestampFormat);
    return { sql: `SELECT ${values.join(', ')} FROM ${this.#from}`, parameters };
  }

  async judge(error: Error, plan: ReadPlan): Promise<TabularError | null> {
    if (error.message.includes(timeFault)) return badTime(this.#engine, this, plan);
    return unreadable(error);
  }

  async faultAt(row: number, index: number, fault: string): Promise<TabularError> {
    return new TabularError(`Row ${row}: ${fault}`, { columnName: this.columns[index]?.heading });
  }
}

function cast(leaf: Leaf, readAs: ReadAs, format: string): string {
  if (leaf.kind === 'time' && !leaf.isNested) {
    // Dates and times without a zone are UTC, which is the connection's zone.
    return readAs === 'TIMESTAMPTZ' ? `CAST(${leaf.value} AS TIMESTAMPTZ)` : asText(leaf);
  }
  if (leaf.kind === 'text' || leaf.isNested || isTime(readAs)) return castText(asText(leaf), readAs, format);
  if (readAs === 'VARCHAR') return asText(leaf);
  const value = `CAST(${leaf.value} AS ${readAs})`;
  return readAs === 'DOUBLE' ? finite(value) : value;
}

/** The fault of the file behind an error of the database; null where the file has none. */
export function unreadable(error: unknown): TabularError | null {
  if (error instanceof TabularError) return error;
  if (
    !(error instanceof Error) ||
    (isResourceFault(error) && !/parquet|magic|snappy|zstd/i.test(error.message))
  ) {
    return null;
  }
  // These errors mean a fault in the query, not in the file.
  if (!/ Error: /.test(error.message) || /^(?:Binder|Parser|Catalog) Error/.test(error.message)) return null;
  if (/encrypt/i.test(error.message)) return new TabularError('The Parquet file is encrypted.');
  return new TabularError('The Parquet file is broken or incomplete.');
}
