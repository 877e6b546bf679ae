/**
 * JSON and NDJSON. One pass over the whole file finds every path and its types, so every value has a column; then
 * the values are read by JSON Pointers. Nested objects become dotted headings; lists stay JSON text.
 */
import { join } from 'node:path';
import { type DuckDBValue, listValue } from '@duckdb/node-api';
import type { RecordingFormat } from '../description.ts';
import { type Engine, isOutOfMemory } from '../engine.ts';
import { NoTabularData, TabularError } from '../errors.ts';
import { badTime, castText, timeFault } from './cast-text.ts';
import { decodeHead } from './decode-head.ts';
import { findJsonFault, placeOfRecord } from './json-faults.ts';
import { type JsonLayout, jsonLayout, refuseDeepJson } from './json-scan.ts';
import { JsonStructure } from './json-structure.ts';
import type { PlainInput } from './prepare-input.ts';
import type { ReadPlan, SourceColumn, TableSource, TextSettings } from './source.ts';

const sampleCells = 500_000;

/** @throws TabularError when the file is malformed or holds no table */
export async function openJson(settings: TextSettings): Promise<TableSource> {
  const { input, engine, signal } = settings;
  const text = decodeHead(input, (_, before) => before.length - before.lastIndexOf('\n'));
  await refuseDeepJson(input.path, signal);
  const found =
    settings.configuration.inputFormat === 'ndjson'
      ? { layout: 'newline_delimited' as const, path: input.path }
      : await jsonLayout(input, text, join(settings.folder, 'input-rows'));
  const reader = new JsonReader(engine, found.path, found.layout, input, signal);
  const leaves = (await reader.explained(() => reader.structure())).leaves();
  if (leaves.length === 0) throw new NoTabularData('The file has no records with values.');
  const pointers = leaves.map((leaf) => leaf.pointer);
  const rows = Math.min(settings.maxRows, Math.floor(sampleCells / leaves.length));
  const samples = await reader.explained(() =>
    engine.rows({
      sql: `SELECT json_extract_string(json, $2) FROM ${reader.from} LIMIT $3`,
      parameters: [found.path, listValue(pointers), BigInt(rows)],
    }),
  );
  const records = samples.map(([list]) => listItems(list));
  const columns = leaves.map((leaf, index): SourceColumn => {
    const sample = records.map((record) => record[index] ?? null);
    return { heading: leaf.heading, unit: null, kind: leaf.kind, sample };
  });
  return new JsonSource(reader, columns, pointers);
}

function listItems(value: DuckDBValue | undefined): (string | null)[] {
  if (typeof value !== 'object' || value === null || !('items' in value)) return [];
  return (value.items as DuckDBValue[]).map((item) => (item === null ? null : String(item)));
}

/** A record is not an object. */
class NoObject extends Error {}

class JsonReader {
  readonly from: string;
  readonly path: string;
  readonly layout: JsonLayout;
  readonly engine: Engine;
  readonly #input: PlainInput;
  readonly #signal: AbortSignal | undefined;

  constructor(
    engine: Engine,
    path: string,
    layout: JsonLayout,
    input: PlainInput,
    signal: AbortSignal | undefined,
  ) {
    this.engine = engine;
    this.path = path;
    this.layout = layout;
    this.#input = input;
    this.#signal = signal;
    this.from = `read_json_objects($1, format = '${layout}', compression = 'uncompressed')`;
  }

  /** All paths and types of the records. */
  async structure(): Promise<JsonStructure> {
    try {
      return await this.#readStructure();
    } catch (error) {
      if (!isOutOfMemory(error)) throw error;
      // Records with thousands of members: each thread holds two thousand of them, and their structures.
      await this.engine.useOneThread();
      return this.#readStructure();
    }
  }

  async #readStructure(): Promise<JsonStructure> {
    const structure = new JsonStructure();
    const sql = `SELECT DISTINCT json_structure(json)::VARCHAR FROM ${this.from}`;
    await this.engine.stream({ sql, parameters: [this.path] }, async (result) => {
      for await (const rows of result.yieldRows()) {
        this.#signal?.throwIfAborted();
        for (const [text] of rows) {
          if (!structure.add(String(text))) throw new NoObject();
        }
      }
    });
    return structure;
  }

  /** A fault of a record, from 1, with its line where the upload has one record a line. */
  async faultAt(record: number, fault: string, columnName?: string): Promise<TabularError> {
    if (this.layout !== 'newline_delimited' || this.path !== this.#input.path)
      return new TabularError(`Record ${record}: ${fault}`, { columnName });
    const { line, column } = await placeOfRecord(this.path, record, this.#signal);
    return new TabularError(fault, { line, ...(columnName === undefined ? { column } : { columnName }) });
  }

  async #findNoObject(): Promise<TabularError> {
    const [found] = await this.engine.rows({
      sql: `SELECT row FROM (SELECT row_number() OVER () AS row, json_type(json) AS type FROM ${this.from})
        WHERE type NOT IN ('OBJECT', 'NULL') LIMIT 1`,
      parameters: [this.path],
    });
    return this.faultAt(Number(found?.[0] ?? 0), 'The record is not an object with named values.');
  }

  async explained<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      this.#signal?.throwIfAborted();
      throw (error instanceof Error ? await this.judge(error) : null) ?? error;
    }
  }

  async judge(error: Error): Promise<TabularError | null> {
    if (error instanceof TabularError) return error;
    if (error instanceof NoObject) return this.#findNoObject();
    const { message } = error;
    if (/maximum_object_size/.test(message)) return new TabularError('A record is larger than 16 MB.');
    if (!/^(Invalid Input|Conversion) Error/.test(message)) return null;
    const fault = await findJsonFault(this.path, this.layout, this.#input.sizeBytes, this.#signal);
    if (fault !== null) return fault;
    const record = /in record\/value (\d+)/.exec(message)?.[1];
    const about = record === undefined ? '' : ` near record ${record}`;
    return new TabularError(`The JSON is malformed${about}.`);
  }
}

class JsonSource implements TableSource {
  readonly format: RecordingFormat;
  readonly columns: SourceColumn[];
  readonly decimalComma = false;
  readonly thousands = null;
  readonly warnings: string[] = [];
  readonly #reader: JsonReader;
  readonly #pointers: string[];

  constructor(reader: JsonReader, columns: SourceColumn[], pointers: string[]) {
    this.#reader = reader;
    this.columns = columns;
    this.#pointers = pointers;
    this.format = reader.layout === 'newline_delimited' ? 'ndjson' : 'json';
  }

  select(plan: ReadPlan): { sql: string; parameters: DuckDBValue[] } {
    const wantedIndexes = plan.readAs.flatMap((readAs, index) => (readAs === null ? [] : [index]));
    const values = wantedIndexes.map((index, position) => {
      const text = `l[${position + 1}]`;
      return `${castText(text, plan.readAs[index] ?? 'VARCHAR', '$3')} AS c${index}`;
    });
    const pointers = wantedIndexes.map((index) => this.#pointers[index] as string);
    const parameters: DuckDBValue[] = [this.#reader.path, listValue(pointers)];
    if (plan.timestampFormat !== null) parameters.push(plan.timestampFormat);
    return {
      sql: `SELECT ${values.join(', ')} FROM (SELECT json_extract_string(json, $2) AS l FROM ${this.#reader.from})`,
      parameters,
    };
  }

  async judge(error: Error, plan: ReadPlan): Promise<TabularError | null> {
    if (error.message.includes(timeFault)) return badTime(this.#reader.engine, this, plan);
    return this.#reader.judge(error);
  }

  async faultAt(row: number, index: number, fault: string): Promise<TabularError> {
    return this.#reader.faultAt(row, fault, this.columns[index]?.heading);
  }
}
