/** Durations that pandas writes into Parquet: whole numbers there, whose unit only its own metadata say. */
import { z } from 'zod';
import type { Engine } from '../engine.ts';

const schema = z.object({
  columns: z.array(z.looseObject({ field_name: z.string(), numpy_type: z.string() }).nullable().catch(null)),
});

/** The units of the columns of durations, by their names. */
export async function durationUnits(engine: Engine, path: string): Promise<ReadonlyMap<string, string>> {
  const [row] = await engine.rows({
    sql: "SELECT decode(value) FROM parquet_kv_metadata($1) WHERE decode(key) = 'pandas'",
    parameters: [path],
  });
  const found = schema.safeParse(parsed(String(row?.[0] ?? '')));
  return new Map(
    (found.data?.columns ?? []).flatMap((column) => {
      const unit = /^timedelta64\[(s|ms|us|ns)\]$/.exec(column?.numpy_type ?? '')?.[1];
      return column === null || unit === undefined ? [] : [[column.field_name, unit] as const];
    }),
  );
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
