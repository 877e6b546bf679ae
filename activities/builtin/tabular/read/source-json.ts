/**
 * JSON and NDJSON. One pass over the whole file finds every path and its types, so every value has a column; then
 * the values are read by JSON Pointers. Nested objects become dotted headings; lists stay JSON text.
 */
import { join } from 'node:path';
import { type DuckDBValue, listValue } from '@duckdb/node-api';
import type { TabularConfiguration } from '../configuration.ts';
import type { Engine } from '../engine.ts';
import { NoTabularData, TabularError } from '../errors.ts';
import type { RecordingFormat } from '../recording/recording.ts';
import { castText, findBadTime, isTime, timeFault } from './cast-text.ts';
import { decodeHead } from './csv-sample.ts';
import { findJsonFault, type JsonLayout, jsonLayout, refuseDeepJson } from './json-scan.ts';
import { JsonStructure } from './json-structure.ts';
import type { PlainInput } from './prepare-input.ts';
import { type ReadPlan, type SourceColumn, type TableSource, wanted } from './source.ts';

const sampleCells = 500_000;

export interface JsonSettings {
  input: PlainInput;
  engine: Engine;
  folder: string;
  configuration: TabularConfiguration;
  maxRows: number;
  signal?: AbortSignal | undefined;
}

/** @throws TabularError when the file is malformed or holds no table */
export async function openJson(settings: JsonSettings): Promise<TableSource> {
  const { input, engine, signal } = settings;
  const text = decodeHead(input.head, input.isWhole);
  await refuseDeepJson(input.path, signal);
  const found =
    settings.configuration.inputFormat === 'ndjson'
      ? { layout: 'newline_delimited' as const, path: input.path }
      : await jsonLayout(input, text, join(settings.folder, 'input-rows'));
  const reader = new JsonReader(found.path, found.layout, input, signal);
  const structure = new JsonStructure();
  await reader.explained(async () => {
    const query = {
      sql: `SELECT DISTINCT json_structure(json)::VARCHAR FROM ${reader.from}`,
      parameters: [found.path],
    };
    await engine.stream(query, async (result) => {
      for await (const rows of result.yieldRows()) {
        signal?.throwIfAborted();
        for (const [structureText] of rows) structure.add(String(structureText));
      }
    });
  });
  const leaves = structure.leaves();
  if (leaves.length === 0) throw new NoTabularData('The file has no records with values.');
  const pointers = leaves.map((leaf) => leaf.pointer);
  const rows = Math.max(20, Math.min(settings.maxRows, Math.floor(sampleCells / leaves.length)));
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
  return new JsonSource(reader, columns, pointers, engine);
}

function listItems(value: DuckDBValue | undefined): (string | null)[] {
  if (typeof value !== 'object' || value === null || !('items' in value)) return [];
  return (value.items as DuckDBValue[]).map((item) => (item === null ? null : String(item)));
}

class JsonReader {
  readonly from: string;
  readonly path: string;
  readonly layout: JsonLayout;
  readonly #input: PlainInput;
  readonly #signal: AbortSignal | undefined;

  constructor(path: string, layout: JsonLayout, input: PlainInput, signal: AbortSignal | undefined) {
    this.path = path;
    this.layout = layout;
    this.#input = input;
    this.#signal = signal;
    this.from = `read_json_objects($1, format = '${layout}', compression = 'uncompressed')`;
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
  readonly warnings: string[] = [];
  readonly #reader: JsonReader;
  readonly #pointers: string[];
  readonly #engine: Engine;

  constructor(reader: JsonReader, columns: SourceColumn[], pointers: string[], engine: Engine) {
    this.#reader = reader;
    this.columns = columns;
    this.#pointers = pointers;
    this.#engine = engine;
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
    const index = plan.readAs.findIndex(isTime);
    if (index !== -1 && error.message.includes(timeFault)) {
      const place = await findBadTime(this.#engine, this.select.bind(this), plan, index);
      const line = this.#reader.layout === 'newline_delimited' ? place.row : undefined;
      const columnName = this.columns[index]?.heading;
      const record = line === undefined ? `Record ${place.row}: ` : '';
      return new TabularError(`${record}${place.value} is not ${wanted(plan.readAs[index] ?? null)}.`, {
        line,
        columnName,
      });
    }
    return this.#reader.judge(error);
  }
}
