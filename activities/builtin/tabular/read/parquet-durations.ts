/** Durations of pandas and Arrow (polars) in Parquet: whole numbers there, whose unit only the metadata of the writer say. */
import { z } from 'zod';
import type { Engine } from '../engine.ts';
import { arrowDurations } from './arrow-schema.ts';

const schema = z.object({
  columns: z.array(z.looseObject({ field_name: z.string(), numpy_type: z.string() }).nullable().catch(null)),
});

/** The units of the columns of durations, by their names. */
export async function durationUnits(engine: Engine, path: string): Promise<ReadonlyMap<string, string>> {
  const rows = await engine.rows({
    sql: "SELECT decode(key), decode(value) FROM parquet_kv_metadata($1) WHERE decode(key) IN ('pandas', 'ARROW:schema')",
    parameters: [path],
  });
  const { pandas = '', 'ARROW:schema': arrow = '' } = Object.fromEntries(
    rows.map(([key, value]) => [String(key), String(value)]),
  );
  return new Map([...arrowDurations(Buffer.from(arrow, 'base64')), ...pandasDurations(pandas)]);
}

function pandasDurations(text: string): [name: string, unit: string][] {
  const found = schema.safeParse(parsed(text));
  return (found.data?.columns ?? []).flatMap((column): [string, string][] => {
    const unit = /^timedelta64\[(s|ms|us|ns)\]$/.exec(column?.numpy_type ?? '')?.[1];
    return column === null || unit === undefined ? [] : [[column.field_name, unit]];
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
